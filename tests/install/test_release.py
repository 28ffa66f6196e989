"""What uninstalling does to users' objects, as patches."""

from typing import Any

import pytest

from install.release import opening_patch, resuming_patch, unowned_patch, unprotected_patch

MANAGED = "tutti.scheduler/managed"
GATE = "tutti.scheduler/gate"
OWNER = {"kind": "Job", "apiVersion": "batch/v1", "name": "j", "uid": "1", "controller": True}
GROUP = {"kind": "PodGroup", "apiVersion": "tutti.scheduler/v1beta1", "name": "g", "uid": "2"}


def job(*, annotations: dict[str, str] | None = None, scheduler: str = "tutti", **status: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {MANAGED: "embedded", "app": "x"}}, "spec": {"schedulerName": scheduler}}
    return {"metadata": {"annotations": annotations}, "spec": {"suspend": True, "template": template}, "status": status}


def test_a_gated_job_is_resumed_and_its_pods_are_nobodys_gang() -> None:
    assert opening_patch(job(annotations={GATE: "pod-group", "mine": "1"})) == {
        "metadata": {"annotations": {GATE: None}},
        "spec": {"suspend": False, "template": {"metadata": {"labels": {MANAGED: None}}}},
    }


def test_a_job_that_refuses_a_changed_template_is_resumed_all_the_same() -> None:
    patch = opening_patch(job(annotations={GATE: "pod-group"}), template_too=False)
    assert patch == {"metadata": {"annotations": {GATE: None}}, "spec": {"suspend": False}}


def test_a_job_that_kueue_has_queued_behind_the_admission_policy_stays_suspended_for_kueue() -> None:
    """config/components/hold-gangs suspends no Job that has a queue: this one got it from Kueue's webhook."""
    held = job(annotations={GATE: "pod-group", "tutti.scheduler/held": "policy"})
    held["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "default"}
    patch = opening_patch(held)
    assert patch is not None
    assert patch["metadata"] == {"annotations": {GATE: None}}
    assert "suspend" not in patch["spec"]


@pytest.mark.parametrize("annotations", [None, {}, {"tutti.scheduler/policy": "gang"}])
def test_a_job_that_its_user_suspended_stays_suspended(annotations: dict[str, str] | None) -> None:
    assert opening_patch(job(annotations=annotations)) is None


def given_up(mark: str, *, generation: int = 4, suspend: bool = True) -> dict[str, Any]:
    found = job(annotations={"tutti.scheduler/suspended": mark, "mine": "1"})
    found["metadata"] |= {"uid": "u", "generation": generation}
    found["spec"]["suspend"] = suspend
    return found


def test_a_job_that_we_suspended_when_it_gave_up_is_resumed() -> None:
    assert resuming_patch(given_up("u/4")) == {
        "metadata": {"annotations": {"tutti.scheduler/suspended": None}},
        "spec": {"suspend": False},
    }


@pytest.mark.parametrize(
    "found",
    [
        given_up("u/4", generation=6),
        given_up("u/4", suspend=False),
        given_up("other/4"),
        given_up(""),
        {"metadata": {"uid": "u", "generation": 4}, "spec": {"suspend": True}},
    ],
    ids=["resumed and suspended again", "resumed", "copied", "nothing", "no mark"],
)
def test_a_job_that_somebody_has_resumed_or_changed_since_stays_as_it_is(found: dict[str, Any]) -> None:
    assert resuming_patch(found) is None


def test_a_pod_keeps_its_other_owners() -> None:
    assert unowned_patch({"metadata": {"ownerReferences": [OWNER, GROUP]}}) == {
        "metadata": {"ownerReferences": [OWNER]}
    }


@pytest.mark.parametrize("owners", [None, [], [OWNER], [{**GROUP, "apiVersion": "scheduling.k8s.io/v1beta1"}]])
def test_a_pod_without_a_group_of_ours_is_left_alone(owners: list[dict[str, Any]] | None) -> None:
    assert unowned_patch({"metadata": {"ownerReferences": owners}}) is None


def test_only_the_protection_finalizer_is_taken_off() -> None:
    finalizers = ["a/b", "scheduling.k8s.io/podgroup-protection", "foregroundDeletion"]
    assert unprotected_patch({"metadata": {"finalizers": finalizers}}) == {
        "metadata": {"finalizers": ["a/b", "foregroundDeletion"]}
    }
    assert unprotected_patch({"metadata": {"finalizers": ["a/b"]}}) is None
