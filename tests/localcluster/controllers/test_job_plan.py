"""Which pods a Job loses or gets, and when it is over."""

from typing import Any

import pytest

from localcluster.controllers.jobs.assess import Ending
from localcluster.controllers.jobs.backoff import Failures
from localcluster.controllers.jobs.model import Job
from localcluster.controllers.jobs.plan import NewPod, PodPlan, plan_pods
from localcluster.controllers.jobs.pods import INDEX_FAILURES, Pod
from tests.localcluster.controllers.builders import (
    NOW,
    NOW_TEXT,
    at,
    failed,
    indexed,
    job,
    pod,
    seen,
    stamp,
    succeeded,
)


def plan(of: Job, *pods: Pod, failures: Failures | None = None) -> PodPlan:
    return plan_pods(seen(of, *pods, failures=failures), NOW)


def created(of: Job, *pods: Pod) -> list[int | None]:
    return [new.index for new in plan(of, *pods).create]


def deleted(of: Job, *pods: Pod) -> set[str]:
    return {each.metadata.name for each in plan(of, *pods).delete}


@pytest.mark.parametrize(
    ("of", "pods", "count"),
    [
        (job(parallelism=3, completions=5), [], 3),
        (job(parallelism=3, completions=2), [], 2),
        (job(parallelism=3, completions=5), [pod("a")], 2),
        (job(parallelism=3, completions=5), [succeeded("a"), succeeded("b"), succeeded("c"), pod("d")], 1),
        (job(parallelism=0, completions=5), [], 0),
        (job(parallelism=3), [], 3),
        (job(parallelism=3), [succeeded("a"), pod("b")], 0),
        (job(parallelism=3, suspend=True), [], 0),
        (job(parallelism=3, deleted=True), [], 0),
        (job(parallelism=2, completions=2), [pod("a", deleted=True), pod("b", ready=True)], 1),
        (job(parallelism=2, completions=2, podReplacementPolicy="Failed"), [pod("a", deleted=True), pod("b")], 0),
    ],
)
def test_so_many_pods_are_made(of: Job, pods: list[Pod], count: int) -> None:
    long_ago = Failures()
    assert len(plan_pods(seen(of, *pods, failures=long_ago), at(3600)).create) == count


def test_an_indexed_job_gets_the_lowest_indexes_that_are_not_taken_or_done() -> None:
    assert created(indexed(4)) == [0, 1, 2, 3]
    assert created(indexed(4), pod("a", index=1), succeeded("b", index=2)) == [0, 3]
    assert created(indexed(4, status={"completedIndexes": "0,1"})) == [2, 3]
    assert created(indexed(5, 2), succeeded("a", index=0)) == [1, 2]


def test_a_terminating_pod_keeps_its_index_only_under_the_policy_failed() -> None:
    pods = pod("a", index=0, deleted=True), pod("b", index=1)
    long_ago = at(3600)
    assert [new.index for new in plan_pods(seen(indexed(2), *pods), long_ago).create] == [0]
    assert plan_pods(seen(indexed(2, podReplacementPolicy="Failed"), *pods), long_ago).create == ()


def test_after_a_failure_pods_are_made_only_when_the_pause_is_over() -> None:
    of, ended = job(parallelism=2, completions=2), failed("a", ended=-4)
    assert plan(of, ended) == PodPlan(again_seconds=6)
    assert len(plan(of, failed("a", ended=-11)).create) == 2
    assert plan(of, ended, failures=Failures(1, at(-60))).again_seconds == 16


def test_suspending_deletes_active_pods_without_counting_them() -> None:
    found = plan(job(parallelism=2, suspend=True), pod("a"), pod("b"), succeeded("c"), pod("d", deleted=True))
    assert {each.metadata.name for each in found.delete} == {"a", "b"}
    assert found.uncount


def test_an_ending_job_deletes_active_pods_and_counts_them() -> None:
    found = plan(job(backoffLimit=0, parallelism=2), failed("a"), pod("b"))
    assert [each.metadata.name for each in found.delete] == ["b"]
    assert not found.uncount
    assert found.create == ()


def test_of_too_many_pods_those_that_got_least_far_go() -> None:
    of = job(parallelism=1, completions=9)
    pods = [
        pod("unbound", "Pending", node=""),
        pod("pending", "Pending"),
        pod("ready", ready=True),
        pod("unready"),
    ]
    assert deleted(of, *pods) == {"unbound", "pending", "unready"}
    assert deleted(job(parallelism=3, completions=9), *pods) == {"unbound"}


