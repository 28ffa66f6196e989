"""What the stand-in puts into a cluster, what it leaves alone, and what it takes away again."""

import ssl
from collections.abc import AsyncIterator

import aiohttp
import pytest

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import AnsweredError
from kube.client.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    LEADER_WORKER_SETS,
    MUTATING_WEBHOOKS,
    PODS,
    VALIDATING_WEBHOOKS,
)
from localcluster.controllers.admission.server import Admission, serving
from localcluster.controllers.leaderworkersets.admission.configurations import (
    MUTATING_NAME,
    VALIDATING_NAME,
    mutating,
    validating,
)
from localcluster.controllers.leaderworkersets.admission.review import POD_PATH, answer
from localcluster.controllers.leaderworkersets.definition import NAME, definition
from localcluster.controllers.leaderworkersets.installation import INSTALLATION
from tests.localcluster.leaderworkersets.conftest import Cluster
from tests.localcluster.leaderworkersets.groups import NAMESPACE, Groups, lws
from tests.localcluster.leaderworkersets.values import PREFIX, Object
from tests.localcluster.stand_ins import are_there

NOBODY = Admission("https://127.0.0.1:1", b"nobody")
NAMES = (MUTATING_NAME, VALIDATING_NAME)


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """A cluster in which nobody runs LeaderWorkerSets."""
    async with cluster("serviceaccount") as opened:
        yield opened


async def test_the_kind_is_served_once_it_is_defined(client: Client) -> None:
    await INSTALLATION.define(client)
    made = await client.create(LEADER_WORKER_SETS, lws(), NAMESPACE)
    assert made["spec"]["startupPolicy"] == "LeaderCreated"
    assert made["spec"]["leaderWorkerTemplate"]["restartPolicy"] == "RecreateGroupOnPodRestart"


async def test_a_definition_of_ours_is_brought_up_to_date_and_one_of_others_is_not(client: Client) -> None:
    old = definition()
    old["spec"]["names"]["shortNames"] = ["old"]
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, old)
    await INSTALLATION.define(client)
    found = await client.get(CUSTOM_RESOURCE_DEFINITIONS, NAME)
    assert found["spec"]["names"]["shortNames"] == ["lws"]
    change = {"metadata": {"labels": None}, "spec": {"names": {"shortNames": ["theirs"]}}}
    await client.patch(CUSTOM_RESOURCE_DEFINITIONS, change, NAME)
    await INSTALLATION.define(client)
    found = await client.get(CUSTOM_RESOURCE_DEFINITIONS, NAME)
    assert found["spec"]["names"]["shortNames"] == ["theirs"]


async def test_webhooks_are_registered_for_as_long_as_somebody_answers(client: Client) -> None:
    async with INSTALLATION.registered(client, NOBODY):
        assert await are_there(client, *NAMES) == [True, True]
    assert await are_there(client, *NAMES) == [False, False]


async def test_what_an_earlier_run_left_behind_is_replaced(client: Client) -> None:
    await client.create(MUTATING_WEBHOOKS, mutating("https://127.0.0.1:2", b"old"))
    async with INSTALLATION.registered(client, NOBODY):
        found = await client.get(MUTATING_WEBHOOKS, MUTATING_NAME)
        assert found["webhooks"][0]["clientConfig"]["url"].startswith("https://127.0.0.1:1/")
    assert await are_there(client, *NAMES) == [False, False]


async def test_what_a_later_run_has_replaced_stays(client: Client) -> None:
    async with INSTALLATION.registered(client, NOBODY):
        later = await client.get(MUTATING_WEBHOOKS, MUTATING_NAME)
        later["webhooks"] = mutating("https://127.0.0.1:2", b"new")["webhooks"]
        await client.replace(MUTATING_WEBHOOKS, later, MUTATING_NAME)
    assert await are_there(client, *NAMES) == [True, False]


async def test_beside_the_real_controller_the_stand_in_does_not_run(client: Client) -> None:
    theirs = validating("https://127.0.0.1:2", b"theirs")
    del theirs["metadata"]["labels"]
    made = await client.create(VALIDATING_WEBHOOKS, theirs)
    with pytest.raises(ConfigurationError, match="belongs to another LeaderWorkerSet controller"):
        async with INSTALLATION.registered(client, NOBODY):
            raise AssertionError
    assert await client.get(VALIDATING_WEBHOOKS, VALIDATING_NAME) == made
    assert await are_there(client, *NAMES) == [False, True]


async def test_a_set_that_makes_no_sense_is_refused_with_the_reason(cluster: Cluster) -> None:
    async with cluster() as client:
        await Groups(client).admission()
        with pytest.raises(AnsweredError) as refused:
            await client.create(LEADER_WORKER_SETS, lws("g", template={"size": 0}), NAMESPACE)
        assert refused.value.status == 403
        assert "size must be equal or greater than 1" in refused.value.message


async def test_a_pod_that_only_claims_to_belong_to_a_set_is_refused(cluster: Cluster) -> None:
    async with cluster() as client:
        await Groups(client).admission()
        pod: Object = {
            "metadata": {"name": "stray", "labels": {f"{PREFIX}name": "g"}},
            "spec": {"containers": [{"name": "main", "image": "x"}]},
        }
        with pytest.raises(AnsweredError, match="size annotation is unexpectedly missing for pod stray"):
            await client.create(PODS, pod, NAMESPACE)
        del pod["metadata"]["labels"]
        await client.create(PODS, pod, NAMESPACE)


@pytest.mark.parametrize("body", [b"", b"no JSON", b"[]", b"{}", b'{"request":{"uid":"1"}}', b'{"request":[]}'])
async def test_what_is_no_review_gets_a_plain_answer(body: bytes) -> None:
    async with serving("lws", answer) as admission:
        context = ssl.create_default_context(cadata=admission.authority.decode())
        async with aiohttp.ClientSession() as session:
            for path in (POD_PATH, "/elsewhere"):
                async with session.post(admission.base_url + path, data=body, ssl=context) as found:
                    assert found.status == 400
                    assert (await found.text()).startswith("no review that is answered here")
