"""docs/users-guide.md: its manifests are what it says they are, and its tables have every setting that users have."""

import re
from typing import Any

import msgspec
import pytest
import yaml

from api import constants
from api.gang import GroupIntent, job_intent
from api.job import Job
from api.lws import LeaderWorkerSet
from api.replica import replica_intent
from tests.docs.markdown import DOCS, blocks

TEXT = (DOCS / "users-guide.md").read_text(encoding="utf-8")
ANNOTATIONS = {
    constants.POLICY,
    constants.MIN_COUNT,
    constants.ELASTIC,
    constants.DESIRED_COUNT,
    constants.TOPOLOGY,
    constants.DISRUPTION_MODE,
    constants.PREEMPTION_PRIORITY_CLASS,
    constants.PROVIDER,
    constants.SCOPE,
    constants.SCHEDULING_TIMEOUT,
    constants.SCOPE,
    constants.ON_SCHEDULING_TIMEOUT,
    constants.DEGRADED,
    constants.REPAIR_TIMEOUT,
    constants.SPARE_NODES,
    constants.SLICE_SIZE,
    constants.SLICE_TOPOLOGY,
}


def manifests() -> dict[str, Any]:
    """The objects that the guide shows whole, by kind."""
    shown = [yaml.safe_load(block.text) for block in blocks(TEXT) if block.language == "yaml"]
    return {body["kind"]: body for body in shown if "kind" in body}


def with_annotations(body: dict[str, Any], annotations: dict[str, str]) -> dict[str, Any]:
    return body | {"metadata": body["metadata"] | {"annotations": annotations}}


def test_its_job_is_a_gang_of_all_its_pods() -> None:
    intent = job_intent(msgspec.convert(manifests()["Job"], Job))
    assert isinstance(intent, GroupIntent)
    assert (intent.policy, intent.min_count) == ("gang", 4)


def test_its_leader_worker_set_has_replicas_that_are_gangs() -> None:
    intent = replica_intent(msgspec.convert(manifests()["LeaderWorkerSet"], LeaderWorkerSet))
    assert isinstance(intent, GroupIntent)
    assert (intent.policy, intent.min_count) == ("gang", 3)


@pytest.mark.parametrize(
    "annotations",
    [
        body["metadata"]["annotations"]
        for body in (yaml.safe_load(block.text) for block in blocks(TEXT) if block.language == "yaml")
        if "annotations" in body["metadata"]
    ],
    ids=lambda each: next(iter(each)),
)
def test_the_annotations_it_shows_can_be_put_on_its_job(annotations: dict[str, str]) -> None:
    assert isinstance(job_intent(msgspec.convert(with_annotations(manifests()["Job"], annotations), Job)), GroupIntent)


def test_its_table_has_all_annotations_that_users_set_and_no_other() -> None:
    section = TEXT.partition("## Settings")[2].partition("\n### ")[0]
    assert set(re.findall(r"^\| `(tutti\.scheduler/[\w-]+)` \|", section, re.MULTILINE)) == ANNOTATIONS
