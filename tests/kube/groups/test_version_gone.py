"""A process ends when the server has changed to another version of the groups or of the composites, and for no other reason."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from aiohttp import web

from kube.client.client import Client
from kube.client.resources import Resource
from kube.groups.group_api import BUILT_IN, BUILT_IN_COMPOSITES, BUILT_IN_V1, OWN, OWN_COMPOSITES, GroupAPI
from kube.groups.version_gone import PAUSES_BETWEEN_COMPOSITES, VersionGone, end_when_gone
from tests.kube.scripted_server import Answer, ScriptedServer, ok, refusal


class Enough(Exception):
    """The test has seen what it wanted."""


def discovery(*served: GroupAPI) -> Answer:
    paths = {f"/apis/{api.pod_groups.api_version}" for api in served}

    async def answer(request: web.Request) -> web.StreamResponse:
        kinds = [{"name": "workloads"}, {"name": "podgroups"}]
        return await (ok({"resources": kinds}) if request.path in paths else refusal(404, "NotFound"))(request)

    return answer


def composites_of(*served: Resource) -> Answer:
    """Discovery of a server with every group API and these CompositePodGroups."""
    versions = {f"/apis/{one.api_version}" for one in served}

    async def answer(request: web.Request) -> web.StreamResponse:
        more = [{"name": "compositepodgroups"}] if request.path in versions else []
        return await ok({"resources": [{"name": "workloads"}, {"name": "podgroups"}, *more]})(request)

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
        await end_when_gone(client, BUILT_IN, None, in_trouble=lambda: True, pause=turns(1))


async def test_a_downgraded_server_ends_it_too(server: ScriptedServer, client: Client) -> None:
    server.always(discovery(BUILT_IN))
    with pytest.raises(VersionGone):
        await end_when_gone(client, BUILT_IN_V1, None, in_trouble=lambda: True, pause=turns(1))


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
        await end_when_gone(client, spoken, None, in_trouble=lambda: True, pause=turns(2))


async def test_a_server_that_does_not_answer_is_no_reason(server: ScriptedServer, client: Client) -> None:
    server.always(refusal(403, "Forbidden"))
    with pytest.raises(Enough):
        await end_when_gone(client, BUILT_IN, None, in_trouble=lambda: True, pause=turns(2))


async def test_nothing_is_asked_while_groups_can_be_followed(server: ScriptedServer, client: Client) -> None:
    server.always(discovery(BUILT_IN_V1))
    with pytest.raises(Enough):
        await end_when_gone(client, BUILT_IN, None, in_trouble=lambda: False, pause=turns(3))
    assert server.requests == []


V1BETA1, V1ALPHA3 = BUILT_IN_COMPOSITES[1:]


@pytest.mark.parametrize(("spoken", "now"), [(V1ALPHA3, V1BETA1), (V1BETA1, V1ALPHA3)])
async def test_composites_in_another_version_end_the_process_though_groups_are_followed(
    server: ScriptedServer, client: Client, spoken: Resource, now: Resource
) -> None:
    server.always(composites_of(now))
    said = f"serves compositepodgroups in {now.api_version} and in {spoken.api_version} no longer"
    with pytest.raises(VersionGone, match=said):
        await end_when_gone(client, BUILT_IN, spoken, in_trouble=lambda: False, pause=turns(PAUSES_BETWEEN_COMPOSITES))


@pytest.mark.parametrize(
    ("spoken", "served"),
    [
        (V1ALPHA3, (V1ALPHA3, V1BETA1)),
        (V1ALPHA3, ()),
        (V1ALPHA3, (OWN_COMPOSITES,)),
        (OWN_COMPOSITES, (V1BETA1,)),
        (None, (V1BETA1,)),
    ],
)
async def test_it_goes_on_with_the_composites_that_it_has(
    server: ScriptedServer, client: Client, spoken: Resource | None, served: tuple[Resource, ...]
) -> None:
    server.always(composites_of(*served))
    with pytest.raises(Enough):
        await end_when_gone(
            client, BUILT_IN, spoken, in_trouble=lambda: False, pause=turns(2 * PAUSES_BETWEEN_COMPOSITES)
        )


async def test_composites_are_asked_about_once_a_minute(server: ScriptedServer, client: Client) -> None:
    server.always(composites_of(V1ALPHA3))
    with pytest.raises(Enough):
        await end_when_gone(
            client, BUILT_IN, V1ALPHA3, in_trouble=lambda: False, pause=turns(3 * PAUSES_BETWEEN_COMPOSITES)
        )
    assert [request.path for request in server.requests] == ["/apis/scheduling.k8s.io/v1alpha3"] * 3
