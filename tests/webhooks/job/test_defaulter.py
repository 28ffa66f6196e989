"""CREATE of a Job."""

from typing import Any

import pytest

from api.constants import (
    DISRUPTION_MODE,
    ELASTIC,
    GATE,
    GATE_POD_GROUP,
    KUEUE_QUEUE,
    MANAGED,
    MIN_COUNT,
    POD_GROUP,
    POD_GROUP_UID,
    POLICY,
    PROVIDER,
    TOPOLOGY,
)
from providers.selection import standard_providers
from tests.webhooks.builders import Object, job, owner, patched, request
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.review import Response
from webhooks.job.defaulter import IGNORE_DISRUPTIONS, default_job

COPIED: dict[str, Any] = {
    "template_labels": {MANAGED: "embedded"},
    "template_annotations": {POD_GROUP: "g", POD_GROUP_UID: "u", "x": "y"},
}


def admit(new: Object, *, add_pod_failure_policy: bool = True, scheduler_name: str = "tutti") -> Response:
    providers = standard_providers(scheduler_name=scheduler_name)
    return default_job(request(new), AdmissionConfig(providers, add_pod_failure_policy=add_pod_failure_policy))


def admitted(new: Object, **settings: Any) -> Object:
    """The Job as stored; a second pass of the webhook must change nothing."""
    stored = patched(new, admit(new, **settings))
    assert admit(stored, **settings).patch == ()
    return stored


def gate_of(stored: Object) -> str | None:
    value = stored["metadata"].get("annotations", {}).get(GATE)
    assert value is None or isinstance(value, str)
    return value


def label_of(stored: Object) -> str | None:
    value = stored["spec"]["template"].get("metadata", {}).get("labels", {}).get(MANAGED)
    assert value is None or isinstance(value, str)
    return value


def test_a_gang_is_marked_and_held_until_its_group_exists() -> None:
    stored = admitted(job())
    assert stored["spec"]["suspend"] is True
    assert gate_of(stored) == GATE_POD_GROUP
    assert label_of(stored) == "embedded"
    assert stored["spec"]["template"]["spec"]["schedulerName"] == "tutti"


def test_the_scheduler_name_is_the_configured_one() -> None:
    stored = admitted(job(), scheduler_name="acme")
    assert stored["spec"]["template"]["spec"]["schedulerName"] == "acme"


def test_a_job_its_user_suspended_gets_no_gate() -> None:
    stored = admitted(job(suspend=True))
    assert stored["spec"]["suspend"] is True
    assert gate_of(stored) is None
    assert label_of(stored) == "embedded"


@pytest.mark.parametrize("suspended", [True, False])
def test_a_job_with_a_queue_is_gated_only_if_kueue_let_it_through(suspended: bool) -> None:
    stored = admitted(job(labels={KUEUE_QUEUE: "team"}, suspend=suspended))
    assert gate_of(stored) == (None if suspended else GATE_POD_GROUP)


def test_a_job_that_does_not_say_whether_it_is_suspended_is_held() -> None:
    new = job()
    del new["spec"]["suspend"]
    assert admitted(new)["spec"]["suspend"] is True


@pytest.mark.parametrize(
    ("described", "new"),
    [
        ("not indexed", job(indexed=False)),
        ("one pod", job(parallelism=1, completions=1)),
        ("more work than pods", job(completions=6)),
        ("no completions", job(completions=None)),
        ("parallelism left out", job(parallelism=None, completions=1)),
        ("opted out", job(annotations={POLICY: "none"})),
        ("child of a JobSet", job(owners=[owner("JobSet")])),
        ("run by somebody else", job(managedBy="kueue.x-k8s.io/multikueue")),
        ("a group of its own", job(template_spec={"schedulingGroup": {"podGroupName": "mine"}})),
        ("a hand-made group", job(template_annotations={POD_GROUP: "mine"})),
        ("another scheduler", job(scheduler_name="somebody-else")),
    ],
)
def test_a_job_that_is_no_gang_stays_as_it_is(described: str, new: Object) -> None:
    assert admit(new) == Response(), described


