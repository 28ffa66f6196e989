"""Between a decision and its binds: claims get their volumes first, and pods are bound only when all of theirs have one.

A gang waits together: no member is bound before so many have their volumes that, with those placed before, its minimum is
reached. When that becomes impossible all of them are given back and go through a cycle again, with whatever has become of their
claims. A bound claim stays bound: the next decision takes it as it is. What is on its way is counted as assumed
(`state.storage`), so that no two decisions give away one volume; that ends with the watch or with giving back.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from scheduler.algorithm.decision import Decision
from scheduler.apicalls.dispatcher import Later
from scheduler.binding.binder import Bind, BindResults
from scheduler.binding.claim_writes import ClaimWriter, DynamicProvisioning, StaticBinding, Write
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey
from scheduler.cache.storage import claim_keys
from scheduler.cache.volume_records import ClaimKey
from scheduler.plugins.status import Code, Status
from scheduler.plugins.volume_binding import NAME

_log = logging.getLogger(__name__)

RECHECK_SECONDS: Final = 1.0
"""Besides at every change of storage, what waits is looked at so often: for its deadline, and for pods that went."""

Tell = Callable[[Decision], None]
"""Hears of pods that are given back: an error, with why for each of them."""


class _Obstacle(NamedTuple):
    """Why a bind is given back; `is_told` to people when it is about their volumes."""

    text: str
    is_told: bool = False


_OTHERS_GOT_NONE: Final = _Obstacle("other members got no volumes")


def _of_volumes(problem: str) -> _Obstacle:
    return _Obstacle(f"binding volumes: {problem}", is_told=True)


@dataclass(eq=False, slots=True)
class _Batch:
    """The binds of one decision; `waiting` are those whose volumes are not there yet, with the claims they wait for."""

    key: EntityKey
    need: int
    deadline_seconds: float
    waiting: dict[str, tuple[Bind, tuple[ClaimKey, ...]]]
    released: int = 0
    problems: dict[ClaimKey, str] = field(default_factory=dict)


class VolumeBinding:
    """All decisions that wait for volumes."""

    def __init__(
        self,
        *,
        state: ClusterState,
        writer: ClaimWriter,
        bind: Callable[[Sequence[Bind], int], None],
        results: BindResults,
        tell: Tell,
        later: Later,
        clock: Callable[[], float],
        timeout_seconds: float,
    ) -> None:
        """Nothing waits yet.

        Args:
            state: its storage says what has become of claims; what is on its way is assumed there.
            writer: writes volumes and claims.
            bind: sends binds whose pods have all their volumes, and how many of them have to be possible.
            results: told of pods that are given back.
            tell: hears why, as a decision, when it is about volumes.
            later: calls back after so many seconds.
            clock: monotonic seconds.
            timeout_seconds: how long a decision may wait for its volumes.
        """
        self._state = state
        self._storage = state.storage
        self._writer = writer
        self._bind = bind
        self._results = results
        self._tell = tell
        self._later = later
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._batches: dict[_Batch, None] = {}
        self._is_timed = False
        self.waiting = 0
        """Pods whose binds are held until their volumes, or those of their siblings, are there."""

    def submit(self, decision: Decision, binds: Iterable[Bind]) -> None:
        """Bind these pods of a decision as soon as they have their volumes.

        Args:
            decision: says which volumes they get, and how many of them must have theirs before the first is bound.
            binds: of its pods, all assumed.
        """
        waiting = {bind.uid: (bind, self._open_claims(bind)) for bind in binds}
        batch = _Batch(
            decision.key,
            decision.need - decision.scheduled_so_far,
            self._clock() + self._timeout_seconds,
            waiting,
        )
        self._batches[batch] = None
        self.waiting += len(waiting)
        for write in self._assumed(batch, dict(decision.volumes)):
            if not write.is_done:
                self._send(batch, write)
        self._advance(batch)
        self._keep_time()

    def storage_changed(self) -> None:
        """Something about storage changed."""
        for batch in list(self._batches):
            self._advance(batch)

    # --- claims ------------------------------------------------------------------------------------------------------

    def _open_claims(self, bind: Bind) -> tuple[ClaimKey, ...]:
        pod = self._state.pod(bind.uid)
        keys = claim_keys(pod) if pod is not None and pod.volumes is not None else []
        claims = ((key, self._storage.claims.get(key)) for key in keys)
        return tuple(key for key, claim in claims if claim is None or not claim.is_bound)

    def _assumed(self, batch: _Batch, volumes: dict[ClaimKey, str]) -> list[Write]:
        """What is to be written, noted as decided; a claim that several members share is for the first of them."""
        writes: dict[ClaimKey, Write] = {}
        for bind, keys in batch.waiting.values():
            for key in keys:
                claim = self._storage.claims.get(key)
                if claim is None or key in writes:
                    continue
                volume = self._storage.volumes.get(volumes.get(key, ""))
                writes[key] = (
                    DynamicProvisioning(claim, bind.node_name) if volume is None else StaticBinding(claim, volume)
                )
        self._storage.give(
            {key: write.volume.metadata.name for key, write in writes.items() if isinstance(write, StaticBinding)},
            {key: write.node_name for key, write in writes.items() if isinstance(write, DynamicProvisioning)},
        )
        return list(writes.values())

    def _send(self, batch: _Batch, write: Write) -> None:
        def ended(problem: str) -> None:
            if problem:
                batch.problems[write.claim.key] = problem
            if batch in self._batches:
                self._advance(batch)

        self._writer.submit(write, ended, lambda: self._is_awaited(batch, write.claim.key))

    def _is_awaited(self, batch: _Batch, key: ClaimKey) -> bool:
        return batch in self._batches and any(key in keys for _, keys in batch.waiting.values())

    # --- advancing ---------------------------------------------------------------------------------------------------

    def _advance(self, batch: _Batch) -> None:
        ready: list[Bind] = []
        for bind, keys in list(batch.waiting.values()):
            obstacle = self._obstacle(batch, bind, keys)
            if obstacle is not None:
                self._give_back(batch, [bind], obstacle)
            elif all(self._has_volume(key) for key in keys):
                ready.append(bind)
        if batch.released + len(batch.waiting) < batch.need:
            self._give_back(batch, [bind for bind, _ in batch.waiting.values()], _OTHERS_GOT_NONE)
        elif batch.released + len(ready) >= batch.need:
            for bind in ready:
                del batch.waiting[bind.uid]
            self.waiting -= len(ready)
            need, batch.released = batch.need - batch.released, batch.released + len(ready)
            self._bind([replace(bind, since_seconds=self._clock()) for bind in ready], need)
        if not batch.waiting:
            self._batches.pop(batch, None)

    def _obstacle(self, batch: _Batch, bind: Bind, keys: tuple[ClaimKey, ...]) -> _Obstacle | None:
        gone = self._results.obstacle(bind)
        if gone is not None:
            return _Obstacle(gone)
        for key in keys:
            problem = batch.problems.get(key) or self._claim_problem(bind, key)
            if problem:
                return _of_volumes(problem)
        if self._clock() >= batch.deadline_seconds:
            return _of_volumes(f"not done after {self._timeout_seconds:.0f} s")
        return None

    def _claim_problem(self, bind: Bind, key: ClaimKey) -> str:
        claim = self._storage.claims.get(key)
        if claim is None:
            return f'persistentvolumeclaim "{key[1]}" not found'
        volume = self._storage.volumes.get(claim.volume_name) if claim.volume_name else None
        if volume is not None:
            slot = self._state.nodes.slot_of.get(bind.node_name)
            is_reached = volume.terms is None or (
                slot is not None and slot in self._storage.reach.slots(volume.terms).tolist()
            )
            name = volume.metadata.name
            return "" if is_reached else f'pv "{name}" node affinity doesn\'t match node "{bind.node_name}"'
        was_refused = not claim.volume_name and not self._storage.chosen_node(claim) and not self._is_given(key)
        return f'provisioning failed for PVC "{key[1]}"' if was_refused else ""

    def _is_given(self, key: ClaimKey) -> bool:
        claim = self._storage.claims.get(key)
        return claim is not None and self._storage.reserved_for(claim) is not None

    def _has_volume(self, key: ClaimKey) -> bool:
        claim = self._storage.claims.get(key)
        return claim is not None and claim.is_bound and claim.volume_name in self._storage.volumes

    def _give_back(self, batch: _Batch, binds: list[Bind], obstacle: _Obstacle) -> None:
        if not binds:
            return
        dropped: set[ClaimKey] = set()
        self.waiting -= len(binds)
        for bind in binds:
            dropped.update(batch.waiting.pop(bind.uid)[1])
        kept = {key for _, keys in batch.waiting.values() for key in keys}
        self._storage.take_back(dropped - kept)
        _log.info("%d pods of %s/%s are given back: %s", len(binds), batch.key.namespace, batch.key.name, obstacle.text)
        for bind in binds:
            self._results.failed(bind, obstacle.text)
        if obstacle.is_told:
            status = Status(Code.ERROR, obstacle.text, plugin=NAME)
            self._tell(Decision(batch.key, status, failures=tuple((bind.uid, status) for bind in binds)))

    # --- time --------------------------------------------------------------------------------------------------------

    def _keep_time(self) -> None:
        if self._batches and not self._is_timed:
            self._is_timed = True
            self._later(RECHECK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._is_timed = False
        self.storage_changed()
        self._keep_time()