def test_among_equals_the_younger_pod_goes() -> None:
    assert deleted(job(parallelism=1, completions=9), pod("old", created=stamp(-99)), pod("new", created=NOW_TEXT)) == {
        "new"
    }


def test_doubles_and_indexes_that_do_not_exist_are_deleted_first() -> None:
    pods = [pod("a", index=0, ready=True), pod("double", index=0), pod("beyond", index=7), pod("none")]
    assert deleted(indexed(2), *pods) == {"double", "beyond", "none"}


@pytest.mark.parametrize(
    ("of", "pods", "reason"),
    [
        (job(backoffLimit=1), [failed("a")], None),
        (job(backoffLimit=1), [failed("a"), failed("b")], "BackoffLimitExceeded"),
        (job(backoffLimit=1, status={"failed": 1}), [failed("a")], "BackoffLimitExceeded"),
        (job(backoffLimit=1, status={"failed": 1}), [failed("a", tracked=False)], None),
        (
            job(backoffLimit=0, status={"uncountedTerminatedPods": {"failed": ["a"]}}),
            [failed("a")],
            "BackoffLimitExceeded",
        ),
        (job(backoffLimit=0), [pod("a", deleted=True)], "BackoffLimitExceeded"),
        (job(backoffLimit=0, podReplacementPolicy="Failed"), [pod("a", deleted=True)], None),
        (job(backoffLimit=2, restart="OnFailure"), [pod("a", restarts=2)], "BackoffLimitExceeded"),
        (job(backoffLimit=2, restart="OnFailure"), [pod("a", restarts=1)], None),
        (job(activeDeadlineSeconds=60, status={"startTime": stamp(-60)}), [pod("a")], "DeadlineExceeded"),
        (job(activeDeadlineSeconds=60, status={"startTime": stamp(-59)}), [pod("a")], None),
        (job(activeDeadlineSeconds=60, suspend=True, status={"startTime": stamp(-99)}), [], None),
        (indexed(2, backoffLimitPerIndex=0), [failed("a", index=0)], None),
        (indexed(2, backoffLimitPerIndex=0), [failed("a", index=0), failed("b", index=1)], "FailedIndexes"),
        (indexed(2, backoffLimitPerIndex=0), [failed("a", index=0), succeeded("b", index=1)], "FailedIndexes"),
        (indexed(3, backoffLimitPerIndex=0, maxFailedIndexes=0), [failed("a", index=0)], "MaxFailedIndexesExceeded"),
        (indexed(3, backoffLimitPerIndex=1), [failed("a", index=0)], None),
        (indexed(3, successPolicy={"rules": [{"succeededCount": 1}]}), [succeeded("a", index=2)], "SuccessPolicy"),
    ],
)
def test_a_job_is_over_for_this_reason(of: Job, pods: list[Pod], reason: str | None) -> None:
    ending = seen(of, *pods).ending
    assert (ending.reason if ending else None) == reason


@pytest.mark.parametrize(
    ("condition", "kind"), [("FailureTarget", "Failed"), ("SuccessCriteriaMet", "SuccessCriteriaMet")]
)
def test_an_announced_end_is_kept_to(condition: str, kind: str) -> None:
    said = {"type": condition, "status": "True", "reason": "R", "message": "M"}
    assert seen(job(status={"conditions": [said]})).ending == Ending(kind, "R", "M")


def test_a_job_with_a_deadline_is_looked_at_when_it_comes() -> None:
    of = job(activeDeadlineSeconds=60, parallelism=1, status={"startTime": stamp(-20)})
    assert plan(of, pod("a")).again_seconds == 40


def test_each_index_waits_on_its_own_and_carries_its_failures_on() -> None:
    of = indexed(3, backoffLimitPerIndex=5)
    counted: dict[str, Any] = {"annotations": {INDEX_FAILURES: "1"}}
    found = plan(of, failed("a", index=0, ended=-15, **counted), failed("b", index=1, ended=-15))
    assert found.create == (NewPod(1, ((INDEX_FAILURES, "1"),)), NewPod(2, ((INDEX_FAILURES, "0"),)))
    assert found.again_seconds == 5
