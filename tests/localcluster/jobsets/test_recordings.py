"""Each recorded life of a JobSet goes the same way with the stand-in."""

import base64
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kube.client.resources import JOB_SETS, JOBS, MUTATING_WEBHOOKS
from tests.localcluster.extension.webhook_server import WebhookServer, patching
from tests.localcluster.jobsets.recordings import Replay, Step, recorded, recording
from tests.localcluster.leaderworkersets.conftest import Cluster
from verify.shared_data import SHARED_DATA

STAND_INS = ("job", "jobset", "garbage", "serviceaccount")


def do(name: str, *arguments: Any, **settings: Any) -> Step:
    """A step: that method of the replay."""
    return lambda replay: getattr(replay, name)(*arguments, **settings)


create, resume, suspend = do("create"), do("suspend", False), do("suspend", True)
create_suspended = do("create", suspend=True)
running, succeeded = partial(do, "make", "Running"), partial(do, "make", "Succeeded")
fails = partial(do, "make", "Failed")
WORKERS, DRIVER = "paralleljobs-workers-0", "paralleljobs-driver-0"

OF_PODS = {
    "spec": {
        "template": {
            "metadata": {"labels": {"example.com/mine": "1"}, "annotations": {"example.com/mine": "1"}},
            "spec": {"nodeSelector": {"example.com/pool": "child"}, "schedulingGates": [{"name": "example.com/gate"}]},
        }
    }
}
OF_SET = {
    "metadata": {"labels": {"example.com/js": "1"}, "annotations": {"example.com/js": "1"}},
    "spec": {
        "nodeSelector": {"example.com/pool": "jobset"},
        "tolerations": [{"key": "example.com/t", "operator": "Exists"}],
        "schedulingGates": [{"name": "example.com/jobset-gate"}],
    },
}
"""What may change in templates while they are suspended, and did when it was recorded."""


def all_jobs(phase: str, *jobs: str) -> Step:
    """A step: all living pods of these Jobs are in that phase."""

    async def step(replay: Replay) -> None:
        for job in jobs:
            await replay.make(phase, job)

    return step


def bound(job: str, pool: str, **nodes: str) -> Step:
    """A step: the pods of a Job get nodes of that pool, `index_0="node"`, one after the other as they come."""

    async def step(replay: Replay) -> None:
        for index, node in nodes.items():
            await replay.bind(job, index.removeprefix("index_"), node, pool)

    return step


LIVES: dict[str, list[Step]] = {
    "paralleljobs": [
        create,
        do("change_child", WORKERS, {"spec": {"suspend": True}}),
        do("change_child", WORKERS, {"metadata": {"labels": {"x": "y"}, "annotations": {"x": "y"}}}),
        do("change_running_child", WORKERS, OF_PODS),
        do("delete_child", WORKERS, "Background"),
        do("delete_child", WORKERS, "Orphan"),
        *(all_jobs("Running", WORKERS, DRIVER), succeeded(DRIVER), succeeded(WORKERS)),
    ],
    "paralleljobs-suspended": [
        create_suspended,
        do("change_child", WORKERS, {"spec": {"suspend": False}}),
        do("change_child", WORKERS, OF_PODS),
        do("change_pods_of", "workers", OF_SET),
        do("fail_to_change_pods_of", "workers", {"spec": {"schedulerName": "another"}}),
        do("fail_to_change_pods_of", "workers", {"spec": {"priorityClassName": "another"}}),
        do("fail_to_change_replicas_of", "workers", 2),
        *(resume, do("ungate"), all_jobs("Running", WORKERS, DRIVER), suspend, resume),
    ],
    "pair": [create],
    "network-jobset": [create],
    "coordinator-example": [create],
    "group-example": [create],
    "exclusive-placement-node-selector": [create],
    "exclusive-placement": [
        create,
        bound("exclusive-placement-workers-0", "pool-0", index_0="pool0-0"),
        bound("exclusive-placement-workers-1", "pool-1", index_0="pool1-0", index_1="pool1-1", index_2="pool1-2"),
    ],
    "v6e-multislice": [create],
    "startup-driver-ready": [
        create,
        running("startup-driver-ready-driver-0"),
        running("startup-driver-ready-workers-0"),
        suspend,
        resume,
        running("startup-driver-ready-driver-0"),
    ],
    "startup-driver-ready-suspended": [create_suspended, resume, running("startup-driver-ready-driver-0")],
    "depends-on": [create, succeeded("depends-on-initializer-0"), running("depends-on-launcher-0")],
    "depends-on-suspended": [create_suspended, resume, succeeded("depends-on-initializer-0"), suspend, resume],
    "multiple-depends-on": [
        create,
        succeeded("multiple-depends-on-dataset-initializer-0"),
        succeeded("multiple-depends-on-model-initializer-0"),
    ],
    "failure-policy": [
        create,
        fails("failure-policy-leader-0", only="0"),
        fails("failure-policy-workers-0", only="1"),
        suspend,
        resume,
        fails("failure-policy-leader-0", only="0"),
        fails("failure-policy-leader-0", only="0"),
    ],
    "restartjobset-action": [create, fails("restartjobset-action-example-leader-0", only="0")],
    "no-failure-policy": [create, fails(DRIVER)],
    "success-policy": [create, succeeded("success-policy-workers-0")],
    "js-delegated": [create],
    "was-jobset": [create],
    "name-conflict": [do("create_beside", DRIVER)],
}


