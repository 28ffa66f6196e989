"""The two configurations point at this server, with the authorities in use."""

import base64
import copy
import datetime as dt
import random
from pathlib import Path

import yaml

from api.constants import MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION
from api.webhookconfig import path_of, point_at
from kube.client.client import Client
from kube.client.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from tests.webhooks.builders import Object
from tests.webhooks.small_api import SmallApi
from webhooks.certificates.bundle import CertBundle, KeyPair, make_authority, make_leaf, pem_of
from webhooks.certificates.registration import LEARN_SECONDS, Registration
from webhooks.certificates.trusted import KEPT, Trusted

CONFIG = Path(__file__).parents[3] / "config" / "webhook"
MUTATING = MUTATING_WEBHOOKS.path(None, MUTATING_CONFIGURATION)
VALIDATING = VALIDATING_WEBHOOKS.path(None, VALIDATING_CONFIGURATION)
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
OURS = make_authority(NOW)
CA = pem_of(OURS.certificate)
ENCODED = base64.b64encode(CA).decode()
URL = "https://127.0.0.1:9443"


def shipped(name: str) -> Object:
    loaded: Object = yaml.safe_load((CONFIG / f"{name}.yaml").read_text())
    return loaded


def registration(client: Client, *, url: str | None = None) -> Registration:
    made = Registration(client, base_url=url, random=random.Random(1), wall_clock=lambda: NOW)
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
        nobody = Registration(client, base_url=None, random=random.Random(1), wall_clock=lambda: NOW)
        await nobody.refresh()
        assert api.writes == []
        assert not nobody.is_done


async def test_it_is_done_once_the_configurations_name_us_or_are_not_there() -> None:
    async with SmallApi() as api, api.client() as client:
        absent = registration(client)
        await absent.refresh()
        assert absent.is_done
        api.put(MUTATING, shipped("mutating"))
        api.put(VALIDATING, shipped("validating"))
        there = registration(client)

        def somebody_is_faster() -> None:
            api.before_write = lambda: None
            api.put(MUTATING, shipped("mutating"))

        api.before_write = somebody_is_faster
        await there.refresh()
        assert not there.is_done
        await there.refresh()
        assert there.is_done


async def test_a_new_authority_is_trusted_beside_the_old_one_and_learnt_before_it_is_used() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with SmallApi() as api, api.client() as client:
        for path, name in ((MUTATING, "mutating"), (VALIDATING, "validating")):
            api.put(path, shipped(name))
        ours = Registration(client, base_url=None, random=random.Random(1), wall_clock=lambda: NOW, sleep=sleep)
        ours.trust(CA)
        other = make_authority(NOW)
        await ours.introduce(CertBundle((other,), make_leaf(other, ["a"], NOW)))
        for path in (MUTATING, VALIDATING):
            for entry in api.objects[path]["webhooks"]:
                told = base64.b64decode(entry["clientConfig"]["caBundle"])
                assert told == pem_of(other.certificate) + CA
        assert slept == [LEARN_SECONDS]
        await ours.introduce(CertBundle((other,), make_leaf(other, ["a"], NOW)))
        assert slept == [LEARN_SECONDS], "nothing was new"


def pem(*pairs: KeyPair) -> bytes:
    return b"".join(pem_of(pair.certificate) for pair in pairs)


def test_replicas_with_different_authorities_do_not_undo_each_other() -> None:
    other = make_authority(NOW)
    first, second = Trusted(), Trusted()
    told = first.wanted(pem(OURS), [b""], NOW)
    told = second.wanted(pem(other), [told], NOW)
    assert told == pem(other, OURS)
    assert first.wanted(pem(OURS), [told], NOW) == told


def test_an_authority_of_nobody_is_dropped_after_a_while() -> None:
    gone = make_authority(NOW)
    trusted = Trusted()
    both = pem(OURS, gone)
    assert trusted.wanted(pem(OURS), [both], NOW) == both
    assert trusted.wanted(pem(OURS), [both], NOW + KEPT - dt.timedelta(seconds=1)) == both
    assert trusted.wanted(pem(OURS), [both], NOW + KEPT) == pem(OURS)


def test_authorities_of_others_and_those_that_have_ended_are_not_kept() -> None:
    ended = make_authority(NOW - dt.timedelta(days=731))
    foreign = make_leaf(make_authority(NOW), ["somebody.else"], NOW)
    assert Trusted().wanted(pem(OURS), [pem(ended, foreign), b"no PEM"], NOW) == pem(OURS)
