"""What a hollow kubelet does with a pod, step by step."""

import msgspec
import pytest

from localcluster.lifecycle import EXIT_CODE, RUN_SECONDS, Action, HollowPod, Step, next_step
from localcluster.podstatus import ended_patch, running_patch

NOW = "2026-01-02T03:04:05Z"


def pod(
    phase: str = "Pending",
    *,
    annotations: dict[str, str] | None = None,
    grace_seconds: int | None = None,
    finalizers: tuple[str, ...] = (),
    init_containers: list[dict[str, str]] | None = None,
) -> HollowPod:
    metadata: dict[str, object] = {"namespace": "ns", "name": "p", "uid": "u", "annotations": annotations or {}}
    metadata["finalizers"] = finalizers
    if grace_seconds is not None:
        metadata.update(deletionTimestamp=NOW, deletionGracePeriodSeconds=grace_seconds)
    containers = [{"name": "main", "image": "i"}]
    spec = {"nodeName": "n", "containers": containers, "initContainers": init_containers or []}
    status = {"phase": phase, "podIP": "10.0.0.9"}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, HollowPod)


def test_a_bound_pod_is_run() -> None:
    assert next_step(pod(), ran_seconds=0).action is Action.RUN


def test_a_pod_without_an_end_runs_for_ever() -> None:
    assert next_step(pod("Running"), ran_seconds=1e9).action is Action.NOTHING


def test_a_pod_waits_for_its_end_and_then_ends() -> None:
    running = pod("Running", annotations={RUN_SECONDS: "3"})
    assert next_step(running, ran_seconds=1) == Step(Action.WAIT, seconds=2)
    assert next_step(running, ran_seconds=3) == Step(Action.END, exit_code=0)


def test_a_pod_ends_with_the_exit_code_it_is_given() -> None:
    failing = pod("Running", annotations={RUN_SECONDS: "0", EXIT_CODE: "7"})
    assert next_step(failing, ran_seconds=0) == Step(Action.END, exit_code=7)


@pytest.mark.parametrize("value", ["soon", "", "nan", "inf"])
def test_a_number_that_is_none_counts_as_absent(value: str) -> None:
    assert next_step(pod("Running", annotations={RUN_SECONDS: value}), ran_seconds=1e9).action is Action.NOTHING


@pytest.mark.parametrize("phase", ["Pending", "Running"])
def test_a_deleted_pod_is_killed_before_it_is_removed(phase: str) -> None:
    assert next_step(pod(phase, grace_seconds=30), ran_seconds=0) == Step(Action.KILL, exit_code=137)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_deleted_pod_that_has_ended_is_removed(phase: str) -> None:
    assert next_step(pod(phase, grace_seconds=30), ran_seconds=0) == Step(Action.REMOVE)


def test_a_removal_takes_a_moment_and_is_asked_for_again_when_the_pod_is_still_there() -> None:
    leaving = pod("Failed", grace_seconds=0)
    assert next_step(leaving, ran_seconds=0, terminating_seconds=2) == Step(Action.WAIT, seconds=3)
    assert next_step(leaving, ran_seconds=0, terminating_seconds=5) == Step(Action.REMOVE)


def test_what_finalizers_of_others_hold_is_not_removed_again() -> None:
    held = pod("Failed", grace_seconds=0, finalizers=("batch.kubernetes.io/job-tracking",))
    assert next_step(held, ran_seconds=0, terminating_seconds=60) == Step(Action.NOTHING)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_is_left_alone(phase: str) -> None:
    assert next_step(pod(phase, annotations={RUN_SECONDS: "0"}), ran_seconds=9).action is Action.NOTHING


def test_every_patch_names_the_pods_uid() -> None:
    assert running_patch(pod(), pod_ip="10.0.0.9", host_ip="10.0.0.1", now=NOW)["metadata"] == {"uid": "u"}
    assert ended_patch(pod("Running"), exit_code=0, now=NOW)["metadata"] == {"uid": "u"}


def test_a_running_pod_is_ready_with_an_address() -> None:
    status = running_patch(pod(), pod_ip="10.0.0.9", host_ip="10.0.0.1", now=NOW)["status"]
    assert {condition["type"]: condition["status"] for condition in status["conditions"]}["Ready"] == "True"
    assert status["podIPs"] == [{"ip": status["podIP"]}]
    assert status["containerStatuses"][0]["state"] == {"running": {"startedAt": NOW}}


def test_plain_init_containers_have_ended_when_sidecars_run() -> None:
    inits = [{"name": "setup", "image": "i"}, {"name": "proxy", "image": "i", "restartPolicy": "Always"}]
    status = running_patch(pod(init_containers=inits), pod_ip="10.0.0.9", host_ip="10.0.0.1", now=NOW)["status"]
    states = {each["name"]: next(iter(each["state"])) for each in status["initContainerStatuses"]}
    assert states == {"setup": "terminated", "proxy": "running"}


@pytest.mark.parametrize(("exit_code", "phase"), [(0, "Succeeded"), (1, "Failed"), (137, "Failed")])
def test_an_ended_pod_tells_its_exit_code(exit_code: int, phase: str) -> None:
    status = ended_patch(pod("Running"), exit_code=exit_code, now=NOW)["status"]
    assert status["phase"] == phase
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == exit_code
    assert not status["containerStatuses"][0]["ready"]


def test_patches_never_mention_the_conditions_of_others() -> None:
    ours = {"Ready", "ContainersReady", "Initialized", "PodReadyToStartContainers"}
    for patch in (
        running_patch(pod(), pod_ip="10.0.0.9", host_ip="10.0.0.1", now=NOW),
        ended_patch(pod("Running"), exit_code=0, now=NOW),
    ):
        assert {condition["type"] for condition in patch["status"]["conditions"]} <= ours
