"""The two configurations point at this server, with the authorities in use."""

import base64
import copy
import random
from pathlib import Path

import yaml

from api.constants import MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION
from api.webhookconfig import path_of, point_at
from kube.client.client import Client
from kube.client.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from tests.webhooks.builders import Object
from tests.webhooks.small_api import SmallApi
from webhooks.certificates.registration import Registration

CONFIG = Path(__file__).parents[3] / "config" / "webhook"
MUTATING = MUTATING_WEBHOOKS.path(None, MUTATING_CONFIGURATION)
VALIDATING = VALIDATING_WEBHOOKS.path(None, VALIDATING_CONFIGURATION)
CA = b"-----BEGIN CERTIFICATE-----\n"
ENCODED = base64.b64encode(CA).decode()
URL = "https://127.0.0.1:9443"


def shipped(name: str) -> Object:
    loaded: Object = yaml.safe_load((CONFIG / f"{name}.yaml").read_text())
    return loaded


def registration(client: Client, *, url: str | None = None) -> Registration:
    made = Registration(client, base_url=url, random=random.Random(1))
    made.trust(CA)
    return made


def test_by_service_only_the_bundle_is_filled_in() -> None:
    before = shipped("mutating")
    pointed = point_at(before, base_url=None, ca_bundle=CA)
    for entry in pointed["webhooks"]:
        assert entry["clientConfig"].pop("caBundle") == ENCODED
    assert pointed == before == shipped("mutating")


def test_by_url_every_path_stays() -> None:
    for name in ("mutating", "validating"):
        before = shipped(name)
        for entry, pointed in zip(
            before["webhooks"], point_at(before, base_url=URL + "/", ca_bundle=CA)["webhooks"], strict=True
        ):
            path = entry["clientConfig"]["service"]["path"]
            assert pointed["clientConfig"] == {"url": URL + path, "caBundle": ENCODED}


def test_pointing_twice_changes_nothing_and_a_new_address_everything() -> None:
    once = point_at(shipped("mutating"), base_url=URL, ca_bundle=CA)
    assert point_at(once, base_url=URL, ca_bundle=CA) == once
    moved = point_at(once, base_url="https://[::1]:1", ca_bundle=b"other")
    paths = [path_of(entry["clientConfig"]) for entry in shipped("mutating")["webhooks"]]
    assert [entry["clientConfig"]["url"] for entry in moved["webhooks"]] == ["https://[::1]:1" + path for path in paths]


def test_a_url_of_somebody_else_is_left_alone_by_servers_behind_the_service() -> None:
    elsewhere = point_at(shipped("mutating"), base_url=URL, ca_bundle=CA)
    assert point_at(elsewhere, base_url=None, ca_bundle=b"other") == elsewhere


async def test_configurations_are_pointed_as_soon_as_they_exist() -> None:
    async with SmallApi() as api, api.client() as client:
        ours = registration(client)
        await ours.refresh()
        assert api.writes == []
        api.put(MUTATING, shipped("mutating"))
        api.put(VALIDATING, shipped("validating"))
        await ours.refresh()
        for path in (MUTATING, VALIDATING):
            assert all(entry["clientConfig"]["caBundle"] == ENCODED for entry in api.objects[path]["webhooks"])


async def test_at_rest_nothing_is_written() -> None:
    async with SmallApi() as api, api.client() as client:
        api.put(MUTATING, shipped("mutating"))
        ours = registration(client, url=URL)
        await ours.refresh()
        api.writes.clear()
        await ours.refresh()
        assert api.writes == []


async def test_an_entry_somebody_else_changed_meanwhile_is_not_overwritten() -> None:
    async with SmallApi() as api, api.client() as client:
        api.put(MUTATING, shipped("mutating"))
        theirs = copy.deepcopy(shipped("mutating"))
        theirs["webhooks"][0]["timeoutSeconds"] = 1

        def somebody_is_faster() -> None:
            api.before_write = lambda: None
            api.put(MUTATING, theirs)

        api.before_write = somebody_is_faster
        ours = registration(client)
        await ours.refresh()
        assert "caBundle" not in api.objects[MUTATING]["webhooks"][0]["clientConfig"]
        await ours.refresh()
        assert api.objects[MUTATING]["webhooks"][0]["timeoutSeconds"] == 1
        assert api.objects[MUTATING]["webhooks"][0]["clientConfig"]["caBundle"] == ENCODED


async def test_nothing_is_registered_before_there_is_a_certificate() -> None:
    async with SmallApi() as api, api.client() as client:
        api.put(MUTATING, shipped("mutating"))
        await Registration(client, base_url=None, random=random.Random(1)).refresh()
        assert api.writes == []