ELSEWHERE = {
    "pair-held-at-create": "below: somebody else's webhook takes part",
    "restartjob-action": "below: nothing is made",
    "was-jobset-gate-on": "test_on_real_server.py: the server here drops what the gate GenericWorkload adds",
}
"""Recordings that are replayed in a test of their own."""


def test_each_recording_is_replayed() -> None:
    found = {path.stem for path in SHARED_DATA.glob("jobset-recorded/*.json")}
    if not found:
        pytest.skip("no recordings here; set TUTTI_SHARED_DATA")
    assert found == {*LIVES, *ELSEWHERE}
    short = {name for name in LIVES if len(LIVES[name]) < len((recording(name) or {})["steps"])}
    assert short == set()


@pytest.mark.parametrize("name", sorted(LIVES))
async def test_a_recorded_life_goes_the_same_way_here(cluster: Cluster, name: str) -> None:
    found = recording(name)
    if found is None:
        pytest.skip("no recordings here; set TUTTI_SHARED_DATA")
    async with cluster(*STAND_INS) as client:
        replay = Replay(client, found["manifest"])
        await replay.served()
        for step, taken in zip(LIVES[name], found["steps"], strict=False):
            expected = recorded(taken)
            await step(replay)
            await replay.becomes(expected)


async def test_a_jobset_that_its_webhook_refuses_gets_the_answer_that_was_recorded(cluster: Cluster) -> None:
    found = recording("restartjob-action")
    if found is None:
        pytest.skip("no recordings here; set TUTTI_SHARED_DATA")
    async with cluster(*STAND_INS) as client:
        replay = Replay(client, found["manifest"])
        await replay.served()
        code, message = found["steps"][0]["answer"]
        await replay.create_refused((code, message))
        assert await replay.all(JOB_SETS) == await replay.all(JOBS) == []


async def test_jobs_that_somebody_suspends_as_they_are_created_are_resumed_as_recorded(
    cluster: Cluster, tmp_path: Path
) -> None:
    found = recording("pair-held-at-create")
    if found is None:
        pytest.skip("no recordings here; set TUTTI_SHARED_DATA")
    somebody = WebhookServer(tmp_path)
    somebody.replies["hold"] = patching({"op": "replace", "path": "/spec/suspend", "value": True})
    await somebody.start()
    try:
        async with cluster(*STAND_INS) as client:
            await client.create(MUTATING_WEBHOOKS, holding(somebody))
            replay = Replay(client, found["manifest"])
            await replay.served()
            await replay.create()
            await replay.becomes(recorded(found["steps"][0]))
    finally:
        await somebody.stop()
    assert {review["object"]["kind"] for _, review, _ in somebody.seen} == {"Job"}


def holding(somebody: WebhookServer) -> dict[str, Any]:
    """A configuration that has each new Job sent to that server."""
    authority = base64.b64encode(somebody.certificate.read_bytes()).decode()
    rule = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}
    webhook = {
        "name": "hold.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"url": f"{somebody.url}/hold", "caBundle": authority},
        "rules": [rule],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "hold"},
        "webhooks": [webhook],
    }
