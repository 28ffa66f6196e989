"""The small pure parts of the Job controller: index sets, policies, backoff, expectations, expiry."""

from typing import Any

import pytest

from localcluster.controllers.expectations import TIMEOUT_SECONDS, Expectations
from localcluster.controllers.jobs.backoff import Failures, finished_at
from localcluster.controllers.jobs.indexes import first_free, parse_indexes, render_indexes
from localcluster.controllers.jobs.policies import judge, succeeded_by_policy
from localcluster.controllers.jobs.ttl import seconds_left
from tests.localcluster.controllers.builders import NOW, at, failed, indexed, job, pod, stamp, succeeded


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        ([], ""),
        ([0], "0"),
        ([0, 1], "0,1"),
        ([0, 1, 2], "0-2"),
        ([7, 1, 3, 4, 5], "1,3-5,7"),
        ([0, 2, 3, 9], "0,2,3,9"),
    ],
)
def test_indexes_are_written_as_the_stock_controller_writes_them(indexes: list[int], text: str) -> None:
    assert render_indexes(indexes) == text
    assert parse_indexes(text, 100) == set(indexes)


def test_indexes_beyond_the_completions_and_parts_that_are_no_numbers_are_left_out() -> None:
    assert parse_indexes("0-9,x,12,-3", 4) == {0, 1, 2, 3}


def test_the_lowest_free_indexes_come_first() -> None:
    assert first_free(frozenset({0, 2}), 2, 10) == [1, 3]
    assert first_free(frozenset({0, 1}), 5, 3) == [2]


def rule(action: str, **what: Any) -> dict[str, Any]:
    return {"rules": [{"action": action, **what}]}


def exit_codes(*values: int, operator: str = "In", **more: Any) -> dict[str, Any]:
    return {"onExitCodes": {"operator": operator, "values": list(values), **more}}


@pytest.mark.parametrize(
    ("policy", "counts", "ends"),
    [
        (rule("Ignore", **exit_codes(42)), False, None),
        (rule("Count", **exit_codes(42)), True, None),
        (rule("Ignore", **exit_codes(1)), True, None),
        (rule("Ignore", **exit_codes(1, operator="NotIn")), False, None),
        (rule("Ignore", **exit_codes(42, containerName="other")), True, None),
        (
            rule("FailJob", **exit_codes(42, containerName="main")),
            True,
            "Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 0",
        ),
    ],
)
def test_exit_codes_decide_what_a_failure_means(policy: dict[str, Any], counts: bool, ends: str | None) -> None:
    verdict = judge(job(podFailurePolicy=policy), failed("p", 42))
    assert (verdict.counts, verdict.ends_job) == (counts, ends)


def test_pod_conditions_decide_what_a_failure_means() -> None:
    policy = rule("FailJob", onPodConditions=[{"type": "DisruptionTarget", "status": "True"}])
    hit = failed("p", conditions=[{"type": "DisruptionTarget", "status": "True"}])
    miss = failed("p", conditions=[{"type": "DisruptionTarget", "status": "False"}])
    of = job(podFailurePolicy=policy)
    assert judge(of, hit).ends_job == "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 0"
    assert judge(of, miss).ends_job is None


def test_the_first_rule_that_matches_decides() -> None:
    rules = [{"action": "Ignore", **exit_codes(5)}, {"action": "FailJob", **exit_codes(5, 6)}]
    of = job(podFailurePolicy={"rules": rules})
    assert not judge(of, failed("p", 5)).counts
    assert judge(of, failed("p", 6)).ends_job is not None


@pytest.mark.parametrize(
    ("policy", "done", "met"),
    [
        ({"succeededCount": 2}, {0, 4}, True),
        ({"succeededCount": 3}, {0, 4}, False),
        ({"succeededIndexes": "0-1"}, {0, 1}, True),
        ({"succeededIndexes": "0-1"}, {0, 2}, False),
        ({"succeededIndexes": "0-3", "succeededCount": 1}, {3}, True),
    ],
)
def test_a_success_policy_needs_what_it_names(policy: dict[str, Any], done: set[int], met: bool) -> None:
    reason = succeeded_by_policy(indexed(5, successPolicy={"rules": [policy]}), frozenset(done))
    assert reason == ("Matched rules at index 0" if met else None)


@pytest.mark.parametrize(("count", "wait"), [(0, 0), (1, 10), (2, 20), (3, 40), (7, 600), (50, 600)])
def test_the_pause_doubles_with_every_failure_up_to_ten_minutes(count: int, wait: float) -> None:
    assert Failures(count, NOW).wait_seconds(NOW) == wait


def test_time_that_has_passed_since_the_failure_counts() -> None:
    assert Failures(1, NOW).wait_seconds(at(4)) == 6
    assert Failures(1, NOW).wait_seconds(at(11)) == 0


def test_failures_add_up_until_a_success_comes_after_them() -> None:
    first = Failures().after([], [failed("a", ended=-9), failed("b", ended=-5)])
    assert first == Failures(2, at(-5))
    assert first.after([], []) == first
    assert first.after([succeeded("c", ended=-3)], []) == Failures()
    assert first.after([succeeded("c", ended=-3)], [failed("d", ended=-4), failed("e", ended=-2)]) == Failures(
        1, at(-2)
    )


def test_the_end_of_a_pod_is_taken_from_the_best_source() -> None:
    assert finished_at(failed("p", ended=-7)) == at(-7)
    unready = pod("p", conditions=[{"type": "Ready", "status": "False", "lastTransitionTime": stamp(-8)}])
    assert finished_at(unready) == at(-8)
    assert finished_at(pod("p", deleted=True)) == at(-30)
    assert finished_at(pod("p", created=stamp(-99))) == at(-99)


def test_nothing_is_decided_before_all_writes_are_seen() -> None:
    expectations = Expectations(creations={"a"}, deletions={"b"}, released={"c"}, version=7)
    old = {"b": pod("b"), "c": pod("c")}
    new = {"a": pod("a"), "b": pod("b", deleted=True), "c": pod("c", tracked=False)}
    assert not expectations.satisfied("7", old, 0)
    assert not expectations.satisfied("6", new, 0)
    assert expectations.satisfied("7", new, 0)


def test_a_pod_that_came_and_went_unseen_is_given_up_after_a_while() -> None:
    expectations = Expectations(creations={"a"}, since=100.0)
    assert not expectations.satisfied("1", {}, 100.0 + TIMEOUT_SECONDS / 2)
    assert expectations.satisfied("1", {}, 100.0 + TIMEOUT_SECONDS)


def test_a_job_expires_so_long_after_its_end() -> None:
    ended = {"conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": stamp(-10)}]}
    assert seconds_left(job(status=ended, ttlSecondsAfterFinished=25), NOW) == 15
    assert seconds_left(job(status=ended, ttlSecondsAfterFinished=0), NOW) == -10
    assert seconds_left(job(status=ended), NOW) is None
    assert seconds_left(job(ttlSecondsAfterFinished=1), NOW) is None
    assert seconds_left(job(status=ended, ttlSecondsAfterFinished=1, deleted=True), NOW) is None
