"""Records replayed: a model of the cluster as far as it is surely known, and what each record changed in it.

Room counts as taken from the moment a bind was answered and as free from the moment its release was received, so a judge
never gives an alarm that depends on timing it cannot know. Records are to come in the order of `effect_time`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from api import constants
from verify.auditor.amounts import Amounts, amounts
from verify.auditor.audit_log import Record
from verify.auditor.changes import (
    Answered,
    Change,
    ClaimGone,
    ClaimWritten,
    CompositeWritten,
    GroupGone,
    GroupTold,
    GroupWritten,
    NodesChanged,
    OwnedMade,
    PodBound,
    PodCreated,
    PodEnded,
    PodLeaves,
    PodNominated,
)
from verify.auditor.claims import claim_of, version_of
from verify.auditor.group_records import composite_of, owned, rewrite, tell
from verify.auditor.identities import SCHEDULER_USER
from verify.auditor.model import (
    Claim,
    Composite,
    Group,
    Key,
    LeaseWrite,
    Object,
    Pod,
    belongs,
    controller_of,
    group_named_by,
    status_of,
)

TERMINAL = {"Succeeded", "Failed"}
FORGET_SECONDS = 600.0
KUEUE_GROUP = "kueue.x-k8s.io"
OWNERS = {"jobs", "leaderworkersets", "jobsets"}
"""Kinds that own our objects and are gone as soon as their deletion is asked for; leader pods are the third."""


@dataclass
class History:
    """The cluster as the records tell it.

    Attributes:
        owned: UID -> (kind, controller's UID) of the Workloads and PodGroups that carry our mark and are there.
        gone: when an owner's deletion was asked for, by UID.
        leases: the writes of each of our Leases, in order.
    """

    pods: dict[Key, Pod] = field(default_factory=dict)
    by_uid: dict[str, Pod] = field(default_factory=dict)
    groups: dict[Key, Group] = field(default_factory=dict)
    composites: dict[Key, Composite] = field(default_factory=dict)
    nodes: dict[str, Amounts] = field(default_factory=dict)
    claims: dict[Key, Claim] = field(default_factory=dict)
    owned: dict[str, tuple[str, Key, str]] = field(default_factory=dict)
    gone: dict[str, float] = field(default_factory=dict)
    leases: dict[str, list[LeaseWrite]] = field(default_factory=dict)
    _groups_made: dict[Key, tuple[float, str]] = field(default_factory=dict)
    """Since when a group was surely there, and the UID of the controller that it was made for."""
    _owners: dict[tuple[str, Key], str] = field(default_factory=dict)
    _gone_nodes: set[str] = field(default_factory=set)
    _gone_claims: set[str] = field(default_factory=set)
    """UIDs."""
    _named: dict[Key, dict[Key, Pod]] = field(default_factory=dict)
    """Pods by the group that they name."""
    _early: dict[str, list[Record]] = field(default_factory=dict)
    """Binds and statuses by the UID of the pod: the server shows a pod to watchers before it has answered who creates it."""
    _gone_groups: set[str] = field(default_factory=set)
    """UIDs of Workloads and groups that were deleted before their maker was answered."""
    _unknown: dict[tuple[str, Key], Record] = field(default_factory=dict)
    """Creates of groups and binds of which nobody knows yet whether they were carried out."""

    def take(self, record: Record) -> Iterator[Change]:
        """Takes one record in; what it changed, each change as soon as it is in the model."""
        yield Answered(record)
        if record.succeeded:
            yield from self._apply(record)
        elif record.is_unknown and record.verb == "create":
            self._unknown[record.resource, (record.namespace, record.name)] = record

    def members(self, group: Key) -> list[Pod]:
        """The pods that name this group and have not ended."""
        return [pod for pod in self._named.get(group, {}).values() if not pod.ended]

    def may_be_made(self, group: Key) -> bool:
        """Whether this group was asked for and nobody knows yet whether it was made."""
        return ("podgroups", group) in self._unknown

    def made_at(self, group: Key) -> float | None:
        """Since when a group of this name has surely been made for its latest owner; None if nobody has made it."""
        return self._groups_made.get(group, (None, ""))[0]

    def was_put(self, uid: str) -> bool:
        """Whether this pod had its node from the start, past every scheduler."""
        return uid in self.by_uid and self.by_uid[uid].was_put

    def on_node(self, node: str) -> list[Pod]:
        """The pods that were put on this node, ended ones too for some time."""
        return [pod for pod in self.by_uid.values() if pod.node == node]

    def name_of(self, uid: str) -> str:
        """The kind and name of a Job or set that was seen, or the name of a pod; empty for others."""
        known = next((f"{kind}/{key[1]}" for (kind, key), each in self._owners.items() if each == uid), "")
        return known or (f"pods/{self.by_uid[uid].key[1]}" if uid in self.by_uid else "")

    def forget(self, now: float) -> None:
        """Drops what ended long ago."""
        self.by_uid = {
            uid: pod for uid, pod in self.by_uid.items() if not pod.ended or now - pod.ended_at < FORGET_SECONDS
        }
        for key, pod in list(self.pods.items()):
            if pod.ended and now - pod.ended_at >= FORGET_SECONDS:
                self._unlist(pod)
                del self.pods[key]
        self._early = {uid: early for uid, early in self._early.items() if now - early[-1].completed < FORGET_SECONDS}
        for name, writes in self.leases.items():
            self.leases[name] = writes[-1:] if writes and now - writes[-1].completed > FORGET_SECONDS else writes

    # --- by kind -----------------------------------------------------------------------------------------------------

    def _apply(self, record: Record) -> Iterator[Change]:
        key = record.namespace, record.name
        match record.resource, record.verb:
            case (("pods" | "pods/binding" | "pods/status"), _):
                yield from self._pod_record(key, record)
            case "nodes", _:
                yield from self._node_record(record)
            case (("workloads" | "podgroups" | "podgroups/status"), _) if record.group != KUEUE_GROUP:
                yield from self._group_record(key, record)
            case "compositepodgroups", _:
                yield from self._composite_record(key, record)
            case (("resourceclaims" | "resourceclaims/status"), _):
                yield from self._claim_written(key, record)
            case "leases", _:
                self._lease_written(record)
            case (kind, verb) if kind in OWNERS:
                self._owner_written(kind, verb, key, record)

    def _node_record(self, record: Record) -> Iterator[Change]:
        if record.verb == "delete":
            self.nodes.pop(record.name, None)
            self._gone_nodes |= {deleted_uid(record)} - {""}
            yield NodesChanged(record.received)
        elif record.object_uid not in self._gone_nodes:
            # A write that was carried out before the node went may be answered later.
            self.nodes[record.name] = amounts(status_of(record.response).get("allocatable"))
            yield NodesChanged(record.completed)

    def _pod_record(self, key: Key, record: Record) -> Iterator[Change]:
        if self._is_early(key, record):
            self._early.setdefault(record.request["metadata"]["uid"], []).append(record)
            return
        match record.resource, record.verb:
            case "pods", "create":
                yield from self._pod_created(key, record)
            case "pods", "update" | "patch":
                self._pod_changed(key, record)
            case "pods", "delete":
                yield from self._pod_deleted(key, record)
            case "pods", "deletecollection":
                for found in [each for each in self.pods if each[0] == record.namespace]:
                    yield from self._pod_deleted(found, record)
            case "pods/binding", "create":
                yield from self._bound(key, record.request.get("target", {}).get("name", ""), record)
            case "pods/status", _:
                yield from self._pod_told(key, record)

    def _is_early(self, key: Key, record: Record) -> bool:
        """Whether it is about a pod by its UID, which nobody has been told yet that it was created."""
        if record.resource not in {"pods/binding", "pods/status"}:
            return False
        uid = (record.request.get("metadata") or {}).get("uid", "")
        return bool(uid) and (key not in self.pods or self.pods[key].uid != uid)

    def _pod_created(self, key: Key, record: Record) -> Iterator[Change]:
        spec, metadata = record.response.get("spec", {}), record.response.get("metadata", {})
        pod = Pod(
            key,
            record.object_uid,
            spec,
            metadata.get("labels") or {},
            controller_of(metadata),
            group_named_by(record.response),
            record.completed,
        )
        self._unlist(self.pods.get(key))
        self.pods[key] = self.by_uid[pod.uid or f"{key}"] = pod
        self._list(pod)
        yield PodCreated(pod, record)
        pod.was_put = bool(spec.get("nodeName"))
        if pod.was_put:
            yield from self._bound(key, spec["nodeName"], record)
        for early in self._early.pop(pod.uid, ()):
            yield from self._pod_record(key, early)

    def _pod_changed(self, key: Key, record: Record) -> None:
        pod = self.pods.get(key)
        if pod is not None:
            self._unlist(pod)
            pod.group = group_named_by(record.response)
            self._list(pod)

    def _list(self, pod: Pod) -> None:
        if pod.group is not None:
            self._named.setdefault(pod.group, {})[pod.key] = pod

    def _unlist(self, pod: Pod | None) -> None:
        if pod is None or pod.group is None or pod.key not in (named := self._named.get(pod.group, {})):
            return
        del named[pod.key]
        if not named:
            del self._named[pod.group]

    def _pod_deleted(self, key: Key, record: Record) -> Iterator[Change]:
        pod = self.pods.get(key)
        if pod is None or pod.ended:
            return
        if not pod.left_at:
            pod.left_at = record.received
        yield PodLeaves(pod, record)
        left = record.response.get("metadata", {}).get("deletionGracePeriodSeconds")
        if record.request.get("gracePeriodSeconds") == 0 or left == 0 or not pod.node:
            self.gone[pod.uid] = record.received
            yield from self._pod_ended(pod, record.received)

    def _pod_told(self, key: Key, record: Record) -> Iterator[Change]:
        pod, status = self.pods.get(key), record.request.get("status") or {}
        if pod is None:
            return
        if status.get("phase") == "Running" and not pod.node:
            yield from self._surely_bound(pod, record.completed)
        if "nominatedNodeName" in status and pod.nominated != (status["nominatedNodeName"] or ""):
            pod.nominated = status["nominatedNodeName"] or ""
            yield PodNominated(pod, record.received)
        if record.user == SCHEDULER_USER and _marks(status):
            pod.marked_at = record.completed
        if status.get("extendedResourceClaimStatus"):
            mappings = status["extendedResourceClaimStatus"].get("requestMappings") or ()
            pod.claimed = frozenset(one["resourceName"] for one in mappings)
        if status.get("phase") in TERMINAL:
            pod.succeeded |= not pod.ended and status["phase"] == "Succeeded"
            yield from self._pod_ended(pod, record.received)

    def _pod_ended(self, pod: Pod, when: float) -> Iterator[Change]:
        if pod.ended:
            return
        pod.ended_at = when
        group = self.groups.get(pod.group) if pod.group else None
        if group is not None:
            group.bound.discard(pod.uid)
        yield PodEnded(pod, when)

    def _bound(self, key: Key, node: str, record: Record) -> Iterator[Change]:
        pod = self.pods.get(key)
        if pod is None:
            return  # created before the first record that was fed
        # The kubelet may have said so before the bind that it followed was answered: then the unanswered one was none.
        is_late_answer = pod.runs_at > record.received
        before, pod.runs_at = "" if is_late_answer else pod.node, 0.0
        pod.node, pod.bound_at = node, record.completed
        pod.bound_by = record.user
        group = self.groups.get(pod.group) if pod.group else None
        if group is not None and belongs(pod, group):
            group.bound.add(pod.uid)
            group.satisfied |= len(group.bound) >= group.minimum
        yield PodBound(pod, record, before)

    def _surely_bound(self, pod: Pod, when: float) -> Iterator[Change]:
        """It runs: if nobody knew whether its bind was carried out, it was."""
        lost = self._unknown.pop(("pods/binding", pod.key), None)
        if lost is not None and (lost.request.get("metadata") or {}).get("uid", pod.uid) == pod.uid:
            yield from self._bound(pod.key, lost.request.get("target", {}).get("name", ""), lost)
            pod.runs_at = when

    def _group_record(self, key: Key, record: Record) -> Iterator[Change]:
        if record.verb in {"delete", "deletecollection"}:
            yield from self._groups_deleted(key, record)
            return
        if record.resource == "podgroups/status":
            yield from self._surely_made(key, record)
            group = self.groups.get(key)
            if group is not None:
                yield GroupTold(group, record, tell(group, record))
            return
        if self._is_gone_already(record):
            return
        yield from self._owned_made(key, record)
        if record.resource != "workloads":
            yield from self._group_written(key, record)

    def _is_gone_already(self, record: Record) -> bool:
        """Whether somebody deleted it before its maker was answered."""
        return record.verb == "create" and record.object_uid in self._gone_groups

    def _owned_made(self, key: Key, record: Record) -> Iterator[Change]:
        mark = owned(record)
        if mark is not None and record.verb == "create":
            self.owned[record.object_uid] = (record.resource, key, mark)
            yield OwnedMade(record.resource, key, record.object_uid, mark)

    def _surely_made(self, key: Key, record: Record) -> Iterator[Change]:
        """Somebody wrote its status: if nobody knew whether it was made, it was."""
        lost = self._unknown.pop(("podgroups", key), None)
        if lost is not None and key not in self.groups:
            yield from self._group_record(key, replace(lost, response=record.response))

    def _group_written(self, key: Key, record: Record) -> Iterator[Change]:
        if record.verb == "create":
            self._made(key, record)
            self._unknown.pop(("podgroups", key), None)
        known = self.groups.get(key)
        if known is None and record.response.get("metadata", {}).get("deletionTimestamp"):
            return  # a finalizer that is taken off makes no group of one that is gone
        is_new = known is None or bool(record.object_uid and known.uid not in {"", record.object_uid})
        if known is None or is_new:
            known = self.groups[key] = Group(key, record.object_uid, record.user, record.completed)
        rewrite(known, record)
        if is_new:
            known.bound = {pod.uid for pod in self.members(key) if pod.node and belongs(pod, known)}
        known.satisfied |= len(known.bound) >= known.minimum
        yield GroupWritten(known, record)

    def _made(self, key: Key, record: Record) -> None:
        """A group that was deleted and is made again for the same owner was there before, so the first time counts."""
        owner = controller_of(record.response.get("metadata") or {})
        known = self._groups_made.get(key)
        if known is None or not owner or known[1] != owner:
            self._groups_made[key] = record.completed, owner

    def _composite_record(self, key: Key, record: Record) -> Iterator[Change]:
        if record.verb in {"delete", "deletecollection"}:
            for found in [each for each in self.composites if each == key or (not record.name and each[0] == key[0])]:
                del self.composites[found]
            yield from self._groups_deleted(key, record)
            return
        if self._is_gone_already(record):
            return
        yield from self._owned_made(key, record)
        known, written = self.composites.get(key), composite_of(record)
        written.satisfied = known is not None and known.uid == written.uid and known.satisfied
        self.composites[key] = written
        yield CompositeWritten(written, record)

    def _groups_deleted(self, key: Key, record: Record) -> Iterator[Change]:
        def is_meant(found: Key) -> bool:
            return found == key if record.name else found[0] == record.namespace

        meant = [uid for uid, (kind, found, _) in self.owned.items() if kind == record.resource and is_meant(found)]
        for uid in meant:
            del self.owned[uid]
        told = deleted_uid(record)
        if told and told not in meant:
            self._gone_groups.add(told)
        if record.resource == "podgroups":
            for found in [each for each in self.groups if is_meant(each)]:
                yield GroupGone(self.groups.pop(found), record.received)

    def _claim_written(self, key: Key, record: Record) -> Iterator[Change]:
        metadata = record.response.get("metadata") or {}
        known = self.claims.get(key)
        if record.object_uid in self._gone_claims:
            return
        if known is not None and record.object_uid not in {"", known.uid}:
            yield from self._claim_gone(known, record)
            known = None
        version = version_of(record)
        if known is not None and 0 < version < known.version:
            return  # of writes that overlap the first one may be answered last
        # What a deletion only marks has a time of it; a finalizer that was written while it was deleted holds nothing back.
        is_marked = bool(metadata.get("deletionTimestamp"))
        if not metadata.get("finalizers") if is_marked else record.verb == "delete":
            if known is not None:
                yield from self._claim_gone(known, record)
            return
        # With a finalizer it keeps its devices until its controller has taken them back.
        claim = self.claims[key] = claim_of(known, key, record)
        yield ClaimWritten(claim, record, known)

    def _claim_gone(self, claim: Claim, record: Record) -> Iterator[Change]:
        del self.claims[claim.key]
        self._gone_claims.add(claim.uid)
        yield ClaimGone(claim, record)

    def _lease_written(self, record: Record) -> None:
        if record.namespace != constants.SYSTEM_NAMESPACE:
            return
        spec: Object | None = record.response.get("spec")
        # Where only metadata is recorded, the client says who renewed; that it was given back is then not seen.
        holder = str(spec.get("holderIdentity") or "") if spec is not None else record.agent.partition("/")[2]
        self.leases.setdefault(record.name, []).append(LeaseWrite(holder, record.received, record.completed))

    def _owner_written(self, kind: str, verb: str, key: Key, record: Record) -> None:
        if verb == "delete":
            uid = deleted_uid(record) or self._owners.get((kind, key), "")
            self.gone.setdefault(uid, record.received)
        elif record.object_uid:
            self._owners[kind, key] = record.object_uid


def deleted_uid(record: Record) -> str:
    """The UID of what was deleted, as the answer has it: the object itself, or a Status that names it; empty if neither."""
    return record.object_uid or str((record.response.get("details") or {}).get("uid", ""))


def effect_time(record: Record) -> float:
    """From when a record surely counts: releases from their arrival, all else from its answer."""
    releases = record.resource == "pods/status" or record.verb in {"delete", "deletecollection"}
    if record.resource.startswith("resourceclaims"):
        releases |= not status_of(record.response).get("allocation")
    return record.received if releases else record.completed


def _marks(status: Object) -> bool:
    """Whether it says of a pod that it is to leave."""
    said = (
        each for each in status.get("conditions") or () if each.get("type") == constants.CONDITION_DISRUPTION_TARGET
    )
    return any(each.get("status") == "True" for each in said)
