"""What a Job itself says of why it waits."""

from typing import Any

import msgspec
import pytest

from api.constants import EVENT_FAILED_POD_GROUP_CREATE, EVENT_FAILED_WORKLOAD_CREATE, GATE, GATE_POD_GROUP
from api.job import Job
from api.jobset import JobSet
from explain.answer import Verdict
from explain.owner_facts import FAILED_CREATE, Event, answer_of_job, answer_of_job_set, events_of
from explain.reasons import Reason
from tests.jobsets.builders import jobset, marked, part
from tests.webhooks.builders import job

OURS = frozenset({"tutti"})


def _answer(document: dict[str, Any], *events: Event) -> Any:
    read = msgspec.convert(document, Job)
    return answer_of_job(read, events, 100.0, scheduler_names=OURS, created_seconds=40.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"suspend": True, "annotations": {GATE: GATE_POD_GROUP}}, Reason.HELD),
        ({"suspend": True}, Reason.SUSPENDED),
        ({"scheduler_name": "default-scheduler"}, Reason.OTHER_SCHEDULER),
    ],
)
def test_why_it_waits(changes: dict[str, Any], reason: Reason) -> None:
    found = _answer(job(**{"scheduler_name": "tutti", **changes}))
    assert (found.verdict, found.reason, found.waiting_seconds) == (Verdict.WAITS, reason, 60.0)
    assert found.exit_code == 3


def test_pods_that_a_quota_refuses_are_told_in_the_servers_words() -> None:
    refused = Event(FAILED_CREATE, 'pods "train-0" is forbidden: exceeded quota: small')
    assert _answer(job(scheduler_name="tutti")) is None
    found = _answer(job(scheduler_name="tutti"), Event("Other", "x"), refused)
    assert found.reason is Reason.QUOTA
    assert found.message.endswith("exceeded quota: small")


@pytest.mark.parametrize("reason", [EVENT_FAILED_WORKLOAD_CREATE, EVENT_FAILED_POD_GROUP_CREATE])
def test_a_group_that_a_quota_refuses_is_told_in_the_servers_words(reason: str) -> None:
    refused = Event(reason, "Failed to create: exceeded quota: small")
    found = _answer(job(suspend=True, annotations={GATE: GATE_POD_GROUP}), Event(FAILED_CREATE, "x"), refused)
    assert found.reason is Reason.QUOTA
    assert found.message.endswith("exceeded quota: small")
    assert _answer(job(scheduler_name="tutti"), refused) is None


def test_a_job_that_has_finished_waits_for_nothing() -> None:
    done = {**job(), "status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    assert _answer(done).exit_code == 0


def test_events_are_read_the_latest_first() -> None:
    older = {"reason": "A", "note": "a", "deprecatedLastTimestamp": "2026-01-01T00:00:00Z"}
    newer = {"reason": "B", "message": "b", "metadata": {"creationTimestamp": "2026-01-02T00:00:00Z"}}
    assert events_of({"items": [older, newer]}) == [Event("B", "b"), Event("A", "a")]


def _of_job_set(document: dict[str, Any]) -> Any:
    return answer_of_job_set(msgspec.convert(document, JobSet), 100.0, scheduler_names=OURS, created_seconds=40.0)


def test_a_job_set_that_makes_no_pods_or_has_others_place_them_says_so() -> None:
    suspended = _of_job_set(jobset(marked(part("a", pods=3), "set"), suspend=True))
    assert (suspended.verdict, suspended.reason, suspended.item.owner) == (
        Verdict.WAITS,
        Reason.SUSPENDED,
        "jobset/pair",
    )
    assert (suspended.members.need, suspended.waiting_seconds) == (3, 60.0)
    plain = _of_job_set(jobset(part("a")))
    assert plain.reason is Reason.OTHER_SCHEDULER
    assert plain.message == "its pods are placed by the scheduler default-scheduler: it was not taken in as a gang"
    assert _of_job_set(jobset(part("a"), conditions=("Completed",))).verdict is Verdict.STARTED


def test_the_pods_of_a_job_set_that_was_taken_in_decide() -> None:
    assert _of_job_set(jobset(marked(part("a"), "job"), part("b"))) is None
