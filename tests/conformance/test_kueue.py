"""A gang that Kueue admitted gives way through Kueue: nobody writes `suspend` against Kueue, and no failure is counted."""

import pytest

from tests.conformance.kueue import QUEUE, Kueue
from tests.conformance.scenarios.preemption_stage import HIGH, LOW, Stage
from verify.clusters.client import ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, Object, indexed_job
from verify.clusters.tutti_process import Tutti

WORKERS = 8
"""More than the default `backoffLimit`: were its deleted pods failures, the Job would end `Failed`."""


def gang(name: str, priority: str, restart: str, *, run_seconds: float) -> Object:
    """A gang Job of that class."""
    job = indexed_job(name, WORKERS, run_seconds=run_seconds)
    job["spec"]["template"]["spec"] |= {"priorityClassName": priority, "restartPolicy": restart}
    return job


@pytest.mark.parametrize("restart", ["Never", "OnFailure"])
def test_a_preempted_gang_that_kueue_admitted_is_evicted_by_kueue_and_runs_again(
    control_plane: ControlPlane, jobs: Jobs, nodes: HollowNodes, tutti: Tutti, stage: Stage, restart: str
) -> None:
    nodes.add(2, cpu="4")
    queued = gang("early", LOW, restart, run_seconds=20)
    queued["metadata"]["labels"] = {QUEUE: "team"}
    queued["spec"]["suspend"] = True  # as Kueue's webhook leaves it
    with Kueue(control_plane.admin, jobs.namespace) as kueue:
        jobs.create(queued)
        eventually(lambda: jobs.whole("early"), within_seconds=20)
        before = kueue.resumed["early"]
        jobs.create(gang("urgent", HIGH, restart, run_seconds=2))
        eventually(lambda: jobs.whole("urgent"), within_seconds=20)
        eventually(lambda: jobs.succeeded("urgent"), within_seconds=20)
        eventually(lambda: jobs.whole("early"), within_seconds=30)
        eventually(lambda: jobs.succeeded("early"), within_seconds=45, poll_seconds=0.5)
        assert kueue.evicted == {"early": 1}
        assert kueue.resumed == {"early": before + 1}
    assert int(jobs.get("early").get("status", {}).get("failed") or 0) == 0


def test_a_stolen_token_of_the_controllers_takes_no_quota_of_kueues(
    control_plane: ControlPlane, jobs: Jobs, tutti: Tutti
) -> None:
    thief = control_plane.api_of_thief("tutti-controllers")
    queued = gang("theirs", LOW, "Never", run_seconds=20)
    del queued["spec"]["template"]["spec"]["priorityClassName"]
    queued["metadata"]["labels"] = {QUEUE: "team"}
    with Kueue(control_plane.admin, jobs.namespace) as kueue:
        made = jobs.create(queued)
        eventually(lambda: kueue.workload_of(made), within_seconds=20)
        for body in (
            {"spec": {"queueName": "another"}},
            {"spec": {"queueName": None}},
            {"spec": {"priority": 9}},
            {"metadata": {"labels": {"more": "x"}}},
            {"metadata": {"annotations": {"kueue.x-k8s.io/more": "x"}}},
            {"metadata": {"finalizers": ["example.com/stay"]}},
            {"metadata": {"ownerReferences": None}},
        ):
            with pytest.raises(ApiError, match="may change only whether a Workload of Kueue's is active"):
                thief.request("PATCH", kueue.path_of(made), body, kind="merge")
