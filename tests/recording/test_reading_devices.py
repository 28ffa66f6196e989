"""Which devices whoever asks may read: all that decides is in the snapshot, or it says that nothing is known of them."""

import json
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from kube.client.client import Client
from kube.client.errors import Forbidden, NotFound
from kube.client.resources import Resource
from kube.groups.group_api import OWN, GroupAPI
from scheduler.commands import read_cluster as reading
from scheduler.commands.read_cluster import ReadCluster, read_cluster
from scheduler.settings import SchedulerSettings
from tests.devices.build import Json, device, device_class, resource_slice

EVERYTHING = ("deviceclasses", "resourceslices", "resourceclaims", "resourceclaimtemplates", "devicetaintrules")
TEMPLATE: Json = {
    "metadata": {"name": "t", "namespace": "ns", "labels": {"a": "b"}},
    "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2}}]}}},
}
OBJECTS: dict[str, list[Json]] = {
    "deviceclasses": [device_class("gpu", "true")],
    "resourceslices": [resource_slice("s", [device("g", model="a")], node="n")],
    "resourceclaimtemplates": [TEMPLATE],
}


class SmallServer:
    """Answers lists, as far as they are allowed."""

    def __init__(self, served: tuple[str, ...], forbidden: tuple[str, ...] = ()) -> None:
        self.served, self.forbidden = served, forbidden

    async def request_json(self, _method: str, path: str) -> Json:
        if not self.served:
            raise NotFound(404, "NotFound", f"no {path}")
        return {"resources": [{"name": name} for name in self.served]}

    async def list_pages(self, resource: Resource, *, looks_through: bool = True) -> AsyncIterator[bytes]:
        if resource.plural in self.forbidden:
            raise Forbidden(403, "Forbidden", "no")
        items: list[Any] = OBJECTS.get(resource.plural, [])
        yield json.dumps({"metadata": {"resourceVersion": "1"}, "items": items}).encode()


async def read(monkeypatch: pytest.MonkeyPatch, served: tuple[str, ...] = EVERYTHING, *forbidden: str) -> ReadCluster:
    async def preflight(_: Client) -> Json:
        return {"gitVersion": "v1.37.0"}

    async def group_api(_: Client, __: SchedulerSettings) -> GroupAPI:
        return OWN

    monkeypatch.setattr(reading, "preflight", preflight)
    monkeypatch.setattr(reading, "_group_api", group_api)
    client = cast("Client", SmallServer(served, forbidden))
    return await read_cluster(client, SchedulerSettings(identity="test"), 1.0)


async def test_devices_and_templates_are_read_where_they_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await read(monkeypatch)
    objects = found.inputs.objects
    assert (found.inputs.devices, found.unreadable) == ("followed", ())
    assert [len(getattr(objects, kind)) for kind in EVERYTHING] == [1, 1, 0, 1, 0]
    assert objects.resourceclaimtemplates[0].metadata.labels is None
    (request,) = objects.resourceclaimtemplates[0].spec.spec.devices.requests or ()
    assert request.exactly is not None
    assert request.exactly.count == 2


async def test_an_older_server_has_no_taint_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await read(monkeypatch, EVERYTHING[:-1])).inputs.devices == "followed"


async def test_a_server_without_devices_is_told_from_one_where_nobody_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await read(monkeypatch, ())).inputs.devices == "unserved"


async def test_who_may_not_list_devices_knows_nothing_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await read(monkeypatch, EVERYTHING, "resourceslices")
    assert (found.inputs.devices, found.unreadable) == ("unknown", ("resourceslices",))


async def test_who_may_not_list_templates_knows_devices_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await read(monkeypatch, EVERYTHING, "resourceclaimtemplates")
    assert (found.inputs.devices, found.unreadable) == ("followed", ("resourceclaimtemplates",))