@pytest.mark.parametrize(
    "new",
    [
        job(annotations={POLICY: "gang"}, indexed=False),
        job(annotations={POLICY: "gang"}, completions=6),
        job(annotations={POLICY: "basic"}, indexed=False),
        job(owners=[owner("CronJob")]),
        job(owners=[owner("JobSet", controller=False)]),
        job(managedBy="kubernetes.io/job-controller"),
        job(annotations={PROVIDER: "embedded", MIN_COUNT: "2", TOPOLOGY: "zone", ELASTIC: "true"}),
    ],
)
def test_jobs_that_ask_for_it_are_taken_in(new: Object) -> None:
    assert label_of(admitted(new)) == "embedded"


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        (POLICY, "gangs", "gang, basic, none"),
        (POLICY, "", "gang, basic, none"),
        (MIN_COUNT, "0", "from 1 to 3"),
        (MIN_COUNT, "-1", "from 1 to 3"),
        (MIN_COUNT, "abc", "from 1 to 3"),
        (MIN_COUNT, "4", "from 1 to 3"),
        (MIN_COUNT, "9" * 5000, "from 1 to 3"),
        (PROVIDER, "volcan", "embedded"),
        (DISRUPTION_MODE, "most", "all, single"),
        (ELASTIC, "yes", "true, false"),
        (TOPOLOGY, "a b", "topology.kubernetes.io/rack"),
    ],
)
def test_unusable_settings_are_refused_by_name_and_with_what_would_do(key: str, value: str, allowed: str) -> None:
    response = admit(job(annotations={key: value}))
    assert not response.allowed
    assert response.code == 422
    assert f"metadata.annotations[{key}]" in response.message
    assert allowed in response.message
    assert len(response.message) < 300


def test_a_provider_that_contradicts_the_scheduler_is_refused() -> None:
    response = admit(job(annotations={PROVIDER: "embedded"}, scheduler_name="somebody-else"))
    assert not response.allowed
    assert "leave schedulerName out" in response.message


def test_a_policy_that_has_no_effect_is_told() -> None:
    response = admit(job(annotations={POLICY: "gang"}, scheduler_name="somebody-else"))
    assert response.allowed
    assert "names the scheduler somebody-else" in response.warnings[0]


def test_preempted_pods_do_not_count_as_failures() -> None:
    stored = admitted(job())
    assert stored["spec"]["podFailurePolicy"] == IGNORE_DISRUPTIONS
    assert stored["spec"]["podReplacementPolicy"] == "Failed"


@pytest.mark.parametrize(
    "untouched",
    [
        job(restart_policy="OnFailure"),
        job(podFailurePolicy={"rules": []}),
    ],
)
def test_a_failure_policy_is_added_only_where_it_is_legal_and_missing(untouched: Object) -> None:
    before = untouched["spec"].get("podFailurePolicy")
    stored = admitted(untouched)
    assert stored["spec"].get("podFailurePolicy") == before
    assert stored["spec"]["podReplacementPolicy"] == "TerminatingOrFailed"


def test_the_failure_policy_can_be_switched_off() -> None:
    assert "podFailurePolicy" not in admitted(job(), add_pod_failure_policy=False)["spec"]


def test_a_copy_of_a_running_gang_becomes_a_gang_of_its_own() -> None:
    stored = admitted(job(**COPIED))
    assert stored["spec"]["template"]["metadata"]["annotations"] == {"x": "y"}
    assert label_of(stored) == "embedded"
    assert gate_of(stored) == GATE_POD_GROUP


def test_a_copy_of_a_gated_gang_is_gated_and_not_suspended_for_ever() -> None:
    stored = admitted(job(**COPIED, suspend=True, annotations={GATE: GATE_POD_GROUP}))
    assert gate_of(stored) == GATE_POD_GROUP
    assert POD_GROUP not in stored["spec"]["template"]["metadata"]["annotations"]


def test_a_gate_that_is_none_of_ours_is_taken_off() -> None:
    assert gate_of(admitted(job(suspend=True, annotations={GATE: "other"}))) is None


@pytest.mark.parametrize(
    "shape", [{"parallelism": 1}, {"scheduler_name": "somebody-else"}, {"annotations": {POLICY: "none"}}]
)
def test_a_copy_that_is_no_gang_is_freed_of_everything_of_ours(shape: dict[str, Any]) -> None:
    new = job(**COPIED, **shape, suspend=True)
    new["metadata"].setdefault("annotations", {})[GATE] = GATE_POD_GROUP
    stored = admitted(new)
    assert label_of(stored) is None
    assert stored["spec"]["template"]["metadata"]["annotations"] == {"x": "y"}
    assert gate_of(stored) is None
    assert stored["spec"]["suspend"] is False
