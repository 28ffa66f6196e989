"""A kept Job says what the decoded one said, and shares what is equal."""

import json
from typing import Any

import msgspec
import pytest

from api.job import Job
from controllers.jobs.interning import interned
from tests.controllers.builders import job_manifest

POLICY = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}


def decoded(manifest: dict[str, Any]) -> Job:
    """The Job as it arrives: no string or dictionary of it is shared with another one."""
    return msgspec.convert(json.loads(json.dumps(manifest)), Job)


def full(uid: str) -> dict[str, Any]:
    manifest = job_manifest(uid=uid)
    labels = {"batch.kubernetes.io/controller-uid": uid, "team": "a"}
    manifest["metadata"]["labels"] = dict(labels)
    manifest["spec"]["podFailurePolicy"] = POLICY
    manifest["spec"]["podReplacementPolicy"] = "Failed"
    manifest["spec"]["template"]["metadata"] = {"labels": dict(labels), "annotations": {"b": "c"}}
    return manifest


@pytest.mark.parametrize(
    "manifest",
    [
        full("u"),
        job_manifest(),
        {"metadata": {"name": "bare"}},
        {"spec": {"template": {"spec": {"schedulingGroup": {"podGroupName": "g"}}}, "podFailurePolicy": {}}},
    ],
)
def test_nothing_of_a_job_is_lost(manifest: dict[str, Any]) -> None:
    assert interned(decoded(manifest)) == decoded(manifest)


def test_what_is_equal_is_the_same_object() -> None:
    one, other = interned(decoded(full("one"))), interned(decoded(full("other")))
    labels = one.metadata.labels or {}
    assert one.spec.template.metadata.labels is labels
    assert labels["batch.kubernetes.io/controller-uid"] is one.metadata.uid
    assert one.spec.pod_failure_policy is other.spec.pod_failure_policy
    assert one.spec.template.spec is other.spec.template.spec
    assert all(mine is theirs for mine, theirs in zip(labels, other.metadata.labels or {}, strict=True))
