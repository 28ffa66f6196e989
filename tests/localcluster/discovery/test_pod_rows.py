"""The word in which a pod's row tells what it is doing."""

from typing import Any

import pytest

from tests.localcluster.discovery.kinds import POD, Object, metadata, row, table

RUNNING: Object = {"state": {"running": {}}, "ready": True, "restartCount": 0}
WAITING: Object = {"state": {"waiting": {"reason": "ContainerCreating"}}}


def ended(code: int = 0, reason: str = "", signal: int = 0) -> Object:
    """The status of a container that ended."""
    return {"state": {"terminated": {"exitCode": code, "reason": reason, "signal": signal}}}


def pod(phase: str, *main: Object, init: tuple[Object, ...] = (), sidecar: bool = False, **status: Any) -> Object:
    """A pod whose containers have these statuses."""
    names = [{"name": f"c{number}"} for number in range(max(1, len(main)))]
    inits = [{"name": f"i{number}", **({"restartPolicy": "Always"} if sidecar else {})} for number in range(len(init))]
    return {
        "metadata": metadata(),
        "spec": {"containers": names, "initContainers": inits},
        "status": {
            "phase": phase,
            "containerStatuses": [{"name": f"c{number}", **each} for number, each in enumerate(main)],
            "initContainerStatuses": [{"name": f"i{number}", **each} for number, each in enumerate(init)],
            **status,
        },
    }


GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
READY = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize(
    ("made", "ready", "word"),
    [
        (pod("Pending"), "0/1", "Pending"),
        (pod("Pending", conditions=[GATED]), "0/1", "SchedulingGated"),
        (pod("Pending", WAITING), "0/1", "ContainerCreating"),
        (pod("Running", RUNNING, RUNNING), "2/2", "Running"),
        (pod("Running", RUNNING, ended(reason="Error")), "1/2", "Error"),
        (pod("Running", ended(reason="Completed"), RUNNING, conditions=[READY]), "1/2", "Running"),
        (pod("Running", ended(reason="Completed"), RUNNING), "1/2", "NotReady"),
        (pod("Succeeded", ended(reason="Completed")), "0/1", "Completed"),
        (pod("Failed", ended(3)), "0/1", "ExitCode:3"),
        (pod("Failed", ended(137, signal=9)), "0/1", "Signal:9"),
        (pod("Failed", ended(1, "Error")), "0/1", "Error"),
        (pod("Failed", reason="Evicted"), "0/1", "Evicted"),
        (pod("Pending", WAITING, init=(RUNNING, WAITING)), "0/1", "Init:0/2"),
        (pod("Pending", WAITING, init=(ended(), RUNNING)), "0/1", "Init:1/2"),
        (pod("Pending", WAITING, init=(ended(1, "Error"),)), "0/1", "Init:Error"),
        (pod("Pending", WAITING, init=(ended(2),)), "0/1", "Init:ExitCode:2"),
        (
            pod("Pending", WAITING, init=({"state": {"waiting": {"reason": "CrashLoopBackOff"}}},)),
            "0/1",
            "Init:CrashLoopBackOff",
        ),
        (pod("Running", RUNNING, init=({**RUNNING, "started": True},), sidecar=True), "2/2", "Running"),
    ],
)
def test_the_status_is_one_word(made: Object, ready: str, word: str) -> None:
    cells = row(POD, made)
    assert (cells["Ready"], cells["Status"]) == (ready, word)


def deleted(made: Object) -> Object:
    """The pod, being deleted."""
    made["metadata"]["deletionTimestamp"] = "2027-01-15T07:59:00Z"
    return made


def test_a_deleted_pod_terminates_unless_it_has_ended() -> None:
    assert row(POD, deleted(pod("Running", RUNNING)))["Status"] == "Terminating"
    assert row(POD, deleted(pod("Failed", ended(1, "Error"))))["Status"] == "Error"
    assert row(POD, deleted(pod("Running", RUNNING, reason="NodeLost")))["Status"] == "Unknown"


def test_restarts_say_when_the_last_one_was() -> None:
    again = {**RUNNING, "restartCount": 2, "lastState": {"terminated": {"finishedAt": "2027-01-15T07:59:30Z"}}}
    assert row(POD, pod("Running", again, RUNNING))["Restarts"] == "2 (30s ago)"
    assert row(POD, pod("Running", {**RUNNING, "restartCount": 1}))["Restarts"] == "1"


def test_restarts_of_init_containers_count_while_the_pod_initializes() -> None:
    failing = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3}
    assert row(POD, pod("Pending", WAITING, init=(failing,)))["Restarts"] == "3"
    assert row(POD, pod("Running", RUNNING, init=({**ended(), "restartCount": 3},)))["Restarts"] == "0"


def test_wide_columns_say_where_the_pod_is() -> None:
    made = pod("Running", RUNNING, podIPs=[{"ip": "10.0.0.1"}], nominatedNodeName="n2", conditions=[READY])
    made["spec"] |= {"nodeName": "n1", "readinessGates": [{"conditionType": "Ready"}, {"conditionType": "Other"}]}
    cells = row(POD, made)
    assert [cells[name] for name in ("IP", "Node", "Nominated Node", "Readiness Gates")] == [
        "10.0.0.1",
        "n1",
        "n2",
        "1/2",
    ]
    bare = row(POD, pod("Pending"))
    assert {bare[name] for name in ("IP", "Node", "Nominated Node", "Readiness Gates")} == {"<none>"}


def test_rows_of_ended_pods_carry_a_condition() -> None:
    assert table(POD, pod("Failed"))["rows"][0]["conditions"][0]["reason"] == "Failed"
    assert "conditions" not in table(POD, pod("Running"))["rows"][0]


def test_a_pod_without_any_status_has_a_row() -> None:
    assert row(POD, {"metadata": {"name": "p"}, "spec": {}})["Age"] == "<unknown>"
