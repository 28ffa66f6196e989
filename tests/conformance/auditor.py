"""The promises that every conformance test keeps, checked from the API server's audit log alone.

The auditor replays the log: pods are created, bound, end; groups get their minimum. It imports nothing of the product,
and it never gives an alarm that depends on timing it cannot know: room counts as taken from the moment a bind was
answered and as free from the moment its release was received.

Promises: a member is created after its group; a gang that was never satisfied has none or at least its minimum of
members bound, for longer than the bind window that is an error; one bind per pod; no node over-committed by us; nobody
else's group changed; every process writes under its own service account and only what its task needs.
"""

from dataclasses import dataclass, field

from tests.conformance.amounts import Amounts, amounts, pod_amounts, total
from tests.conformance.audit_log import Object, Record
from tests.conformance.identities import forbidden_write

BIND_WINDOW_SECONDS = 2.0
FOREIGN_RACE_SECONDS = 1.0
TERMINAL = {"Succeeded", "Failed"}
LWS_LABEL = "leaderworkerset.sigs.k8s.io/name"
MANAGED_LABEL = "tutti.scheduler/managed"
POD_GROUP_ANNOTATION = "tutti.scheduler/pod-group"
KUEUE_GROUP = "kueue.x-k8s.io"
STOPPED_ANNOTATION = "tutti.scheduler/stopped"
SCHEDULER_NAME = "tutti"
SCHEDULER_USER = "system:serviceaccount:tutti-system:tutti-scheduler"
CONTROLLERS_USER = "system:serviceaccount:tutti-system:tutti-controllers"

Key = tuple[str, str]


@dataclass(slots=True)
class Pod:
    """A pod as the log tells it."""

    uid: str
    spec: Object
    group: Key | None
    node: str = ""
    bound_at: float = 0.0
    bound_by: str = ""
    ended: bool = False


@dataclass(slots=True)
class Group:
    """A gang: its minimum, who is bound, since when it is partial."""

    minimum: int
    creator: str
    bound: set[str] = field(default_factory=set)
    satisfied: bool = False
    partial_since: float | None = None


