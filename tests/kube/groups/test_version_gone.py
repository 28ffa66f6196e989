"""A process ends when the server has changed to another version of the group API, and for no other reason."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from aiohttp import web

from kube.client.client import Client
from kube.groups.group_api import BUILT_IN, BUILT_IN_V1, OWN, GroupAPI
from kube.groups.version_gone import VersionGone, end_when_gone
from tests.kube.scripted_server import Answer, ScriptedServer, ok, refusal


class Enough(Exception):
    """The test has seen what it wanted."""


def discovery(*served: GroupAPI) -> Answer:
    paths = {f"/apis/{api.pod_groups.api_version}" for api in served}

    async def answer(request: web.Request) -> web.StreamResponse:
        kinds = [{"name": "workloads"}, {"name": "podgroups"}]
        return await (ok({"resources": kinds}) if request.path in paths else refusal(404, "NotFound"))(request)

    return answer


def turns(count: int) -> Callable[[], Awaitable[None]]:
    """A pause that lets so many questions be asked."""
    left: Iterator[int] = iter(range(count))

    async def pause() -> None:
        await asyncio.sleep(0)
        if next(left, None) is None:
            raise Enough

    return pause


@pytest.mark.parametrize("served", [(BUILT_IN_V1,), (BUILT_IN_V1, OWN)])
async def test_v1_in_place_of_v1beta1_ends_the_process(
    server: ScriptedServer, client: Client, served: tuple[GroupAPI, ...]
) -> None:
    server.always(discovery(*served))
    with pytest.raises(VersionGone, match=r"serves scheduling.k8s.io/v1 and scheduling.k8s.io/v1beta1 no longer"):
        await end_when_gone(client, BUILT_IN, in_trouble=lambda: True, pause=turns(1))


async def test_a_downgraded_server_ends_it_too(server: ScriptedServer, client: Client) -> None:
    server.always(discovery(BUILT_IN))
    with pytest.raises(VersionGone):
        await end_when_gone(client, BUILT_IN_V1, in_trouble=lambda: True, pause=turns(1))


@pytest.mark.parametrize(
    ("spoken", "served"),
    [
        (BUILT_IN, (BUILT_IN, BUILT_IN_V1)),
        (BUILT_IN, (OWN,)),
        (BUILT_IN, ()),
        (OWN, ()),
        (OWN, (BUILT_IN, BUILT_IN_V1)),
    ],
)
async def test_it_goes_on_while_there_is_nothing_to_change_to(
    server: ScriptedServer, client: Client, spoken: GroupAPI, served: tuple[GroupAPI, ...]
) -> None:
    server.always(discovery(*served))
    with pytest.raises(Enough):
        await end_when_gone(client, spoken, in_trouble=lambda: True, pause=turns(2))


async def test_a_server_that_does_not_answer_is_no_reason(server: ScriptedServer, client: Client) -> None:
    server.always(refusal(403, "Forbidden"))
    with pytest.raises(Enough):
        await end_when_gone(client, BUILT_IN, in_trouble=lambda: True, pause=turns(2))


async def test_nothing_is_asked_while_groups_can_be_followed(server: ScriptedServer, client: Client) -> None:
    server.always(discovery(BUILT_IN_V1))
    with pytest.raises(Enough):
        await end_when_gone(client, BUILT_IN, in_trouble=lambda: False, pause=turns(3))
    assert server.requests == []
