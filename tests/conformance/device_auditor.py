"""What every conformance test promises about devices, checked from the API server's audit log alone, as `auditor.py` does.

Promises: no device that cannot be shared is in two claims at a time; an allocation never changes; we bind no pod before each of
its claims has devices on that node and names the pod or its group as consumer; what we allocate belongs to pods that we bind: a
claim that has devices by us and none of whose consumers is bound within the hold window is an error, and so is one that we have
made and whose pod is not.
"""

from dataclasses import dataclass, field

from verify.auditor.audit_log import Object, Record
from verify.auditor.identities import SCHEDULER_USER, THIEF

HOLD_WINDOW_SECONDS = 2.0
ENTRY = "resource.kubernetes.io/pod-claim-name"

DeviceId = tuple[str, str, str]


@dataclass(slots=True)
class Claim:
    """A claim as the log tells it."""

    shown: str
    owner: str
    entry: str
    allocation: Object | None = None
    consumers: set[str] = field(default_factory=set)
    """UIDs of pods and groups."""
    version: int = 0
    """The newest that was seen: of two writes that overlap, the answer of the first may be the later one."""
    ours_since: float | None = None
    """Since when it has devices by us without a consumer that is bound."""
    made_since: float | None = None
    """Since when it is there, made by us for the extended resources of a pod that is not bound."""


