"""Between a decision and its binds: claims get their devices first, and pods are bound only when all of theirs are written.

A gang waits together: no member goes on before so many have their claims that, with those placed before, its minimum is reached.
When that becomes impossible, what was written for it is taken back, and its pods go through a cycle again. What is on its way is
counted as held (`state.devices`), also while it is being taken back: a device is free for others when the server says so.

A process that ends in between leaves allocations behind whose only consumers are pods that wait for a place. The next one takes
them back when it starts, before it decides anything about them.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from api.devices import ConsumerReference
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.algorithm.idle_claims import claims_in_the_way, with_deallocation, with_deletion
from scheduler.apicalls.dispatcher import Later
from scheduler.binding.binder import Bind, BindResults
from scheduler.binding.claim_allocation import ClaimWrite, allocated, claim_write
from scheduler.binding.device_preparation import unprepared
from scheduler.binding.extended_claims import left_over, left_over_of, new_claim
from scheduler.binding.resource_claim_writes import ResourceClaimWriter
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.records import ClaimKey, ClaimRecord
from scheduler.cache.records import EntityKey, PodRecord, StateChange
from scheduler.plugins.dynamic_resources import NAME
from scheduler.plugins.status import Code, Status

_log = logging.getLogger(__name__)

PREPARE_SECONDS: Final = 600.0
"""So long a driver may take to prepare devices that have binding conditions."""
RECHECK_SECONDS: Final = 5.0
POD_GROUP: Final = "PodGroup"
_PODS: Final = "pods"
"""Upstream's words, said when it is on its way."""

Onward = Callable[[Decision, Sequence[Bind]], None]


@dataclass(eq=False, slots=True)
class _Written:
    """A write of a decision and how far it is."""

    write: ClaimWrite
    is_ended: bool = False
    is_dropped: bool = False
    """It is taken back as soon as it has ended."""
    is_told: bool = False
    """The pod that the claim is made for hears of it, or has heard."""


@dataclass(eq=False, slots=True)
class _Batch:
    """The binds of one decision with the claims that each waits for."""

    decision: Decision
    onward: Onward
    waiting: dict[str, tuple[Bind, frozenset[ClaimKey]]]
    deadline_seconds: float
    written: dict[ClaimKey, _Written] = field(default_factory=dict)
    open: int = 0
    """Writes that have not ended, those that are dropped apart."""

    @property
    def key(self) -> EntityKey:
        return self.decision.key

    @property
    def need(self) -> int:
        return self.decision.need - self.decision.scheduled_so_far


