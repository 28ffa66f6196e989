"""Public Indexed Jobs, applied unchanged with kubectl beside nodes that fit them: gangs start whole or wait whole.

One node per worker, one node too few at first. What an administrator would provide (priority classes) is created before.
Where the API server itself refuses a manifest because of an unfilled placeholder, its answer must be the one a cluster
without Tutti gives.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from verify.clusters.client import Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import GATE, Jobs, is_gang
from verify.clusters.tutti_process import Tutti
from verify.shared_data import SHARED_DATA

PLACEHOLDER_ACCOUNT = "serviceAccountName: V_KSA"
SOME_ACCOUNT = "serviceAccountName: trainer"


@cache
def manifests() -> tuple[Path, ...]:
    """The files that hold an Indexed Job."""
    return tuple(path for path in sorted((SHARED_DATA / "manifests").glob("*.yaml")) if job_of(path.read_text()))


def job_of(text: str) -> Object | None:
    """The Indexed Job of a manifest, None when it holds none."""
    for document in yaml.safe_load_all(text):
        if document and (document.get("apiVersion"), document.get("kind")) == ("batch/v1", "Job"):
            job: Object = document
            return job if job["spec"].get("completionMode") == "Indexed" else None
    return None


def with_name(path: Path) -> Any:
    return pytest.param(path, id=path.stem)


def kind_of_job(job: Object) -> str:
    spec = job["spec"]
    return "gang" if spec.get("parallelism", 1) > 1 and spec["parallelism"] == spec["completions"] else "plain"


def those(kind: str) -> list[Any]:
    """The manifests with this kind of Job, or one that is skipped with the reason."""
    found = [with_name(path) for path in manifests() if kind_of_job(job_of(path.read_text()) or {}) == kind]
    missing = pytest.mark.skip(reason=f"no manifests in {SHARED_DATA}; set TUTTI_SHARED_DATA")
    return found or [pytest.param(Path(), marks=missing, id="absent")]


def add_fitting_nodes(nodes: HollowNodes, job: Object, count: int) -> None:
    """Nodes that take exactly one worker each."""
    spec = job["spec"]["template"]["spec"]
    wanted = dict(spec["containers"][0].get("resources", {}).get("requests", {}))
    resources = {name: str(amount) for name, amount in wanted.items() if name not in {"cpu", "memory"}}
    taints = [
        {"key": each["key"], "effect": "NoSchedule", **({"value": each["value"]} if "value" in each else {})}
        for each in spec.get("tolerations", [])
    ]
    nodes.add(
        count,
        cpu=str(wanted.get("cpu", "8")),
        memory=str(wanted.get("memory", "64Gi")),
        labels=spec.get("nodeSelector", {}),
        taints=tuple(taints),
        resources=resources,
    )


@pytest.fixture
def provided(control_plane: ControlPlane) -> Any:
    """Creates what a manifest takes for granted; removes it afterwards."""
    made: list[str] = []

    def provide(job: Object) -> None:
        name = job["spec"]["template"]["spec"].get("priorityClassName")
        if name:
            control_plane.admin.create("priorityclasses", {"metadata": {"name": name}, "value": 1000})
            made.append(name)

    yield provide
    for name in made:
        control_plane.admin.delete("priorityclasses", name)


def submitted(control_plane: ControlPlane, jobs: Jobs, text: str) -> str:
    """Applies the manifest as its author would; the name of the Job."""
    job = job_of(text)
    assert job is not None
    verb = "apply" if "name" in job["metadata"] else "create"
    said = control_plane.kubectl(verb, "-n", jobs.namespace, "-f", "-", stdin=text).out
    match = re.search(r"^job\.batch/(\S+) created$", said, re.MULTILINE)
    assert match, said
    return match[1]


def resume_as_kueue_would(jobs: Jobs, name: str) -> None:
    """A suspended Job without our gate waits for its user or for Kueue, which this cluster does not have."""
    job = jobs.get(name)
    if job["spec"].get("suspend") and GATE not in job["metadata"].get("annotations", {}):
        jobs.api.patch("jobs", name, {"spec": {"suspend": False}}, jobs.namespace)


@pytest.mark.one_api
@pytest.mark.parametrize("path", those("gang"))
def test_a_public_gang_waits_whole_and_then_starts_whole(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, provided: Any, path: Path
) -> None:
    text = path.read_text()
    job = job_of(text)
    assert job is not None
    provided(job)
    workers = job["spec"]["parallelism"]
    add_fitting_nodes(nodes, job, workers - 1)
    name = submitted(control_plane, jobs, text)
    assert is_gang(jobs.get(name))
    resume_as_kueue_would(jobs, name)
    eventually(lambda: jobs.waits(name), within_seconds=30)
    throughout(lambda: jobs.bound(name) == 0, seconds=1, poll_seconds=0.2)
    add_fitting_nodes(nodes, job, 1)
    eventually(lambda: jobs.bound(name) == workers, within_seconds=15)
    eventually(lambda: {pod["status"]["phase"] for pod in jobs.pods(name)} == {"Running"}, within_seconds=15)
    assert jobs.group(name)["spec"]["schedulingPolicy"] == {"gang": {"minCount": workers}}


@pytest.mark.parametrize("path", those("plain"))
def test_a_public_job_that_is_no_gang_is_as_ever(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, provided: Any, path: Path
) -> None:
    text = path.read_text()
    if PLACEHOLDER_ACCOUNT in text:
        expect_the_refusal_of_kubernetes(control_plane, jobs, text)
        text = text.replace(PLACEHOLDER_ACCOUNT, SOME_ACCOUNT)
    job = job_of(text)
    assert job is not None
    provided(job)
    add_fitting_nodes(nodes, job, 1)
    name = submitted(control_plane, jobs, text)
    made = jobs.get(name)
    assert not is_gang(made)
    assert not made["spec"].get("suspend")
    assert made["spec"]["template"]["spec"]["schedulerName"] == "default-scheduler"
    eventually(lambda: jobs.whole(name), within_seconds=30)
    assert jobs.groups(name) == []


def expect_the_refusal_of_kubernetes(control_plane: ControlPlane, jobs: Jobs, text: str) -> None:
    """The Job is refused for its placeholder, in the words used in a namespace that Tutti never sees."""
    here = control_plane.kubectl("create", "-n", jobs.namespace, "-f", "-", stdin=text, code=1).err
    elsewhere = control_plane.kubectl(
        "create", "-n", "kube-system", "--dry-run=server", "-f", "-", stdin=text, code=1
    ).err
    assert "V_KSA" in here
    assert here == elsewhere
    for document in yaml.safe_load_all(text):
        if document["kind"] == "Service":
            jobs.api.delete("services", document["metadata"]["name"], jobs.namespace)
