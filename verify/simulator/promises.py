"""The promises of a run, checked on the objects in the server's memory: some at every change, the others at rest.

Nothing is asked of the product here but what it says about itself (the recount of its cache). Amounts are added up anew.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from api.constants import CONDITION_PREEMPTED_BY, DEFAULT_SCHEDULER_NAME, GATE, MANAGED, MIN_RESOURCES, POD_GROUP
from api.quantity import parse_milli
from kube.client.connection import Request
from kube.groups.group_api import OWN
from localcluster.apiserver.store.memory import Event, Store
from verify.simulator.loop import Process

Object = dict[str, Any]
Resource = tuple[str, str]

PODS: Final[Resource] = ("", "pods")
NODES: Final[Resource] = ("", "nodes")
CLAIMS: Final[Resource] = ("", "persistentvolumeclaims")
JOBS: Final[Resource] = ("batch", "jobs")
SETS: Final[Resource] = ("leaderworkerset.x-k8s.io", "leaderworkersets")
GROUPS: Final[Resource] = (OWN.pod_groups.group, OWN.pod_groups.plural)
WORKLOADS: Final[Resource] = (OWN.workloads.group, OWN.workloads.plural)
ENDED: Final = frozenset({"Succeeded", "Failed"})
BIND_SECONDS: Final = 30.0
"""Longer than it takes to write binds, shorter than the time after which a gang that is not whole is given up."""

UNTOLD_SECONDS: Final = 200.0
"""What others have changed on a node may be unknown to a scheduler for so long: a watch that is silent is doubted after 75 s."""


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


class Watchdog:
    """Checks what holds at every moment. `violations` grows.

    Args:
        store: the server's.
        clock: monotonic seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self.violations: list[str] = []
        self.binds = 0
        self.starts = 0
        self.evictions = 0
        self._store = store
        self._clock = clock
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
        if event.type == "DELETED" or _has_ended(new):
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
        """Gangs some of whose members hold their places, fewer than have to be are bound, and none was lost since."""
        for uid, group in self._groups.items():
            if not group.was_satisfied and not group.lost and group.running and len(group.bound) < group.minimum:
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
            if not each.obj["spec"].get("nodeName") and not _has_ended(each.obj)
        }
        for reference, victim in self._preemptors.items():
            name, uid = reference.split("/")[1:]
            group = self._groups.get(uid)
            if group is not None and not group.was_satisfied and name in waiting:
                yield f"I3: {victim} had to leave for {name}, which has not started"

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


def used_on(store: Store, node: str) -> Counter[str]:
    """What the pods on a node ask for, in thousandths."""
    used: Counter[str] = Counter()
    for each in store.list(PODS):
        if each.obj["spec"].get("nodeName") == node and not _has_ended(each.obj):
            used.update(requests_of(each.obj))
    return used


def requests_of(pod: Object) -> dict[str, int]:
    """What one pod asks for, in thousandths."""
    asked: Counter[str] = Counter(pods=1000)
    for container in pod["spec"]["containers"]:
        for name, text in ((container.get("resources") or {}).get("requests") or {}).items():
            asked[name] += parse_milli(str(text))
    return dict(asked)


def _preemptor(group: Object) -> str:
    """Namespace, name and UID of the group for which this one was asked to leave; "" when it was not."""
    for each in group.get("status", {}).get("conditions") or []:
        if each["type"] == CONDITION_PREEMPTED_BY and each["status"] == "True" and each["reason"] == "PodGroup":
            return str(each["message"])
    return ""


