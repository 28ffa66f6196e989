"""Each JobSet that was recorded, as a whole under Tutti: all of its pods start together or none does, or its user is told why."""

import json
from pathlib import Path
from typing import Any

import pytest

from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import RUN_SECONDS
from verify.clusters.jobsets import SCOPE, SETTLE_SECONDS, JobSets
from verify.shared_data import SHARED_DATA

Object = dict[str, Any]

RECORDED = sorted((SHARED_DATA / "jobset-recorded").glob("*.json"))
"""None where the folder of test data is not."""


PLACE: Any = {"cpu": "200", "memory": "2Ti", "resources": {"pods": "1"}}

IN_ORDER = {
    "depends-on",
    "depends-on-suspended",
    "multiple-depends-on",
    "startup-driver-ready",
    "startup-driver-ready-suspended",
}
REFUSED = {
    **dict.fromkeys(IN_ORDER, "the set would wait for ever for its own pods: use replicated-job"),
    **dict.fromkeys(
        ("exclusive-placement", "v6e-multislice"), "only the first pod of each Job exists until it has a node"
    ),
    **dict.fromkeys(("was-jobset", "was-jobset-gate-on"), "the pods of rj name a group of their own"),
    "js-delegated": "the Jobs of workers have groups from a Workload",
    "restartjob-action": "RestartJob feature gate is disabled",
}
"""Recorded sets that cannot start as a whole, and what is said of each; of the last one by its own webhook."""

ELSEWHERE = {"exclusive-placement-node-selector"}
"""Its nodes need labels made for it: see `test_jobsets_exclusive`."""


def recorded(path: Path, scope: str) -> Object:
    found: list[Object] = json.loads(path.read_text())["manifest"]
    (jobset,) = (each for each in found if each["kind"] == "JobSet")
    jobset["metadata"].setdefault("annotations", {})[SCOPE] = scope
    return jobset


def size(jobset: Object) -> int:
    return sum(
        part.get("replicas", 1) * (part["template"]["spec"].get("parallelism") or 1)
        for part in jobset["spec"]["replicatedJobs"]
    )


def of(paths: list[Path], *, refused: bool) -> list[Path]:
    return [path for path in paths if (path.stem in REFUSED) == refused and path.stem not in ELSEWHERE]


def needs_parts_complete(jobset: Object) -> set[str]:
    """The parts that others wait for until they have done their work."""
    waited = (each for part in jobset["spec"]["replicatedJobs"] for each in part.get("dependsOn", ()))
    return {each["name"] for each in waited if each["status"] == "Complete"}


@pytest.mark.parametrize("path", of(RECORDED, refused=False), ids=lambda path: path.stem)
def test_all_pods_of_a_recorded_set_start_together_or_none_does(
    jobsets: JobSets, nodes: HollowNodes, path: Path
) -> None:
    jobset = recorded(path, "set")
    name, count = jobset["metadata"]["name"], size(jobset)
    nodes.add(count - 1, **PLACE)
    jobsets.create(jobset)
    if jobset["spec"].get("suspend"):
        throughout(lambda: not jobsets.groups(name) and not jobsets.pods(name), seconds=1, poll_seconds=0.2)
        jobsets.suspend(name, False)
    eventually(lambda: jobsets.waits(name, count), within_seconds=SETTLE_SECONDS)
    eventually(lambda: jobsets.minimums(name) == [count], within_seconds=SETTLE_SECONDS)
    throughout(lambda: jobsets.bound(name) == 0, seconds=1, poll_seconds=0.1)
    nodes.add(1, **PLACE)
    eventually(lambda: jobsets.bound(name) == count, within_seconds=SETTLE_SECONDS)
    jobsets.remove(name)


@pytest.mark.one_api
@pytest.mark.parametrize("path", of(RECORDED, refused=True), ids=lambda path: path.stem)
def test_a_recorded_set_that_cannot_start_as_a_whole_is_refused_and_its_user_is_told_why(
    jobsets: JobSets, path: Path
) -> None:
    with pytest.raises(ApiError, match=REFUSED[path.stem]):
        jobsets.create(recorded(path, "set"))
    assert not jobsets.api.list("jobsets", jobsets.namespace)


@pytest.mark.one_api
@pytest.mark.parametrize("path", [path for path in RECORDED if path.stem in IN_ORDER], ids=lambda path: path.stem)
def test_parts_of_a_recorded_set_that_come_one_after_the_other_start_in_their_order_each_whole(
    jobsets: JobSets, nodes: HollowNodes, path: Path
) -> None:
    jobset = recorded(path, "replicated-job")
    name, parts = jobset["metadata"]["name"], jobset["spec"]["replicatedJobs"]
    for each in parts:
        if each["name"] in needs_parts_complete(jobset):
            pods = each["template"]["spec"]["template"].setdefault("metadata", {})
            pods.setdefault("annotations", {})[RUN_SECONDS] = "0.5"
    last = parts[-1]
    count = size({"spec": {"replicatedJobs": [last]}})
    nodes.add(size(jobset), **PLACE)
    jobsets.create(jobset)
    if jobset["spec"].get("suspend"):
        jobsets.suspend(name, False)
    eventually(lambda: jobsets.bound(name, last["name"]) == count, within_seconds=2 * SETTLE_SECONDS)
    assert count in jobsets.minimums(name)
    jobsets.remove(name)
