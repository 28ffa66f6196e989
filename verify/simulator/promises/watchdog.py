"""What holds at every moment of a run, and what is known of its groups at the end. Nothing is asked of the product."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from api.constants import (
    CONDITION_DISRUPTION_TARGET,
    CONDITION_PREEMPTED_BY,
    DEFAULT_SCHEDULER_NAME,
    POD_GROUP,
    REASON_GANG_RESTART,
)
from api.quantity import parse_milli
from kube.client.connection import Request
from localcluster.apiserver.store.memory import Event, Store
from verify.simulator.loop import Process
from verify.simulator.promises.objects import GROUPS, NODES, PODS, Object, has_ended, used_on

BIND_SECONDS: Final = 30.0
"""Longer than it takes to write binds, shorter than the time after which a gang that is not whole is given up."""

UNTOLD_SECONDS: Final = 200.0
"""What others have changed may be unknown to a scheduler for so long: a watch that is silent is doubted after 75 s."""

CALM_UNTOLD_SECONDS: Final = 12.0
"""The same where no watch is silent: longer than processes are stopped, shorter than gangs miss members before they start anew."""


@dataclass
class _Group:
    minimum: int
    since: float = 0.0
    """When its first member was bound."""
    bound: set[str] = field(default_factory=set)
    """Members that run or have succeeded."""
    running: set[str] = field(default_factory=set)
    was_satisfied: bool = False
    lost: bool = False
    left_behind: float | None = None
    """When its owner went without it. Nobody makes its pods anew since."""


class Watchdog:
    """Checks what holds at every moment. `violations` grows.

    Args:
        store: the server's.
        clock: monotonic seconds.
        untold_seconds: for how long schedulers may not know that an owner has left its gang behind.
    """

    def __init__(self, store: Store, clock: Callable[[], float], untold_seconds: float = UNTOLD_SECONDS) -> None:
        self.violations: list[str] = []
        self.binds = 0
        self.starts = 0
        self.evictions = 0
        self._store = store
        self._clock = clock
        self._untold_seconds = untold_seconds
        self._groups: dict[str, _Group] = {}
        self._told: dict[str, float] = {}
        self._bound_once: set[str] = set()
        self._given_up: list[str] = []
        self._preemptors: dict[str, str] = {}
        store.subscribe(PODS, self._pod_changed)
        store.subscribe(NODES, self._node_changed)
        store.subscribe(GROUPS, self._group_changed)

    # --- I2: no node over-committed by us -----------------------------------------------------------------------------

    def _node_changed(self, event: Event) -> None:
        self._told[event.new.obj["metadata"]["name"]] = self._clock()

    def _pod_changed(self, event: Event) -> None:
        old, new = event.old.obj if event.old is not None else None, event.new.obj
        node = new["spec"].get("nodeName") or ""
        was = old["spec"].get("nodeName") if old is not None else None
        if event.type != "DELETED" and node and not was:
            self._bound(new, node)
        if _leaves_for_restart(new) and not (old is not None and _leaves_for_restart(old)):
            self._left_for_restart(new)
        if event.type == "DELETED" or has_ended(new):
            self._ended(new)

    def _bound(self, pod: Object, node: str) -> None:
        uid = pod["metadata"]["uid"]
        if pod["spec"].get("schedulerName") != DEFAULT_SCHEDULER_NAME:
            self._told[node] = self._clock()
            return
        self.binds += 1
        if uid in self._bound_once:
            self.violations.append(f"I7: pod {pod['metadata']['name']} was bound twice")
        self._bound_once.add(uid)
        group = self._group_of(pod)
        if group is not None:
            if not group.bound:
                group.since = self._clock()
            group.bound.add(uid)
            group.running.add(uid)
            if len(group.bound) >= group.minimum and not group.was_satisfied:
                group.was_satisfied = True
                self.starts += 1
        if self._clock() - self._told.get(node, 0.0) > UNTOLD_SECONDS or not self._told.get(node):
            self._check_room(node)

    def _check_room(self, node: str) -> None:
        found = self._store.get(NODES, "", node)
        if found is None:
            return
        room = {name: parse_milli(text) for name, text in found.obj["status"]["allocatable"].items()}
        for name, taken in used_on(self._store, node).items():
            if taken > room.get(name, 0):
                self.violations.append(f"I2: {node} is over-committed: {taken} of {room.get(name, 0)} {name} (milli)")

    # --- I1: groups ---------------------------------------------------------------------------------------------------

    def _group_changed(self, event: Event) -> None:
        uid = event.new.obj["metadata"]["uid"]
        asked_before = _preemptor(event.old.obj) if event.old is not None else ""
        asked = _preemptor(event.new.obj)
        if asked and asked != asked_before:
            self.evictions += 1
            self._preemptors[asked] = event.new.obj["metadata"]["name"]
        if event.type == "DELETED":
            self._groups.pop(uid, None)
            return
        minimum = (event.new.obj["spec"].get("schedulingPolicy", {}).get("gang") or {}).get("minCount", 1)
        known = self._groups.setdefault(uid, _Group(minimum))
        known.minimum = minimum
        if event.old is not None and _has_controller(event.old.obj) and not _has_controller(event.new.obj):
            known.left_behind = self._clock()

    def _group_of(self, pod: Object) -> _Group | None:
        name = (pod["metadata"].get("annotations") or {}).get(POD_GROUP)
        found = self._store.get(GROUPS, pod["metadata"]["namespace"], name) if name else None
        return self._groups.get(found.obj["metadata"]["uid"]) if found is not None else None

    def _ended(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        has_succeeded = pod.get("status", {}).get("phase") == "Succeeded"
        for group_uid, group in self._groups.items():
            if uid not in group.running:
                continue
            group.running.discard(uid)
            seconds = self._clock() - group.since
            is_partial = not (group.was_satisfied or group.lost) and seconds > BIND_SECONDS
            if is_partial and not (has_succeeded and group.running):
                self._given_up.append(f"I1: {_partial(group_uid, group)}, for {seconds:.0f} s")
            if not has_succeeded:
                group.bound.discard(uid)
                group.lost = True

    def partial_groups(self) -> Iterator[str]:
        """Gangs some of whose members hold their places, fewer than have to be are bound, and none was lost since.

        Not those that were left behind: the others may be missing for good.
        """
        for uid, group in self._groups.items():
            is_excused = group.was_satisfied or group.lost or group.left_behind is not None
            if not is_excused and group.running and len(group.bound) < group.minimum:
                yield f"I1: {_partial(uid, group)}"

    def given_up(self) -> Iterator[str]:
        """Gangs that were begun and have left, or ended their work, without the others: only a disturbance may cause that."""
        yield from self._given_up

    # --- I3: no eviction whose preemptor does not start -----------------------------------------------------------------

    def wasted_evictions(self) -> Iterator[str]:
        """Groups that had to leave for a group that is still there, has never started, and waits."""
        waiting = {
            (each.obj["metadata"].get("annotations") or {}).get(POD_GROUP)
            for each in self._store.list(PODS)
            if not each.obj["spec"].get("nodeName") and not has_ended(each.obj)
        }
        for reference, victim in self._preemptors.items():
            name, uid = reference.split("/")[1:]
            group = self._groups.get(uid)
            is_hopeful = group is not None and not group.was_satisfied and group.left_behind is None
            if is_hopeful and name in waiting:
                yield f"I3: {victim} had to leave for {name}, which has not started"

    def _left_for_restart(self, pod: Object) -> None:
        """Nothing starts anew that nobody makes anew."""
        group = self._group_of(pod)
        left_behind = group.left_behind if group is not None else None
        if left_behind is not None and self._clock() - left_behind > self._untold_seconds:
            self.violations.append(f"I3: pod {pod['metadata']['name']} left for a restart, and nobody makes it anew")

    # --- requests -----------------------------------------------------------------------------------------------------

    def requested(self, process: Process, request: Request, status: int) -> None:
        """A write reached the server."""
        if not process.name.startswith("scheduler"):
            return
        if request.method == "DELETE" and status < 300:
            self.evictions += 1
        if status == 403:
            self.violations.append(f"{request.name} was forbidden")
        if status == 422 and not self._is_about_a_former(request):
            self.violations.append(f"{request.name} was invalid: {(request.data or b'')[:300].decode()}")

    def _is_about_a_former(self, request: Request) -> bool:
        """Whether the request names the UID of a pod that another one has taken the name of: refusing it is what the UID is for."""
        namespace, _, rest = request.path.partition("/namespaces/")[2].partition("/pods/")
        found = self._store.get(PODS, namespace, rest.partition("/")[0])
        return (
            found is not None
            and b'"uid":"' in (request.data or b"")
            and found.obj["metadata"]["uid"].encode() not in (request.data or b"")
        )


def _partial(uid: str, group: _Group) -> str:
    return f"of group {uid} {len(group.bound)} members are bound, {group.minimum} have to be"


def _preemptor(group: Object) -> str:
    """Namespace, name and UID of the group for which this one was asked to leave; "" when it was not."""
    for each in group.get("status", {}).get("conditions") or []:
        if each["type"] == CONDITION_PREEMPTED_BY and each["status"] == "True" and each["reason"] == "PodGroup":
            return str(each["message"])
    return ""


def _leaves_for_restart(pod: Object) -> bool:
    return any(
        each["type"] == CONDITION_DISRUPTION_TARGET and each.get("reason") == REASON_GANG_RESTART
        for each in pod.get("status", {}).get("conditions") or []
    )


def _has_controller(group: Object) -> bool:
    return any(owner.get("controller") for owner in group["metadata"].get("ownerReferences") or [])
