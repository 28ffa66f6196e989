"""CompositePodGroups are read where the server keeps them; where it has none, or one may not list them, that is known."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import pytest

from kube.client.client import Client
from kube.client.errors import Forbidden, NotFound
from kube.client.resources import Resource
from kube.groups.group_api import BUILT_IN, BUILT_IN_COMPOSITES, OWN, OWN_COMPOSITES, GroupAPI
from views.reading import following, groups_elsewhere, read_objects


class Server:
    """Answers lists: of the CompositePodGroups that it has, and none of everything else."""

    def __init__(self, *kept: Resource, forbids: tuple[str, ...] = ()) -> None:
        self._kept, self._forbids = kept, forbids

    async def request_json(self, _verb: str, path: str, **_: Any) -> Mapping[str, Any]:
        if any(path.endswith(f"/{plural}") for plural in self._forbids):
            raise Forbidden(403, "Forbidden", "no")
        if path.startswith("/apis/") and path.count("/") == 3:
            served = [{"name": one.plural} for one in self._kept if path == f"/apis/{one.api_version}"]
            if not served:
                raise NotFound(404, "NotFound", "no")
            return {"resources": served}
        return {"items": []}

    async def list_pages(self, resource: Resource, _namespace: str | None, **_: Any) -> AsyncIterator[bytes]:
        if resource.plural in self._forbids:
            raise Forbidden(403, "Forbidden", "no")
        items = '[{"metadata": {"name": "c", "namespace": "ns", "uid": "u"}}]' if resource in self._kept else "[]"
        yield f'{{"metadata": {{}}, "items": {items}}}'.encode()

    @property
    def client(self) -> Client:
        return cast("Client", self)


@pytest.mark.parametrize(
    ("api", "kept"),
    [(OWN, OWN_COMPOSITES), (BUILT_IN, OWN_COMPOSITES), *((BUILT_IN, each) for each in BUILT_IN_COMPOSITES)],
)
async def test_they_are_read_beside_either_group_api(api: GroupAPI, kept: Resource) -> None:
    found = await read_objects(Server(kept).client, [api], "ns")
    assert [one.metadata.name for one in found.composites] == ["c"]
    assert found.unknown_composites == ""


async def test_those_of_the_built_in_api_come_before_our_own() -> None:
    server = Server(*BUILT_IN_COMPOSITES, OWN_COMPOSITES)
    assert len(list((await read_objects(server.client, [BUILT_IN], "ns")).composites)) == 1


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (Server(), "this server has no CompositePodGroups"),
        (Server(OWN_COMPOSITES, forbids=("compositepodgroups",)), "you may not list CompositePodGroups"),
    ],
)
async def test_why_there_are_none_to_see_is_known_and_the_rest_is_read(server: Server, why: str) -> None:
    assert (await read_objects(server.client, [OWN], "ns")).unknown_composites == why
    elsewhere = await groups_elsewhere(server.client, [OWN])
    assert elsewhere is not None
    assert elsewhere.unknown_composites == why
    assert (await following(server.client, OWN, "ns")).objects.unknown_composites == why


async def test_who_follows_a_cluster_follows_them() -> None:
    followed = await following(Server(OWN_COMPOSITES).client, OWN, "ns")
    assert followed.objects.unknown_composites == ""
