"""The pod row: what a pod is doing, told in one word.

The word is the pod's phase or its status reason, replaced by what its init containers wait for, then by what its
containers tell, then by the fact that it is being deleted; this order is the one of kube-apiserver.
"""

from typing import Any

from localcluster.apiserver.discovery.tables.age import age, moment
from localcluster.apiserver.discovery.tables.cells import (
    AGE,
    NAME,
    NONE,
    Cell,
    Column,
    Object,
    Printer,
    age_of,
    condition,
    condition_is_true,
    name_of,
    part,
    text,
)

TERMINAL = ("Succeeded", "Failed")
LOST_NODE = "NodeLost"
GATED = "SchedulingGated"

ROW_CONDITIONS = {
    "Succeeded": {
        "type": "Completed",
        "status": "True",
        "reason": "Succeeded",
        "message": "The pod has completed successfully.",
    },
    "Failed": {"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."},
}

COLUMNS = (
    NAME,
    text("Ready", "How many of the containers are ready, of how many."),
    text("Status", "What the pod is doing, in one word."),
    text("Restarts", "How often containers were started again, and when the last time."),
    AGE,
    Column("IP", priority=1, description="The address of the pod."),
    Column("Node", priority=1, description="The node the pod is bound to."),
    Column("Nominated Node", priority=1, description="The node where room is being made for the pod."),
    Column("Readiness Gates", priority=1, description="How many of the readiness gates are open, of how many."),
)


class _Containers:
    """A pod's container statuses, counted."""

    def __init__(self, pod: Object) -> None:
        spec, status = part(pod, "spec"), part(pod, "status")
        self.pod = pod
        self.sidecars = {
            each["name"] for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"
        }
        self.init_total = len(spec.get("initContainers") or ())
        self.total = len(spec.get("containers") or ()) + len(self.sidecars)
        self.init_statuses: list[Object] = status.get("initContainerStatuses") or []
        self.statuses: list[Object] = status.get("containerStatuses") or []
        self.ready = 0

    def init_word(self) -> str | None:
        """What the first unfinished init container waits for; None when all have finished."""
        for position, each in enumerate(self.init_statuses):
            state = each.get("state") or {}
            ended, waiting = state.get("terminated"), state.get("waiting")
            if ended and not ended.get("exitCode"):
                continue
            if each.get("name") in self.sidecars and each.get("started"):
                self.ready += bool(each.get("ready"))
                continue
            if ended:
                return "Init:" + _end(ended)
            if waiting and waiting.get("reason") and waiting["reason"] != "PodInitializing":
                return f"Init:{waiting['reason']}"
            return f"Init:{position}/{self.init_total}"
        return None

    def main_word(self, word: str) -> str:
        """What the containers tell, or the word as it was."""
        running = False
        for each in reversed(self.statuses):
            state = each.get("state") or {}
            ended, waiting = state.get("terminated"), state.get("waiting")
            if waiting and waiting.get("reason"):
                word = waiting["reason"]
            elif ended is not None:
                word = _end(ended)
            elif each.get("ready") and state.get("running") is not None:
                running = True
                self.ready += 1
        if word == "Completed" and running:
            return "Running" if condition_is_true(self.pod, "Ready") else "NotReady"
        return word

    def restarts(self, now: float, *, initializing: bool) -> str:
        """The number of restarts and the time since the last one; while the pod initializes, those of init containers."""
        sidecars = [each for each in self.init_statuses if each.get("name") in self.sidecars]
        counted = self._reached() if initializing else [*sidecars, *self.statuses]
        count = sum(int(each.get("restartCount") or 0) for each in counted)
        ends = [end for each in counted if (end := part(each, "lastState", "terminated").get("finishedAt"))]
        if not count or not ends:
            return str(count)
        return f"{count} ({age(max(ends, key=lambda end: moment(end) or 0.0), now)} ago)"

    def _reached(self) -> list[Object]:
        """The init containers up to the one that is not done."""
        reached: list[Object] = []
        for each in self.init_statuses:
            reached.append(each)
            ended = (each.get("state") or {}).get("terminated")
            started_sidecar = each.get("name") in self.sidecars and each.get("started")
            if not (ended and not ended.get("exitCode")) and not started_sidecar:
                break
        return reached


def _end(terminated: Object) -> str:
    """How a container ended: its reason, else its signal or exit code."""
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _first_word(pod: Object) -> str:
    status = part(pod, "status")
    scheduled = condition(pod, "PodScheduled")
    if scheduled and scheduled.get("reason") == GATED:
        return GATED
    return str(status.get("reason") or status.get("phase") or "")


def _deleted_word(pod: Object, word: str) -> str:
    if not pod["metadata"].get("deletionTimestamp"):
        return word
    status = part(pod, "status")
    if status.get("reason") == LOST_NODE:
        return "Unknown"
    return word if status.get("phase") in TERMINAL else "Terminating"


def _gates(pod: Object) -> str:
    gates: list[Any] = part(pod, "spec").get("readinessGates") or []
    open_ones = sum(condition_is_true(pod, gate["conditionType"]) for gate in gates)
    return f"{open_ones}/{len(gates)}" if gates else NONE


def pod_cells(pod: Object, now: float) -> list[Cell]:
    """One row: name, ready, status, restarts, age; address, node, nominated node, readiness gates."""
    status = part(pod, "status")
    counted = _Containers(pod)
    word = _first_word(pod)
    init_word = counted.init_word()
    initializing = init_word is not None and not condition_is_true(pod, "Initialized")
    word = init_word or word
    if not initializing:
        word = counted.main_word(word)
    addresses = status.get("podIPs") or []
    return [
        name_of(pod),
        f"{counted.ready}/{counted.total}",
        _deleted_word(pod, word),
        counted.restarts(now, initializing=initializing),
        age_of(pod, now),
        addresses[0].get("ip", NONE) if addresses else NONE,
        part(pod, "spec").get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(pod),
    ]


def _row_conditions(pod: Object) -> list[dict[str, str]]:
    found = ROW_CONDITIONS.get(part(pod, "status").get("phase", ""))
    return [dict(found)] if found else []


POD = Printer(COLUMNS, pod_cells, _row_conditions)
