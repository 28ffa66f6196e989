"""The preemption priority of a PodGroup is checked whenever it is said anew."""

import copy
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from api.constants import ALLOW_AS_PREEMPTION_PRIORITY, POLICY, PREEMPTION_PRIORITY_CLASS
from api.meta import Metadata
from api.priorityclass import PriorityClass
from providers.selection import standard_providers
from tests.lws.builders import lws
from tests.webhooks.builders import Object, job, patched, request
from tests.webhooks.test_manifests import is_sent
from tests.webhooks.test_podgroup import CLASSES as KNOWN
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.preemption_priority import FIELD
from webhooks.admission.review import Response
from webhooks.cronjob import validate_cron_job
from webhooks.job.defaulter import default_job
from webhooks.leaderworkerset import default_leader_worker_set
from webhooks.podgroup import validate_pod_group


def group(name: str | None, **spec: Any) -> Object:
    annotations = {} if name is None else {"annotations": {PREEMPTION_PRIORITY_CLASS: name}}
    return {
        "kind": "PodGroup",
        "metadata": {"name": "g", **annotations},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, **spec},
    }


def allowed(name: str, value: int) -> PriorityClass:
    return PriorityClass(metadata=Metadata(name=name, labels={ALLOW_AS_PREEMPTION_PRIORITY: "true"}), value=value)


CLASSES = (*KNOWN, allowed("gold", 2000), allowed("system-like", 2_000_001_000))


def response(name: str | None, **spec: Any) -> Response:
    return validate_pod_group(request(group(name, **spec)), classes=CLASSES)


@pytest.mark.parametrize(
    ("name", "priority"),
    [("high", 1000), ("gold", 2000), ("gold", 7), ("system-cluster-critical", 2_000_000_000), (None, 0)],
)
def test_a_class_of_the_groups_own_priority_or_one_that_is_allowed_is_taken(name: str | None, priority: int) -> None:
    assert response(name, priority=priority).allowed


def test_a_class_below_the_groups_own_priority_is_refused() -> None:
    found = response("high", priority=1001)
    assert not found.allowed
    assert found.message == (
        "metadata.annotations[tutti.scheduler/preemption-priority-class]: PriorityClass high has the value 1000, which is "
        "below 1001, the priority the group is scheduled with: groups could evict each other for ever"
    )


def test_a_class_above_the_groups_own_priority_is_refused_unless_an_administrator_allows_it() -> None:
    found = response("high", priority=7)
    assert found.code == 422
    assert found.message == (
        "metadata.annotations[tutti.scheduler/preemption-priority-class]: PriorityClass high has the value 1000, which is above "
        "7, the priority the group is scheduled with, and is not allowed for this: an administrator allows it by the label "
        "tutti.scheduler/allow-as-preemption-priority=true on the class"
    )


@pytest.mark.parametrize("name", ["system-cluster-critical", "system-like"])
def test_a_class_of_the_system_is_never_allowed(name: str) -> None:
    assert response(name, priority=0).message.endswith(
        "which is for the system: nobody could ever get the room of the group"
    )


# --- where it is said for groups to come ---------------------------------------------------------------------------------


def say(name: str, *, of_pods: str = "") -> Object:
    said = job(annotations={PREEMPTION_PRIORITY_CLASS: name})
    if of_pods:
        said["spec"]["template"]["spec"]["priorityClassName"] = of_pods
    return said


def judge_job(new: Object, classes: Iterable[PriorityClass] | None = CLASSES) -> Response:
    return default_job(request(new), AdmissionConfig(standard_providers(), classes=lambda: classes))


def judge_cron_job(new: Object) -> Response:
    cron = {
        "kind": "CronJob",
        "metadata": {"name": "c"},
        "spec": {"jobTemplate": {"metadata": new["metadata"], "spec": new["spec"]}},
    }
    return validate_cron_job(request(cron), providers=standard_providers(), classes=CLASSES)


def judge_set(new: Object, former: Object | None = None) -> Response:
    return default_leader_worker_set(
        request(new, former), AdmissionConfig(standard_providers(), classes=lambda: CLASSES)
    )


@pytest.mark.parametrize("judge", [judge_job, judge_cron_job])
def test_a_job_is_refused_where_its_user_sees_it(judge: Callable[[Object], Response]) -> None:
    assert judge(say("gold")).allowed
    assert judge(say("high", of_pods="high")).allowed
    for name, words in (
        ("high", "not allowed for this"),
        ("system-cluster-critical", "for the system"),
        ("nope", "was found"),
    ):
        told = judge(say(name))
        assert not told.allowed
        assert f"{FIELD}: " in told.message
        assert words in told.message
    assert "below 2000" in judge(say("high", of_pods="gold")).message


def test_a_plain_job_may_say_what_it_likes() -> None:
    plain = say("system-cluster-critical")
    plain["metadata"]["annotations"][POLICY] = "none"
    assert judge_job(plain).allowed


def test_before_the_classes_are_known_jobs_are_taken_and_their_groups_are_checked_later() -> None:
    assert judge_job(say("system-cluster-critical"), None).allowed


def test_a_leader_worker_set_is_refused_when_it_says_something_new() -> None:
    assert "not allowed for this" in judge_set(lws(annotations={PREEMPTION_PRIORITY_CLASS: "high"})).message
    assert judge_set(lws(annotations={PREEMPTION_PRIORITY_CLASS: "gold"})).allowed
    former = lws(annotations={PREEMPTION_PRIORITY_CLASS: "high"})
    former = patched(former, default_leader_worker_set(request(former), AdmissionConfig(standard_providers())))
    resized = copy.deepcopy(former)
    resized["spec"]["replicas"] = 9
    assert judge_set(resized, former).allowed
    resized["metadata"]["annotations"][PREEMPTION_PRIORITY_CLASS] = "system-cluster-critical"
    assert "for the system" in judge_set(resized, former).message


def test_a_class_that_does_not_exist_is_refused() -> None:
    found = response("nope", priority=0)
    assert found.code == 422
    assert found.message.endswith("no PriorityClass with name nope was found")


def test_before_the_classes_are_known_nothing_is_taken() -> None:
    assert validate_pod_group(request(group("high")), classes=None).code == 503


@pytest.mark.parametrize("entry", ["preemption-priority", "preemption-priority.built-in"])
def test_only_groups_that_say_something_new_are_asked_about(entry: str) -> None:
    name = f"{entry}.podgroups.tutti.scheduler"
    assert not is_sent(name, group(None))
    assert is_sent(name, group("high"))
    assert not is_sent(name, group("high", priority=1), group("high"))
    assert is_sent(name, group("high"), group("never"))
    assert is_sent(name, group("high"), group(None))
    assert not is_sent(name, group(None), group("high"))
