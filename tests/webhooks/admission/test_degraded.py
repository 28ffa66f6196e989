"""What is to be done about lost members is checked wherever it is said."""

import copy
from functools import partial

import pytest

from api.constants import DEGRADED, MANAGED_BY, MANAGED_BY_TUTTI, PREEMPTION_PRIORITY_CLASS, PROVIDER, REPAIR_TIMEOUT
from providers.selection import standard_providers
from tests.lws.builders import lws
from tests.webhooks.builders import Object, job, request
from tests.webhooks.test_manifests import is_sent
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.review import Response
from webhooks.cronjob import validate_cron_job
from webhooks.job.defaulter import default_job
from webhooks.leaderworkerset import default_leader_worker_set
from webhooks.podgroup import validate_pod_group

WRONG = {DEGRADED: "heal"}
REFUSED = f"metadata.annotations[{DEGRADED}]: 'heal' is not one of repair, restart, report"


def judge_job(annotations: dict[str, str]) -> Response:
    return default_job(request(job(annotations=annotations)), AdmissionConfig(standard_providers()))


def group(annotations: dict[str, str]) -> Object:
    return {
        "kind": "PodGroup",
        "metadata": {"name": "g", "annotations": annotations},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
    }


def test_on_a_job() -> None:
    assert judge_job(WRONG).message == REFUSED
    assert "such as 10m" in judge_job({REPAIR_TIMEOUT: "-1s"}).message
    assert judge_job({DEGRADED: "restart", REPAIR_TIMEOUT: "30m"}).allowed


def test_on_the_jobs_of_a_cron_job() -> None:
    template = job(annotations=WRONG)
    cron = {
        "kind": "CronJob",
        "metadata": {"name": "c"},
        "spec": {"jobTemplate": {"metadata": template["metadata"], "spec": template["spec"]}},
    }
    told = validate_cron_job(request(cron), providers=standard_providers(), classes=())
    assert "is not one of repair, restart, report" in told.message


def test_on_a_leader_worker_set() -> None:
    config = AdmissionConfig(standard_providers())
    assert default_leader_worker_set(request(lws(annotations=WRONG)), config).message == REFUSED
    assert default_leader_worker_set(request(lws(annotations={DEGRADED: "restart"})), config).allowed


def test_on_a_group_made_by_hand_before_any_class_is_known() -> None:
    assert validate_pod_group(request(group(WRONG)), classes=None).message == REFUSED
    assert validate_pod_group(request(group({DEGRADED: "report"})), classes=None).allowed


def test_a_group_that_changes_it_is_not_asked_about_a_class_that_it_had_before() -> None:
    former = group({PREEMPTION_PRIORITY_CLASS: "gone-since"})
    now = copy.deepcopy(former)
    now["metadata"]["annotations"][DEGRADED] = "restart"
    assert validate_pod_group(request(now, former), classes=()).allowed


@pytest.mark.parametrize("entry", ["preemption-priority", "preemption-priority.built-in"])
def test_groups_that_say_it_anew_are_asked_about(entry: str) -> None:
    name = f"{entry}.podgroups.tutti.scheduler"
    for key in (DEGRADED, REPAIR_TIMEOUT):
        assert is_sent(name, group({key: "x"}))
        assert is_sent(name, group({key: "x"}), group({key: "y"}))
        assert is_sent(name, group({key: "x"}), group({}))
        assert not is_sent(name, group({key: "x"}), group({key: "x"}))
        assert not is_sent(name, group({}), group({key: "x"}))


@pytest.mark.parametrize("entry", ["preemption-priority", "preemption-priority.built-in"])
def test_groups_of_ours_need_no_server_for_what_was_checked_on_their_job(entry: str) -> None:
    name = f"{entry}.podgroups.tutti.scheduler"
    ours = {MANAGED_BY: MANAGED_BY_TUTTI, DEGRADED: "restart", REPAIR_TIMEOUT: "1m"}
    assert not is_sent(name, group(ours))
    assert is_sent(name, group({**ours, PREEMPTION_PRIORITY_CLASS: "high"}))


@pytest.mark.parametrize("key", [DEGRADED, REPAIR_TIMEOUT])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_wrong_word_on_a_job_that_is_no_gang_is_refused_too_and_other_jobs_are_not_sent(
    key: str, parallelism: int
) -> None:
    plain = partial(job, parallelism=parallelism, completions=9, indexed=False)
    wrong = plain(annotations={key: "heal"})
    assert is_sent("create.jobs.tutti.scheduler", wrong)
    told = default_job(request(wrong), AdmissionConfig(standard_providers()))
    assert not told.allowed
    assert told.message.startswith(f"metadata.annotations[{key}]: 'heal' is not ")
    for others in ({}, {"example.com/degraded": "heal"}, {"degraded": "repair", "repair-timeout": "x"}):
        assert not is_sent("create.jobs.tutti.scheduler", plain(annotations=others))


def test_another_scheduler_does_not_carry_it_out_which_is_a_warning() -> None:
    told = judge_job({PROVIDER: "volcano", DEGRADED: "restart"})
    assert told.warnings == (f"metadata.annotations[{DEGRADED}]: provider volcano does not observe it",)
