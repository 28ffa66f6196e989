"""A user who suspends what waits at our gate keeps it suspended, as far as the API server shows who says so."""

import json

import pytest

from verify.clusters.client import Api, Object
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import workload
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import GATE, POD_GROUP, Jobs, indexed_job
from verify.clusters.jobsets import SETTLE_SECONDS, JobSets, job_set, part
from verify.clusters.tutti_process import Tutti

TEMPLATE = "scheduling.k8s.io/group-template-name"
HELD_NAME = "held"


def apply(api: Api, namespace: str, name: str, body: Object) -> None:
    path = f"{api.path('jobs', namespace, name)}?fieldManager=person&force=true"
    api.request("PATCH", path, body, kind="apply")


SERVER_SIDE = pytest.mark.real_only("the embedded server has no server-side apply")


@pytest.mark.parametrize("way", [pytest.param("server-side apply", marks=SERVER_SIDE), "client-side apply"])
def test_a_gate_that_somebody_suspends_behind_is_taken_off_and_the_job_stays_suspended(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, way: str
) -> None:
    nodes.add(1, cpu="4")
    # Gated and with nobody to open it for now: its scheduler brings a kind of group that this cluster does not have.
    manifest = indexed_job(HELD_NAME, 2, annotations={"tutti.scheduler/provider": "volcano"})
    made = jobs.create(manifest)
    assert made["metadata"]["annotations"][GATE]
    if way == "server-side apply":
        body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": HELD_NAME}, "spec": {"suspend": True}}
        apply(jobs.api, jobs.namespace, HELD_NAME, body)
    else:
        said = json.dumps({"apiVersion": "batch/v1", "kind": "Job", "spec": {"suspend": True}})
        note = {"kubectl.kubernetes.io/last-applied-configuration": said}
        jobs.api.patch("jobs", HELD_NAME, {"metadata": {"annotations": note}}, jobs.namespace)
    found = jobs.get(HELD_NAME)
    assert GATE not in found["metadata"]["annotations"]
    throughout(lambda: jobs.get(HELD_NAME)["spec"]["suspend"] is True, seconds=2, poll_seconds=0.2)
    assert jobs.pods(HELD_NAME) == []


def test_a_delegated_jobs_workload_may_come_between_creation_and_resume_of_its_set(
    jobsets: JobSets, nodes: HollowNodes
) -> None:
    nodes.add(1, cpu="4")
    made = jobsets.create(job_set("js", part("workers", pods=2, annotations={TEMPLATE: "workers"}), suspend=True))
    eventually(lambda: len(jobsets.children("js")) == 1, within_seconds=SETTLE_SECONDS)
    controller = {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "js"}
    throughout(lambda: len(jobsets.children("js")) == 1, seconds=1, poll_seconds=0.2)
    jobsets.api.create("workloads", workload(jobsets.api, "of-js", controller, "workers"), jobsets.namespace)
    jobsets.suspend("js", False)
    eventually(lambda: jobsets.bound("js") == 2, within_seconds=SETTLE_SECONDS)
    assert all(POD_GROUP in pod["metadata"]["annotations"] for pod in jobsets.pods("js"))
    events = [event.get("note", "") for event in jobsets.api.list("events", jobsets.namespace)]
    assert not any("did not see its creation" in note for note in events)
    assert made["spec"]["suspend"] is True