@dataclass
class DeviceAuditor:
    """Feed it records in order; `violations` grows."""

    hold_window_seconds: float = HOLD_WINDOW_SECONDS
    violations: list[str] = field(default_factory=list)
    claims: dict[str, Claim] = field(default_factory=dict)
    entries: dict[str, list[Object]] = field(default_factory=dict)
    """What pods say about their claims, by UID of the pod."""
    bound: set[str] = field(default_factory=set)
    """UIDs of pods with claims or not: the server shows a pod to watchers before it has answered who creates it."""
    gone: set[str] = field(default_factory=set)
    """UIDs of claims that were deleted."""
    holders: dict[DeviceId, str] = field(default_factory=dict)
    """The claim by device, of those that nobody can share."""

    def feed(self, records: list[Record]) -> None:
        """Replays these records; the order is that of their effects."""
        for record in sorted((one for one in records if one.succeeded), key=_effect_time):
            match record.resource, record.verb:
                case "pods", "create" if record.response.get("spec", {}).get("resourceClaims"):
                    self.entries[record.object_uid] = record.response["spec"]["resourceClaims"]
                case "pods/binding", "create" if record.user == SCHEDULER_USER:
                    self._bound(record)
                case "resourceclaims" | "resourceclaims/status", "create" | "update" | "patch":
                    self._claim_written(record)
                case "resourceclaims", "delete":
                    self._claim_deleted(record)

    def close(self, now: float) -> list[str]:
        """The violations so far, with those of claims that are held at this moment; starts a new list."""
        for claim in self.claims.values():
            self._end_hold(claim, now)
            self._end_made(claim, now)
        found, self.violations = self.violations, []
        return found

    def _claim_written(self, record: Record) -> None:
        found = record.response
        uid = record.object_uid
        meta = found["metadata"]
        claim = self.claims.get(uid)
        if uid in self.gone or (claim is not None and int(meta["resourceVersion"]) < claim.version):
            return
        if claim is None:
            owners = [one["uid"] for one in meta.get("ownerReferences", ()) if one.get("controller")]
            entry = (meta.get("annotations") or {}).get(ENTRY, "")
            shown = f"{record.namespace}/{record.name}"
            claim = self.claims[uid] = Claim(shown, owners[0] if owners else "", entry)
            if record.verb == "create" and record.user == SCHEDULER_USER and record.agent != THIEF:
                claim.made_since = record.completed
        claim.version = int(meta["resourceVersion"])
        status = found.get("status") or {}
        before, after = claim.allocation, status.get("allocation")
        claim.consumers = {one["uid"] for one in status.get("reservedFor") or ()}
        if before is not None and after is not None and before != after:
            self.violations.append(f"the devices of claim {claim.shown} changed: {record}")
        if after != before:
            claim.allocation = after
            self._release(claim, uid, before, record)
            self._take(claim, uid, after, record)
        if claim.ours_since is not None and self._has_bound_consumer(claim):
            self._end_hold(claim, record.completed)
        if meta.get("deletionTimestamp") and not meta.get("finalizers"):
            self._claim_deleted(record)

    def _take(self, claim: Claim, uid: str, allocation: Object | None, record: Record) -> None:
        if allocation is None:
            return
        if record.user == SCHEDULER_USER and not self._has_bound_consumer(claim):
            claim.ours_since = record.completed
        for device in _whole(allocation):
            holder = self.holders.get(device)
            if holder is not None:
                other = self.claims[holder].shown
                self.violations.append(f"{'/'.join(device)} is of {other} and given to {claim.shown}: {record}")
            self.holders[device] = uid

    def _release(self, claim: Claim, uid: str, allocation: Object | None, record: Record) -> None:
        self._end_hold(claim, record.received)
        for device in _whole(allocation or {}):
            if self.holders.get(device) == uid:
                del self.holders[device]

    def _claim_deleted(self, record: Record) -> None:
        found = record.response.get("metadata", {})
        uid = record.object_uid
        if uid in self.claims and not found.get("finalizers"):
            claim = self.claims.pop(uid)
            self.gone.add(uid)
            self._end_made(claim, record.received)
            self._release(claim, uid, claim.allocation, record)

    def _bound(self, record: Record) -> None:
        uid = str(record.request.get("metadata", {}).get("uid", ""))
        self.bound.add(uid)
        node = str(record.request.get("target", {}).get("name", ""))
        for entry in self.entries.get(uid, ()):
            self._check_use(record, uid, entry, node)
        for claim in self.claims.values():
            if uid in claim.consumers:
                self._end_hold(claim, record.completed)
            if uid == claim.owner:
                self._end_made(claim, record.completed)

    def _check_use(self, record: Record, pod_uid: str, entry: Object, node: str) -> None:
        name = entry.get("resourceClaimName")
        if name:
            found = [one for one in self.claims.values() if one.shown == f"{record.namespace}/{name}"]
        else:
            found = [one for one in self.claims.values() if (one.owner, one.entry) == (pod_uid, entry["name"])]
            if not found:
                return  # of its group
        if not any(pod_uid in one.consumers and _is_usable(one.allocation, node) for one in found):
            self.violations.append(f"a pod was bound to {node} without its claim {entry['name']}: {record}")

    def _end_made(self, claim: Claim, now: float) -> None:
        """A claim that we have made is gone, or its pod is bound, or it is looked at."""
        if claim.made_since is None:
            return
        lasted = now - claim.made_since
        if lasted > self.hold_window_seconds:
            self.violations.append(f"claim {claim.shown} was there for {lasted:.1f} s while its pod was not bound")
            claim.made_since = None
        elif claim.owner in self.bound:
            claim.made_since = None

    def _has_bound_consumer(self, claim: Claim) -> bool:
        # A consumer that is no pod is a group, whose pods are not known here.
        return any(uid in self.bound or (uid not in self.entries and uid != claim.owner) for uid in claim.consumers)

    def _end_hold(self, claim: Claim, now: float) -> None:
        if claim.ours_since is None:
            return
        lasted = now - claim.ours_since
        if lasted > self.hold_window_seconds:
            self.violations.append(f"claim {claim.shown} had devices for {lasted:.1f} s while no pod of it was bound")
        elif not self._has_bound_consumer(claim) and claim.allocation is not None:
            return
        claim.ours_since = None


def _whole(allocation: Object) -> list[DeviceId]:
    """The devices that nobody else may have."""
    return [
        (one["driver"], one["pool"], one["device"])
        for one in allocation.get("devices", {}).get("results", ())
        if not one.get("adminAccess") and not one.get("shareID")
    ]


def _is_usable(allocation: Object | None, node: str) -> bool:
    """Whether the allocation allows the node; what it says of labels is not known here."""
    if allocation is None:
        return False
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms", ())
    fields = [each for term in terms for each in term.get("matchFields") or ()]
    return not fields or any(node in each["values"] for each in fields)


def _effect_time(record: Record) -> float:
    is_release = record.resource.startswith("resourceclaims") and _releases(record)
    return record.received if is_release or record.resource == "pods/binding" else record.completed


def _releases(record: Record) -> bool:
    return record.verb == "delete" or not (record.response.get("status") or {}).get("allocation")
