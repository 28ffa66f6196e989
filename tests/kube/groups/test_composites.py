"""CompositePodGroups are looked for in every version of the built-in API, the newest first, and then among our own kinds."""

import pytest

from kube.client.client import Client
from kube.client.resources import Resource
from kube.groups.composites import find_composites
from kube.groups.group_api import BUILT_IN, BUILT_IN_COMPOSITES, BUILT_IN_V1, OWN, OWN_COMPOSITES, GroupAPI
from tests.kube.groups.test_version_gone import composites_of
from tests.kube.scripted_server import ScriptedServer

V1, V1BETA1, V1ALPHA3 = BUILT_IN_COMPOSITES


@pytest.mark.parametrize("api", [BUILT_IN, BUILT_IN_V1])
@pytest.mark.parametrize(
    ("served", "found"),
    [
        ((V1ALPHA3,), V1ALPHA3),
        ((V1ALPHA3, V1BETA1), V1BETA1),
        ((V1BETA1,), V1BETA1),
        ((V1, V1BETA1), V1),
        ((V1BETA1, OWN_COMPOSITES), V1BETA1),
        ((OWN_COMPOSITES,), OWN_COMPOSITES),
        ((), None),
    ],
)
async def test_beside_built_in_groups(
    server: ScriptedServer, client: Client, api: GroupAPI, served: tuple[Resource, ...], found: Resource | None
) -> None:
    server.always(composites_of(*served))
    assert await find_composites(client, api) == found


@pytest.mark.parametrize(("served", "found"), [((V1BETA1, OWN_COMPOSITES), OWN_COMPOSITES), ((V1BETA1,), None)])
async def test_beside_our_own_groups_those_of_the_built_in_api_are_none_of_ours(
    server: ScriptedServer, client: Client, served: tuple[Resource, ...], found: Resource | None
) -> None:
    server.always(composites_of(*served))
    assert await find_composites(client, OWN) == found