def _has_ended(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") in ENDED


# --- at rest ----------------------------------------------------------------------------------------------------------


def at_rest(store: Store) -> Iterator[str]:
    """What should not be, when nothing happens any more."""
    yield from _orphans(store)
    yield from _jobs(store)


def _orphans(store: Store) -> Iterator[str]:
    living = {each.obj["metadata"]["uid"] for resource in store.resources() for each in store.list(resource)}
    for resource in (PODS, GROUPS, WORKLOADS):
        for each in store.list(resource):
            metadata = each.obj["metadata"]
            owners = metadata.get("ownerReferences") or []
            controllers = [owner for owner in owners if owner.get("controller")]
            if controllers and controllers[0]["uid"] not in living:
                yield f"I5: {resource[1]} {metadata['name']} has lost its owner {controllers[0]['name']}"


def _jobs(store: Store) -> Iterator[str]:
    owned: Counter[tuple[str, str]] = Counter()
    for resource in (GROUPS, WORKLOADS):
        for each in store.list(resource):
            for owner in each.obj["metadata"].get("ownerReferences") or []:
                if owner.get("controller") and owner["kind"] == "Job":
                    owned[resource[1], owner["uid"]] += 1
    for each in store.list(JOBS):
        metadata = each.obj["metadata"]
        if MANAGED not in (each.obj["spec"]["template"]["metadata"].get("labels") or {}):
            continue
        for resource in (GROUPS, WORKLOADS):
            found = owned[resource[1], metadata["uid"]]
            if found != 1 and not _is_finished(each.obj):
                yield f"I5: Job {metadata['name']} has {found} {resource[1]}"
        if GATE in (metadata.get("annotations") or {}) and not _is_finished(each.obj):
            yield f"I8: Job {metadata['name']} is still behind its gate"


def _is_finished(job: Object) -> bool:
    kinds = {each["type"] for each in job.get("status", {}).get("conditions") or [] if each["status"] == "True"}
    return bool(kinds & {"Complete", "Failed"})


def waiting_though_there_is_room(store: Store) -> Iterator[str]:
    """Gangs and pods that wait although all of them fit into what is free now, without a rule that could stand in the way."""
    free = _free(store)
    waiting: dict[str, list[Object]] = {}
    for each in store.list(PODS):
        pod = each.obj
        if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp") or _has_ended(pod):
            continue
        if pod["spec"].get("schedulerName") == DEFAULT_SCHEDULER_NAME and not pod["spec"].get("schedulingGates"):
            name = (pod["metadata"].get("annotations") or {}).get(POD_GROUP) or pod["metadata"]["name"]
            waiting.setdefault(name, []).append(pod)
    for name, pods in sorted(waiting.items()):
        if _is_plain(store, name, pods) and _fits(free, pods):
            yield f"liveness: {name} waits with {len(pods)} pods, and there is room for all of them"


def _free(store: Store) -> dict[str, dict[str, int]]:
    free = {}
    for each in store.list(NODES):
        if each.obj["spec"].get("unschedulable"):
            continue
        name = each.obj["metadata"]["name"]
        used = used_on(store, name)
        amounts = {key: parse_milli(str(text)) for key, text in each.obj["status"]["allocatable"].items()}
        free[name] = {key: much - used[key] for key, much in amounts.items()}
    return free


def _is_plain(store: Store, name: str, pods: list[Object]) -> bool:
    """Whether nothing but room matters to them."""
    if any(_has_a_volume(store, pod) for pod in pods):
        return False  # its node may be full, or gone
    namespace = pods[0]["metadata"]["namespace"]
    managed = MANAGED in (pods[0]["metadata"].get("labels") or {})
    group = store.get(GROUPS, namespace, name)
    if group is None:
        return not managed
    policy = group.obj["spec"].get("schedulingPolicy", {})
    if MIN_RESOURCES in (group.obj["metadata"].get("annotations") or {}):
        return False  # room for pods that are still to come counts too
    if group.obj["spec"].get("schedulingConstraints"):
        return False
    if any(each["metadata"].get("deletionTimestamp") for each in pods):
        return False
    members = [
        each.obj
        for each in store.list(PODS)
        if (each.obj["metadata"].get("annotations") or {}).get(POD_GROUP) == name
        and each.obj.get("status", {}).get("phase") != "Failed"
        and not each.obj["metadata"].get("deletionTimestamp")
    ]
    return len(members) >= int((policy.get("gang") or {}).get("minCount", 1))


def _has_a_volume(store: Store, pod: Object) -> bool:
    """Whether one of its claims is bound; one that is not yet gets its volume where the pod is placed."""
    metadata = pod["metadata"]
    claims = (f"{metadata['name']}-{each['name']}" for each in pod["spec"].get("volumes") or () if "ephemeral" in each)
    found = (store.get(CLAIMS, metadata["namespace"], claim) for claim in claims)
    return any(claim is not None and claim.obj["spec"].get("volumeName") for claim in found)


def _fits(free: dict[str, dict[str, int]], pods: list[Object]) -> bool:
    """Whether all of them fit, the largest first, each on the first node that takes it."""
    left = {name: dict(amounts) for name, amounts in free.items()}
    for pod in sorted(pods, key=lambda each: -sum(requests_of(each).values())):
        asked = requests_of(pod)
        for amounts in left.values():
            if all(amounts.get(key, 0) >= much for key, much in asked.items()):
                for key, much in asked.items():
                    amounts[key] -= much
                break
        else:
            return False
    return True