class ClaimBinding:
    """All decisions whose claims are being written."""

    def __init__(  # noqa: PLR0913 (the parts it ties together)
        self,
        *,
        state: ClusterState,
        writer: ResourceClaimWriter,
        results: BindResults,
        tell: Callable[[Decision], None],
        apply: Callable[[StateChange], None],
        later: Later,
        clock: Callable[[], float],
        now: Callable[[], str],
        new_share_id: Callable[[], str],
        new_suffix: Callable[[], str],
    ) -> None:
        """Nothing waits yet.

        Args:
            state: its devices say what has become of claims; what is on its way is assumed there.
            writer: writes claims, and takes writes back.
            results: told of pods that are given back.
            tell: hears why, as a decision.
            apply: takes a change of the state; every part of the scheduler hears of it.
            later: calls back after so many seconds.
            clock: monotonic seconds.
            now: the time of day, RFC 3339.
            new_share_id: makes a UUID for each share of a device.
            new_suffix: makes the end of the name of a claim that is made here.
        """
        self._state = state
        self._devices = state.devices
        self._writer = writer
        self._results = results
        self._tell = tell
        self._apply = apply
        self._later = later
        self._clock = clock
        self._now = now
        self._new_share_id = new_share_id
        self._new_suffix = new_suffix
        self._batches: dict[_Batch, None] = {}
        self._is_timed = False
        self._own: dict[str, list[ClaimWrite]] = {}
        """By UID of a pod that is being bound: what was written for it alone."""
        self._idle: set[str] = set()
        """UIDs of claims without users whose devices are being taken off."""
        self.waiting = 0
        """Pods whose binds are held until their claims, or those of their siblings, are written."""

    def submit(self, decision: Decision, binds: Sequence[Bind], onward: Onward) -> None:
        """Hand these binds on as soon as the claims of their pods are written.

        Args:
            decision: says which devices claims get, and how many pods must have theirs before the first goes on.
            binds: of its pods, all assumed.
            onward: takes binds whose claims are written.
        """
        users: dict[ClaimKey, list[PodRecord]] = {}
        waiting = {}
        found = {one.claim: one for one in decision.devices}
        made: list[ClaimWrite] = []
        now = self._now()
        for bind in binds:
            pod = self._state.pod(bind.uid)
            keys = _claim_keys(pod)
            for key in keys:
                if pod is not None:
                    users.setdefault(key, []).append(pod)
            new = self._new_claim(pod, found, now) if pod is not None else None
            if new is not None:
                made.append(new)
                keys.append(new.claim.key)
            waiting[bind.uid] = (bind, frozenset(keys))
        batch = _Batch(decision, onward, waiting, self._clock() + PREPARE_SECONDS)
        for write in (*self._writes(decision.key, found, users, now), *made):
            batch.written[write.claim.key] = _Written(write)
        self._devices.assume({key: allocated(one.write) for key, one in batch.written.items() if one.write.allocation})
        self._batches[batch] = None
        self.waiting += len(waiting)
        batch.open = len(batch.written)
        for one in list(batch.written.values()):
            self._send(batch, one)
        self._advance(batch)

    def post_filter(self, decision: Decision) -> Decision | None:
        """The item found no place: takes devices off claims that nobody uses, if that gives it one; None when it does not.

        Claims for extended resources of its pods that are left over from an attempt that came to nothing are deleted.
        What is said is said for each attempt; a claim whose devices are being taken off is not asked for a second time.
        """
        if decision.result == "unschedulable":
            left = list(left_over_of(self._state, decision.key))
            for claim in left:
                self._take_back(left_over(claim))
            if left:
                return with_deletion(decision)
        idle = claims_in_the_way(self._state, decision.key) if decision.result == "unschedulable" else ()
        if not idle:
            return None
        for claim in idle:
            if claim.metadata.uid not in self._idle:
                self._idle.add(claim.metadata.uid)
                _log.info("claim %s/%s has devices that nobody uses and keeps its pods from a node", *claim.key)
                self._take_back(ClaimWrite(claim, claim.allocation, tuple(claim.reserved_for.values())))
        return with_deallocation(decision)

    def claims_changed(self) -> None:
        """The watch told something about a claim: a driver may have prepared its devices."""
        for batch in list(self._batches):
            self._advance(batch)

    def bind_ended(self, pod_uid: str, *, is_bound: bool) -> None:
        """A bind has ended; the devices of a pod that is on no node are given back, those that are its own."""
        writes = self._own.pop(pod_uid, [])
        for write in () if is_bound else writes:
            self._take_back(write)

    def restore(self) -> None:
        """Takes back what an earlier process allocated for pods that still wait for a place."""
        for claim in list(self._devices.claims.values()):
            if claim.is_for_extended_resources:
                if self._waits(claim.owner_uid):
                    _log.info("claim %s/%s was made for a pod that has no place: deleted", *claim.key)
                    self._take_back(left_over(claim))
            elif claim.allocation is not None and claim.reserved_for and all(map(self._waits, claim.reserved_for)):
                _log.info("claim %s/%s was allocated for pods that have no place: taken back", *claim.key)
                self._take_back(ClaimWrite(claim, claim.allocation, tuple(claim.reserved_for.values())))

    # --- what is written ---------------------------------------------------------------------------------------------

    def _new_claim(self, pod: PodRecord, found: Mapping[ClaimKey, DeviceAllocation], now: str) -> ClaimWrite | None:
        return new_claim(self._devices, pod, found, now, self._new_suffix, self._new_share_id)

    def _writes(
        self,
        item: EntityKey,
        found: Mapping[ClaimKey, DeviceAllocation],
        users: Mapping[ClaimKey, list[PodRecord]],
        now: str,
    ) -> Iterable[ClaimWrite]:
        for key, pods in users.items():
            claim = self._devices.claim(key)
            if claim is None:
                continue
            consumers = self._consumers(item, claim, pods)
            if key in found:
                yield claim_write(claim, found[key], consumers, now, self._new_share_id)
            elif claim.allocation is not None:
                missing = tuple(one for one in consumers if one.uid not in claim.reserved_for)
                if missing:
                    yield ClaimWrite(claim, None, missing)

    def _consumers(self, key: EntityKey, claim: ClaimRecord, pods: Sequence[PodRecord]) -> list[ConsumerReference]:
        if claim.owner_kind == POD_GROUP and key.kind == "group":
            return [ConsumerReference("scheduling.k8s.io", "podgroups", key.name, key.uid)]
        return [ConsumerReference("", _PODS, pod.name, pod.uid) for pod in pods]

    def _send(self, batch: _Batch, one: _Written) -> None:
        def ended(problem: str) -> None:
            one.is_ended = True
            if one.is_dropped:
                self._take_back(one.write)
                return
            batch.open -= 1
            if problem:
                self._fail(batch, one.write.claim.key, problem)
            else:
                self._advance(batch)

        one.is_ended = False
        send = self._writer.tell_pod if one.is_told else self._writer.submit
        send(one.write, ended, lambda: not one.is_dropped)

    # --- advancing ---------------------------------------------------------------------------------------------------

    def _advance(self, batch: _Batch) -> None:
        if batch not in self._batches or batch.open:
            return
        for key, one in list(batch.written.items()):
            problem = self._preparation(batch, one.write)
            if problem:
                self._fail(batch, key, problem)
                return
            if problem is None:
                self._keep_time()
                return
        untold = [one for one in batch.written.values() if one.write.made_for is not None and not one.is_told]
        batch.open = len(untold)
        for one in untold:
            # Only now: what a pod has been told of its claim cannot be taken back.
            one.is_told = True
            self._send(batch, one)
        if untold:
            return
        binds = [bind for bind, _ in batch.waiting.values()]
        del self._batches[batch]
        self.waiting -= len(binds)
        for bind, keys in batch.waiting.values():
            self._own[bind.uid] = [
                one.write for key, one in batch.written.items() if key in keys and len(one.write.consumers) == 1
            ]
        if binds:
            batch.onward(batch.decision, binds)

    def _preparation(self, batch: _Batch, write: ClaimWrite) -> str | None:
        """Whether drivers have prepared the devices of a claim: empty when they have, None while they may, else why not."""
        problem = unprepared(self._devices.claims.get(write.claim.key), write.allocation or write.claim.allocation)
        if problem is None and self._clock() >= batch.deadline_seconds:
            return f"device binding timeout: claim={write.claim.metadata.name}"
        return problem

    def _keep_time(self) -> None:
        if self._batches and not self._is_timed:
            self._is_timed = True
            self._later(RECHECK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._is_timed = False
        self.claims_changed()

    def _fail(self, batch: _Batch, key: ClaimKey, problem: str) -> None:
        """A claim could not be written: the pods that use it are given back, and all of them when too few are left."""
        if batch not in self._batches:
            return
        hit = [bind for bind, keys in batch.waiting.values() if key in keys]
        if len(batch.waiting) - len(hit) < batch.need:
            hit = [bind for bind, _ in batch.waiting.values()]
        for bind in hit:
            del batch.waiting[bind.uid]
        self.waiting -= len(hit)
        still = {each for _, keys in batch.waiting.values() for each in keys}
        dropped = [batch.written.pop(each) for each in list(batch.written) if each not in still]
        for one in dropped:
            one.is_dropped = True
            if one.is_ended:
                self._take_back(one.write)
            else:
                batch.open -= 1
        if not batch.waiting:
            del self._batches[batch]
        self._give_back(batch.key, hit, problem)
        if batch in self._batches:
            self._advance(batch)

    def _give_back(self, key: EntityKey, binds: Sequence[Bind], problem: str) -> None:
        _log.info("%d pods of %s/%s are given back: %s", len(binds), key.namespace, key.name, problem)
        for bind in binds:
            self._results.failed(bind, problem)
        status = Status(Code.ERROR, problem, plugin=NAME)
        self._tell(Decision(key, status, failures=tuple((bind.uid, status) for bind in binds)))

    def _take_back(self, write: ClaimWrite) -> None:
        """Takes a write back; until the watch shows that, its devices are held and nobody uses the claim."""
        key = write.claim.key

        def ended(problem: str, version: str) -> None:
            if problem:
                _log.warning("%s", problem)
            self._idle.discard(write.claim.metadata.uid)
            self._apply(self._state.waiting_pods.devices_changed(self._devices.end_release(key, version)))

        self._devices.begin_release(key)
        self._writer.give_back(write, ended)

    def _waits(self, pod_uid: str) -> bool:
        pod = self._state.pod(pod_uid)
        is_ours = pod is not None and pod.signature is not None and not pod.is_bound
        return is_ours and self._state.assumption(pod_uid) is None


def _claim_keys(pod: PodRecord | None) -> list[ClaimKey]:
    uses = pod.claims.uses if pod is not None and pod.claims is not None else ()
    return [(pod.namespace, use.claim) for use in uses if use.claim] if pod is not None else []
