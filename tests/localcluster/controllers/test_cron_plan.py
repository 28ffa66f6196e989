"""What a CronJob needs at a moment."""

import datetime
from typing import Any

import msgspec
import pytest

from localcluster.controllers.cronjobs.model import CronJob
from localcluster.controllers.cronjobs.plan import CronPlan, job_name, latest_due, plan_cron_job
from localcluster.controllers.cronjobs.schedule import parse_schedule
from localcluster.controllers.jobs.model import Job
from localcluster.controllers.times import parse_time

NOON = datetime.datetime(2026, 1, 3, 12, 0, 5, tzinfo=datetime.UTC)
MORNING = "2026-01-03T11:30:30Z"


def cron(*, last: str | None = None, active: tuple[str, ...] = (), created: str = MORNING, **spec: Any) -> CronJob:
    status: dict[str, Any] = {"active": [{"uid": name, "name": name, "namespace": "ns"} for name in active]}
    if last is not None:
        status["lastScheduleTime"] = last
    body = {
        "metadata": {"name": "c", "namespace": "ns", "uid": "c", "creationTimestamp": created},
        "spec": {"schedule": "0 * * * *", **spec},
        "status": status,
    }
    return msgspec.convert(body, CronJob)


def child(name: str, *, ended: str | None = None, at: str = "2026-01-03T11:40:00Z") -> Job:
    status: dict[str, Any] = {"startTime": at}
    if ended is not None:
        status["conditions"] = [{"type": ended, "status": "True"}]
        status["completionTime"] = at
    return msgspec.convert({"metadata": {"name": name, "namespace": "ns", "uid": name}, "status": status}, Job)


def plan(of: CronJob, *jobs: Job, now: datetime.datetime = NOON) -> CronPlan:
    return plan_cron_job(of, jobs, now)


def reasons(found: CronPlan) -> list[str]:
    return [each.reason for each in found.happenings]


def test_a_moment_that_has_come_starts_a_job_named_after_its_minute() -> None:
    found = plan(cron())
    assert found.start == parse_time("2026-01-03T12:00:00Z")
    assert found.next == parse_time("2026-01-03T13:00:00Z")
    assert job_name(cron(), NOON) == f"c-{int(NOON.timestamp()) // 60}"


@pytest.mark.parametrize(
    "of",
    [
        cron(last="2026-01-03T12:00:00Z"),
        cron(created="2026-01-03T12:00:03Z"),
        cron(suspend=True),
        cron(active=("c-29457360",)),
        cron(startingDeadlineSeconds=3),
    ],
)
def test_nothing_starts_otherwise(of: CronJob) -> None:
    assert plan(of, child("c-29457360")).start is None


def test_of_missed_moments_only_the_latest_counts() -> None:
    of = cron(last="2026-01-03T05:00:00Z")
    assert plan(of).start == parse_time("2026-01-03T12:00:00Z")
    uneven = parse_schedule("0,10 9,12 * * *")
    assert latest_due(cron(last="2026-01-02T00:00:00Z"), uneven, NOON)[0] == parse_time("2026-01-03T12:00:00Z")


def test_very_many_missed_moments_are_told_of() -> None:
    assert "TooManyMissedTimes" in reasons(plan(cron(last="2025-01-03T05:00:00Z")))


@pytest.mark.parametrize(
    ("policy", "starts", "replaced"),
    [("Allow", True, []), ("Forbid", False, []), ("Replace", True, ["running"])],
)
def test_a_job_that_still_runs_is_left_waited_for_or_replaced(policy: str, starts: bool, replaced: list[str]) -> None:
    found = plan(cron(active=("running",), concurrencyPolicy=policy), child("running"))
    assert (found.start is not None, [each.name for each in found.replace]) == (starts, replaced)
    assert ("JobAlreadyActive" in reasons(found)) == (policy == "Forbid")


def test_jobs_that_ended_or_vanished_leave_the_active_list() -> None:
    of = cron(active=("done", "broken", "gone", "on"), last="2026-01-03T12:00:00Z")
    found = plan(of, child("done", ended="Complete"), child("broken", ended="Failed"), child("on"))
    assert [each.name for each in found.status.active] == ["on"]
    assert found.status.last_successful_time == "2026-01-03T11:40:00Z"
    assert reasons(found) == ["SawCompletedJob", "SawCompletedJob", "MissingJob"]


def test_the_oldest_ended_jobs_beyond_the_limits_go() -> None:
    of = cron(last="2026-01-03T12:00:00Z", successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0)
    found = plan(
        of,
        child("new", ended="Complete", at="2026-01-03T11:00:00Z"),
        child("old", ended="Complete", at="2026-01-03T10:00:00Z"),
        child("bad", ended="Failed"),
        child("on"),
    )
    assert {each.metadata.name for each in found.forget} == {"old", "bad"}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"schedule": "rubbish"}, "UnparseableSchedule"),
        ({"timeZone": "No/Where"}, "UnparseableSchedule"),
        ({"schedule": "0 0 31 2 *"}, "InvalidSchedule"),
    ],
)
def test_a_schedule_that_makes_no_sense_is_told_of(spec: dict[str, Any], reason: str) -> None:
    found = plan(cron(**spec))
    assert (found.start, reasons(found)) == (None, [reason])
