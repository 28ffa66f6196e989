"""The webhook configurations of the stand-in: there before the kind is, gone with it, and never those of somebody else."""

import pytest

from api.errors import ConfigurationError
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import JOB_SETS, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from localcluster.controllers.admission.server import Admission
from localcluster.controllers.jobsets.admission.configurations import MUTATING_NAME, VALIDATING_NAME, validating
from localcluster.controllers.jobsets.installation import registered
from tests.localcluster.jobsets.recordings import NAMESPACE, Replay
from tests.localcluster.leaderworkersets.conftest import Cluster

NOBODY = Admission("https://127.0.0.1:1", b"nobody")
JOB_SET = {
    "metadata": {"name": "js"},
    "spec": {"suspend": True, "replicatedJobs": [{"name": "one", "template": {"spec": {"template": {"spec": {}}}}}]},
}


async def there(client: Client) -> list[bool]:
    found = []
    for resource, name in ((MUTATING_WEBHOOKS, MUTATING_NAME), (VALIDATING_WEBHOOKS, VALIDATING_NAME)):
        try:
            await client.get(resource, name)
        except NotFound:
            found.append(False)
        else:
            found.append(True)
    return found


async def test_the_first_jobset_that_can_be_made_has_been_seen_by_the_webhooks(cluster: Cluster) -> None:
    async with cluster("jobset") as client:
        await Replay(client, [{"kind": "JobSet", **JOB_SET}]).served()
        assert await there(client) == [True, True]
        made = await client.create(JOB_SETS, JOB_SET, NAMESPACE)
        assert made["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMode"] == "Indexed"


async def test_webhooks_are_registered_for_as_long_as_somebody_answers(cluster: Cluster) -> None:
    async with cluster("serviceaccount") as client:
        async with registered(client, NOBODY):
            assert await there(client) == [True, True]
        assert await there(client) == [False, False]


async def test_beside_the_real_controller_the_stand_in_does_not_run(cluster: Cluster) -> None:
    async with cluster("serviceaccount") as client:
        theirs = validating("https://127.0.0.1:2", b"theirs")
        del theirs["metadata"]["labels"]
        await client.create(VALIDATING_WEBHOOKS, theirs)
        with pytest.raises(ConfigurationError, match="belongs to another JobSet controller"):
            async with registered(client, NOBODY):
                raise AssertionError
        assert await there(client) == [False, True]
