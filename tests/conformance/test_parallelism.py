"""The size of a gang is fixed, unless its user made it elastic; the size of any other Job is its user's business."""

import json

from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job, is_gang, plain_job
from verify.clusters.tutti_process import Tutti


def patched(control_plane: ControlPlane, jobs: Jobs, name: str, spec: dict[str, object], *, code: int | None) -> str:
    """What `kubectl patch job` says."""
    patch = json.dumps({"spec": spec})
    done = control_plane.kubectl("patch", "job", name, "-n", jobs.namespace, "-p", patch, "--type=merge", code=code)
    return done.err


def test_the_parallelism_of_a_gang_is_refused_with_advice(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    nodes.add()
    jobs.create(indexed_job("fixed", 4))
    eventually(lambda: jobs.whole("fixed"), within_seconds=20)
    changes: list[dict[str, object]] = [
        {"parallelism": 2},
        {"parallelism": 6, "completions": 6},
        {"parallelism": 1},
        {"parallelism": 0},
    ]
    for spec in changes:
        told = patched(control_plane, jobs, "fixed", spec, code=1)
        assert "elastic" in told, told
        assert "recreate" in told.lower() or "delete" in told.lower(), told
        assert len(told.strip().splitlines()) == 1, told
    assert jobs.get("fixed")["spec"]["parallelism"] == 4


def test_the_parallelism_of_a_gang_that_still_waits_is_refused_too(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    jobs.create(indexed_job("waiting", 4))
    assert "elastic" in patched(control_plane, jobs, "waiting", {"parallelism": 2}, code=1)


def test_other_changes_of_a_gang_are_allowed(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    nodes.add()
    jobs.create(indexed_job("edited", 2))
    eventually(lambda: jobs.whole("edited"), within_seconds=20)
    patched(control_plane, jobs, "edited", {"activeDeadlineSeconds": 900, "parallelism": 2}, code=0)
    assert jobs.get("edited")["spec"]["activeDeadlineSeconds"] == 900


def test_the_parallelism_of_a_job_that_is_no_gang_is_free(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    nodes.add()
    jobs.create(plain_job("free", 2))
    single = indexed_job("single", 1)
    jobs.create(single)
    opted_out = indexed_job("opted-out", 3, annotations={"tutti.scheduler/policy": "none"})
    jobs.create(opted_out)
    for name in ("free", "single", "opted-out"):
        assert not is_gang(jobs.get(name)), name
        eventually(lambda each=name: jobs.whole(each), within_seconds=20)  # type: ignore[misc]
    for name, count in (("free", 4), ("opted-out", 1), ("single", 0)):
        patched(control_plane, jobs, name, {"parallelism": count}, code=0)
        assert jobs.get(name)["spec"]["parallelism"] == count


def test_an_elastic_gang_grows_and_shrinks_and_its_minimum_follows(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    nodes.add(1, cpu="16")
    jobs.create(indexed_job("elastic", 3, annotations={"tutti.scheduler/elastic": "true"}))
    eventually(lambda: jobs.whole("elastic"), within_seconds=20)
    for count in (5, 2):
        patched(control_plane, jobs, "elastic", {"parallelism": count, "completions": count}, code=0)
        eventually(lambda wanted=count: minimum(jobs, "elastic") == wanted, within_seconds=15)  # type: ignore[misc]
        eventually(lambda wanted=count: jobs.bound("elastic") == wanted, within_seconds=20)  # type: ignore[misc]


def minimum(jobs: Jobs, name: str) -> int:
    return int(jobs.group(name)["spec"]["schedulingPolicy"]["gang"]["minCount"])
