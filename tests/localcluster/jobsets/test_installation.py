"""The webhook configurations of the stand-in: there before the kind is, gone with it, and never those of somebody else."""

import pytest

from api.errors import ConfigurationError
from kube.client.resources import JOB_SETS, VALIDATING_WEBHOOKS
from localcluster.controllers.admission.server import Admission
from localcluster.controllers.jobsets.admission.configurations import MUTATING_NAME, VALIDATING_NAME, validating
from localcluster.controllers.jobsets.installation import INSTALLATION
from tests.localcluster.jobsets.recordings import NAMESPACE, Replay
from tests.localcluster.leaderworkersets.conftest import Cluster
from tests.localcluster.stand_ins import are_there

NOBODY = Admission("https://127.0.0.1:1", b"nobody")
NAMES = (MUTATING_NAME, VALIDATING_NAME)
JOB_SET = {
    "metadata": {"name": "js"},
    "spec": {"suspend": True, "replicatedJobs": [{"name": "one", "template": {"spec": {"template": {"spec": {}}}}}]},
}


async def test_the_first_jobset_that_can_be_made_has_been_seen_by_the_webhooks(cluster: Cluster) -> None:
    async with cluster("jobset") as client:
        await Replay(client, [{"kind": "JobSet", **JOB_SET}]).served()
        assert await are_there(client, *NAMES) == [True, True]
        made = await client.create(JOB_SETS, JOB_SET, NAMESPACE)
        assert made["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMode"] == "Indexed"


async def test_webhooks_are_registered_for_as_long_as_somebody_answers(cluster: Cluster) -> None:
    async with cluster("serviceaccount") as client:
        async with INSTALLATION.registered(client, NOBODY):
            assert await are_there(client, *NAMES) == [True, True]
        assert await are_there(client, *NAMES) == [False, False]


async def test_beside_the_real_controller_the_stand_in_does_not_run(cluster: Cluster) -> None:
    async with cluster("serviceaccount") as client:
        theirs = validating("https://127.0.0.1:2", b"theirs")
        del theirs["metadata"]["labels"]
        await client.create(VALIDATING_WEBHOOKS, theirs)
        with pytest.raises(ConfigurationError, match="belongs to another JobSet controller"):
            async with INSTALLATION.registered(client, NOBODY):
                raise AssertionError
        assert await are_there(client, *NAMES) == [False, True]