@dataclass
class Auditor:
    """Feed it records in order; `violations` grows.

    Attributes:
        bind_window_seconds: how long a gang may be bound in part.
        allows_members_first: whether members may come before their group, as when somebody else starts a Job of which we could not
            make the group yet.
    """

    allows_members_first: bool = False
    bind_window_seconds: float = BIND_WINDOW_SECONDS
    violations: list[str] = field(default_factory=list)
    pods: dict[Key, Pod] = field(default_factory=dict)
    groups: dict[Key, Group] = field(default_factory=dict)
    nodes: dict[str, Amounts] = field(default_factory=dict)
    groups_made: dict[Key, float] = field(default_factory=dict)
    creators: dict[tuple[str, str, str], str] = field(default_factory=dict)
    early_binds: dict[str, tuple[str, Record]] = field(default_factory=dict)
    """Node and record by the UID of the pod: the server shows a pod to watchers before it has answered who creates it."""

    def feed(self, records: list[Record]) -> None:
        """Replays these records; the order is that of their effects."""
        for record in sorted(records, key=_effect_time):
            problem = forbidden_write(record)
            if problem:
                self.violations.append(f"{problem}: {record}")
            if record.resource == "pods/binding" and record.code == 409:
                self._refused_bind(record)
            if record.succeeded:
                self._apply(record)

    def close(self, now: float) -> list[str]:
        """The violations so far, with those of gangs that are partial at this moment; starts a new list."""
        for key, group in self.groups.items():
            self._end_partial(key, group, now)
        found, self.violations = self.violations, []
        return found

    def _apply(self, record: Record) -> None:
        key = record.namespace, record.name
        match record.resource, record.verb:
            case "nodes", _:
                self._node_written(record)
            case "pods", _:
                self._pod_written(key, record)
            case "pods/binding", "create":
                self._bound(key, record.request.get("target", {}).get("name", ""), record)
            case "pods/status", _:
                if record.request.get("status", {}).get("phase") in TERMINAL:
                    self._pod_ended(key, record.received)
            case "workloads", _ if record.group == KUEUE_GROUP:
                self._kueue_written(record)
            case "podgroups", "create" | "update" | "patch":
                self._group_written(key, record)
            case (("workloads" | "podgroups"), _):
                self._group_touched(key, record)

    def _node_written(self, record: Record) -> None:
        if record.verb == "delete":
            self.nodes.pop(record.name, None)
        else:
            self.nodes[record.name] = amounts(record.response.get("status", {}).get("allocatable"))

    def _pod_written(self, key: Key, record: Record) -> None:
        match record.verb:
            case "create":
                self._pod_created(key, record)
            case "delete":
                self._pod_deleted(key, record)
            case "update" | "patch":
                self._pod_changed(key, record)

    def _pod_created(self, key: Key, record: Record) -> None:
        spec = record.response.get("spec", {})
        group = _group_of(record.response)
        self.pods[key] = Pod(record.object_uid, spec, group)
        labels = record.response.get("metadata", {}).get("labels", {})
        # The group of a LeaderWorkerSet replica belongs to its leader pod, so it cannot be there before it (KEP-407).
        if MANAGED_LABEL in labels and LWS_LABEL not in labels:
            made = self.groups_made.get(group) if group else None
            if (made is None or made > record.received) and not self.allows_members_first:
                self.violations.append(f"a member was created before its group {group}: {record}")
        if spec.get("nodeName"):
            self._bound(key, spec["nodeName"], record)
        if record.object_uid in self.early_binds:
            self._bound(key, *self.early_binds.pop(record.object_uid))

    def _pod_changed(self, key: Key, record: Record) -> None:
        pod = self.pods.get(key)
        if pod is not None:
            pod.group = _group_of(record.response)

    def _pod_deleted(self, key: Key, record: Record) -> None:
        pod = self.pods.get(key)
        left = record.response.get("metadata", {}).get("deletionGracePeriodSeconds")
        at_once = record.request.get("gracePeriodSeconds") == 0 or left == 0
        if pod is not None and (at_once or not pod.node):
            self._pod_ended(key, record.received)

    def _pod_ended(self, key: Key, when: float) -> None:
        pod = self.pods.get(key)
        if pod is None or pod.ended:
            return
        pod.ended = True
        group = self.groups.get(pod.group) if pod.group else None
        if group is not None and pod.group is not None:
            group.bound.discard(pod.uid)
            self._count(pod.group, group, when)

    def _bound(self, key: Key, node: str, record: Record) -> None:
        pod = self.pods.get(key)
        if pod is None:
            return  # created before the first record that was fed
        uid = record.request.get("metadata", {}).get("uid", "") if record.resource == "pods/binding" else ""
        if uid and uid != pod.uid:
            self.early_binds[uid] = (node, record)
            return
        if pod.node:
            self.violations.append(f"pod {key} was bound twice, to {pod.node} and to {node}: {record}")
        pod.node, pod.bound_at, pod.bound_by = node, record.completed, record.user
        if record.resource == "pods/binding":
            self._check_binder(key, pod, record)
            self._check_room(node, record)
        group = self.groups.get(pod.group) if pod.group else None
        if group is not None and pod.group is not None:
            group.bound.add(pod.uid)
            self._count(pod.group, group, record.completed)

    def _check_binder(self, key: Key, pod: Pod, record: Record) -> None:
        ours = str(pod.spec.get("schedulerName")).split("-")[0] == SCHEDULER_NAME
        if ours != (record.user == SCHEDULER_USER):
            named = pod.spec.get("schedulerName")
            self.violations.append(f"pod {key} names the scheduler {named} and was bound by {record.user}")

    def _refused_bind(self, record: Record) -> None:
        pod = self.pods.get((record.namespace, record.name))
        if pod is not None and pod.node and record.user == SCHEDULER_USER == pod.bound_by:
            self.violations.append(f"our scheduler tried to bind a pod again that it had bound to {pod.node}: {record}")

    def _check_room(self, node: str, record: Record) -> None:
        if record.user != SCHEDULER_USER or node not in self.nodes:
            return
        surely_seen = [
            pod
            for pod in self.pods.values()
            if pod.node == node
            and not pod.ended
            and (pod.bound_by == SCHEDULER_USER or record.received - pod.bound_at > FOREIGN_RACE_SECONDS)
        ]
        taken = total(pod_amounts(pod.spec) for pod in surely_seen)
        for resource, much in taken.items():
            room = self.nodes[node].get(resource, 0)
            if much > room:
                self.violations.append(f"node {node} is over-committed: {much} of {room} {resource} after {record}")

    def _group_written(self, key: Key, record: Record) -> None:
        gang = record.response.get("spec", {}).get("schedulingPolicy", {}).get("gang")
        if record.verb == "create":
            self.groups_made[key] = record.completed
        self._check_touch(record)
        if gang is None:
            self.groups.pop(key, None)
            return
        known = self.groups.get(key)
        if known is None:
            members = {pod.uid for pod in self.pods.values() if pod.group == key and pod.node and not pod.ended}
            known = self.groups[key] = Group(gang["minCount"], record.user, bound=members)
        known.minimum = gang["minCount"]
        self._count(key, known, record.completed)

    def _group_touched(self, key: Key, record: Record) -> None:
        self._check_touch(record)
        if (record.resource, record.verb) == ("podgroups", "delete") and key in self.groups:
            self._end_partial(key, self.groups.pop(key), record.received)

    def _kueue_written(self, record: Record) -> None:
        """Of Kueue's Workloads we change whether they are active, with a mark that it was us, and nothing else."""
        metadata, spec = record.request.get("metadata", {}), record.request.get("spec", {})
        changed = {*spec, *metadata, *metadata.get("annotations", {})} - {"annotations", "uid", "resourceVersion"}
        if record.user == CONTROLLERS_USER and changed != {"active", STOPPED_ANNOTATION}:
            self.violations.append(f"more of Kueue's Workload than its activity was changed: {record}")

    def _check_touch(self, record: Record) -> None:
        key = record.resource, record.namespace, record.name
        if record.verb == "create":
            self.creators[key] = record.user
        elif record.user == CONTROLLERS_USER and self.creators.get(key, record.user) != record.user:
            self.violations.append(f"an object made by {self.creators[key]} was changed: {record}")

    def _count(self, key: Key, group: Group, when: float) -> None:
        if len(group.bound) >= group.minimum:
            group.satisfied = True
        if group.satisfied or not group.bound:
            self._end_partial(key, group, when)
            group.partial_since = None
        elif group.partial_since is None:
            group.partial_since = when

    def _end_partial(self, key: Key, group: Group, now: float) -> None:
        if group.partial_since is None:
            return
        lasted = now - group.partial_since
        if lasted > self.bind_window_seconds:
            bound = f"{len(group.bound)} of at least {group.minimum}"
            self.violations.append(f"gang {key} was partial for {lasted:.1f} s, {bound} members bound at the end")
            group.partial_since = None


def _effect_time(record: Record) -> float:
    releases = record.resource == "pods/status" or record.verb in {"delete", "deletecollection"}
    return record.received if releases else record.completed


def _group_of(pod: Object) -> Key | None:
    metadata = pod.get("metadata", {})
    name = (pod.get("spec", {}).get("schedulingGroup") or {}).get("podGroupName")
    name = name or metadata.get("annotations", {}).get(POD_GROUP_ANNOTATION)
    return (metadata.get("namespace", ""), name) if name else None
