"""A quota that refuses what a gang is made of is told of at its Job, and the gang starts when the quota lets it."""

import pytest

from api.constants import EVENT_FAILED_POD_GROUP_CREATE, EVENT_FAILED_WORKLOAD_CREATE
from tests.conformance.quotas import counted, give_quota
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import Tutti, run_tutti

TOLD_SECONDS = 15
TRIED_AGAIN_SECONDS = 60

pytestmark = pytest.mark.real_only("the embedded server enforces no quotas")


@pytest.mark.parametrize(
    ("plural", "reason"), [("workloads", EVENT_FAILED_WORKLOAD_CREATE), ("podgroups", EVENT_FAILED_POD_GROUP_CREATE)]
)
def test_a_job_whose_quota_refuses_its_group_says_so_and_starts_when_there_is_none(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, plural: str, reason: str
) -> None:
    nodes.add(1, cpu="4")
    namespace, kind = jobs.namespace, counted(control_plane, plural)
    give_quota(control_plane, namespace, "none", {kind: 0}, kind)
    jobs.create(indexed_job("refused", 2))
    told = eventually(lambda: jobs.events("Job", "refused", reason), within_seconds=TOLD_SECONDS)
    assert "exceeded quota: none" in told[0]
    asked = ("why", "job/refused", "-n", namespace, "--kubeconfig", str(control_plane.kubeconfig_of(ADMIN)))
    why = run_tutti(*asked, folder=control_plane.folder)
    assert (why.code, "exceeded quota: none" in why.out) == (3, True), why
    assert jobs.bound("refused") == 0
    control_plane.admin.delete("resourcequotas", "none", namespace)
    eventually(lambda: jobs.whole("refused"), within_seconds=TRIED_AGAIN_SECONDS)
