"""What a Job's status says after a look, and which pods are let go."""

import msgspec
import pytest

from localcluster.controllers.jobs.conclude import Handled, Happening, Noted, finished_events, flush_uncounted, note
from localcluster.controllers.jobs.model import Job, JobStatus, Uncounted
from localcluster.controllers.jobs.pods import Pod
from tests.localcluster.controllers.builders import NOW, NOW_TEXT, failed, indexed, job, pod, seen, stamp, succeeded


def noted(of: Job, *pods: Pod, handled: Handled | None = None) -> Noted:
    return note(seen(of, *pods), handled or Handled(), NOW)


def concluded(of: Job, *pods: Pod, handled: Handled | None = None) -> JobStatus:
    """The status when all finalizers went as they should."""
    first = noted(of, *pods, handled=handled)
    left = {each.metadata.uid for each in pods if each.is_tracked} - {each.metadata.uid for each in first.release}
    return flush_uncounted(first, left, NOW)


def types(status: JobStatus) -> list[str]:
    return [each.type for each in status.conditions if each.status == "True"]


def test_the_first_look_starts_the_clock_and_counts_what_was_made() -> None:
    status = concluded(job(parallelism=2), handled=Handled(created=2))
    assert (status.start_time, status.active, status.ready, status.terminating) == (NOW_TEXT, 2, 0, 0)


def test_the_status_is_written_in_the_apis_own_words() -> None:
    written = msgspec.to_builtins(concluded(indexed(2), succeeded("a", index=0), pod("b", index=1, ready=True)))
    assert written == {
        "active": 1,
        "completedIndexes": "0",
        "ready": 1,
        "startTime": NOW_TEXT,
        "succeeded": 1,
        "terminating": 0,
        "uncountedTerminatedPods": {},
    }


def test_a_pod_is_noted_before_it_is_let_go_and_counted_after() -> None:
    of, ended = job(parallelism=2, completions=2), failed("a")
    first = noted(of, ended, pod("b"))
    assert first.status.uncounted_terminated_pods == Uncounted(failed=("a",))
    assert first.status.failed == 0
    assert [each.metadata.name for each in first.release] == ["a"]
    assert flush_uncounted(first, {"a", "b"}, NOW).failed == 0
    after = flush_uncounted(first, {"b"}, NOW)
    assert (after.failed, after.uncounted_terminated_pods) == (1, Uncounted())


def test_a_noted_pod_that_lost_its_finalizer_meanwhile_is_counted_once() -> None:
    of = job(completions=2, status={"failed": 1, "uncountedTerminatedPods": {"failed": ["a"]}})
    assert concluded(of, failed("a", tracked=False)).failed == 2
    assert concluded(of).failed == 2


def test_succeeded_pods_of_an_indexed_job_are_counted_by_index() -> None:
    of = indexed(4, status={"completedIndexes": "0", "succeeded": 1})
    status = concluded(of, succeeded("again", index=0), succeeded("b", index=2), succeeded("c", index=3))
    assert (status.completed_indexes, status.succeeded) == ("0,2,3", 3)


def test_ignored_failures_are_let_go_uncounted() -> None:
    rules = [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}]
    of = job(podFailurePolicy={"rules": rules}, completions=2)
    first = noted(of, failed("a", 7))
    assert first.release
    assert flush_uncounted(first, set(), NOW).failed == 0


def test_a_job_completes_when_enough_pods_succeeded() -> None:
    status = concluded(job(completions=1), succeeded("a"))
    assert types(status) == ["SuccessCriteriaMet", "Complete"]
    assert {(each.reason, each.message) for each in status.conditions} == {
        ("CompletionsReached", "Reached expected number of succeeded pods")
    }
    assert (status.completion_time, status.succeeded, status.active) == (NOW_TEXT, 1, 0)


def test_a_work_queue_is_complete_when_the_others_have_ended_too() -> None:
    assert types(concluded(job(parallelism=2), succeeded("a"), pod("b"))) == []
    assert types(concluded(job(parallelism=2), succeeded("a"), succeeded("b"))) == ["SuccessCriteriaMet", "Complete"]


def test_a_failing_job_waits_for_its_pods_to_end() -> None:
    of = job(parallelism=2, backoffLimit=0)
    status = concluded(of, failed("a"), pod("b"), handled=Handled(deleted=1))
    assert types(status) == ["FailureTarget"]
    assert (status.active, status.terminating, status.failed) == (0, 1, 2)
    again = msgspec.structs.replace(of, status=status)
    after = concluded(again)
    assert types(after) == ["FailureTarget", "Failed"]
    assert after.failed == 2
    assert after.completion_time is None


def test_nothing_final_is_said_while_a_pod_could_not_be_deleted() -> None:
    status = concluded(job(parallelism=2, backoffLimit=0), failed("a"), pod("b"), handled=Handled(complete=False))
    assert types(status) == []


def test_suspending_clears_the_start_time_and_says_so_once() -> None:
    of = job(suspend=True, status={"startTime": stamp(-50)})
    first = noted(of)
    assert first.happenings == (Happening("Suspended", "Job suspended"),)
    assert first.status.start_time is None
    assert [(each.type, each.status, each.reason) for each in first.status.conditions] == [
        ("Suspended", "True", "JobSuspended")
    ]
    assert noted(msgspec.structs.replace(of, status=first.status)).happenings == ()


def test_resuming_starts_the_clock_anew() -> None:
    suspended = {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended"}
    first = noted(job(suspend=False, status={"conditions": [suspended]}))
    assert first.happenings == (Happening("Resumed", "Job resumed"),)
    assert first.status.start_time == NOW_TEXT
    assert [(each.type, each.status, each.reason) for each in first.status.conditions] == [
        ("Suspended", "False", "JobResumed")
    ]


def test_a_job_that_never_was_suspended_has_no_such_condition() -> None:
    assert concluded(job()).conditions == ()


def test_a_deleted_job_lets_all_its_pods_go() -> None:
    first = noted(job(deleted=True, parallelism=2), pod("a"), succeeded("b"))
    assert {each.metadata.name for each in first.release} == {"a", "b"}


def test_a_failed_pod_whose_index_waits_for_a_successor_stays() -> None:
    of = indexed(2, backoffLimitPerIndex=3)
    waiting = noted(of, failed("a", index=0), pod("b", index=1))
    assert waiting.release == ()
    replaced = noted(of, failed("a", index=0), pod("new", index=0), pod("b", index=1))
    assert [each.metadata.name for each in replaced.release] == ["a"]


def test_failed_indexes_are_written_down() -> None:
    status = concluded(indexed(2, backoffLimitPerIndex=0), failed("a", index=1), pod("b", index=0))
    assert (status.failed_indexes, status.failed) == ("1", 1)


@pytest.mark.parametrize("count", [501])
def test_not_more_pods_are_noted_than_fit(count: int) -> None:
    pods = [succeeded(f"p{number}") for number in range(count)]
    first = noted(job(completions=count, parallelism=count), *pods)
    assert not first.is_all
    assert len(first.release) == 500
    assert types(flush_uncounted(first, {"p500"}, NOW)) == ["SuccessCriteriaMet"]


def test_the_end_of_a_job_is_told() -> None:
    first = noted(job(completions=1), succeeded("a"))
    assert first.ending is not None
    assert finished_events(first.ending) == (Happening("Completed", "Job completed"),)
    lost = noted(job(backoffLimit=0), failed("a"))
    assert lost.ending is not None
    assert finished_events(lost.ending) == (
        Happening("BackoffLimitExceeded", "Job has reached the specified backoff limit", is_warning=True),
    )
