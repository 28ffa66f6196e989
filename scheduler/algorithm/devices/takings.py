"""The devices that one search has taken so far, and whether it can take another one; everything can be taken back."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scheduler.algorithm.devices.capacity import consumption, has_room
from scheduler.algorithm.devices.constraints import Constraint
from scheduler.algorithm.devices.counters import PoolCounters
from scheduler.algorithm.devices.errors import AllocationError
from scheduler.algorithm.devices.pools import Pool, reaches
from scheduler.algorithm.devices.requests import ClaimRequests, Request
from scheduler.algorithm.devices.solution import HARD_EFFECTS, Chosen, Taints
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import Amounts, DeviceId, DeviceRecord, PoolId, SliceRecord
from scheduler.cache.nodes import NodeFacts


class Candidate(NamedTuple):
    """A device that may be chosen; `pool` is the number of its pool."""

    pool: int
    slice: SliceRecord
    device: DeviceRecord


class Takings:
    """The devices taken for claims on one node.

    Attributes:
        chosen: by number of the claim.

    Args:
        claims: theirs.
        node: the node.
        pools: that it sees.
        held: devices that others have.
        taints: of a device.
    """

    def __init__(
        self,
        claims: Sequence[ClaimRequests],
        node: NodeFacts,
        pools: Sequence[Pool],
        held: HeldDevices,
        taints: Taints,
    ) -> None:
        self._claims = claims
        self._node = node
        self._pools = pools
        self._held = held
        self._taints = taints
        self._counters: dict[PoolId, PoolCounters] = {}
        self._constraints = [[Constraint(one) for one in claim.claim.spec.constraints] for claim in claims]
        self.chosen: list[list[Chosen]] = [[] for _ in claims]
        self._taken: dict[DeviceId, dict[int, int]] = {}
        self._shared: dict[DeviceId, list[Amounts]] = {}

    def is_in_use(self, claim: int, request: Request, device: DeviceRecord) -> bool:
        """Whether nothing of the device is left for a request of this claim."""
        taken = self._taken.get(device.id)
        if request.is_admin:
            return bool(taken) and claim in (taken or ()) and not device.is_shareable
        return bool(taken) or device.id in self._held

    def is_selectable(self, candidate: Candidate, request: Request) -> bool:
        """Whether a request means the device, and it can be used on the node."""
        if candidate.device.problem or not request.selects(candidate.device):
            return False
        return not candidate.slice.is_per_device or reaches(self._node, candidate.device)

    def consumption(self, claim: int, request: Request, device: DeviceRecord) -> Amounts | None:
        """What a request takes of the capacities of a device; None where it cannot.

        Raises:
            AllocationError: what is asked for cannot be compared with what the device has.
        """
        try:
            return consumption(device, request.asked)
        except AllocationError as error:
            where = f"claim {self._claims[claim].shown}, request {request.short_name}"
            raise AllocationError(f"{where}: checking capacity for device {device.id}: {error}") from error

    def has_room(self, device: DeviceRecord, consumed: Amounts) -> bool:
        """Whether the shares that others have leave so much of the device."""
        return has_room(device, consumed, self._held.consumed(device.id), *self._shared.get(device.id, ()))

    def likeness(self, candidate: Candidate) -> tuple[object, ...]:
        """Equal for devices of which one is as good as the other; empty for those that are like no other."""
        device = candidate.device
        if device.is_shareable:
            return ()
        marks = self._taken.get(device.id)
        taken = tuple(sorted(marks)) if marks else ()
        return (candidate.pool, device.likeness, tuple(self._taints(device)), device.id in self._held, taken)

    def take(
        self, claim: int, request: Request, candidate: Candidate, consumed: Amounts, *, must: bool = False
    ) -> Callable[[], None] | None:
        """Takes a device, unless counters, taints or constraints forbid it; returns what takes that back.

        Raises:
            AllocationError: a constraint forbids it, and the device `must` be taken.
        """
        device = candidate.device
        if self._is_tainted(request, device):
            return None
        pool = self._pools[candidate.pool]
        counters = None
        if device.counters and not (device.is_shareable and self._is_shared(device.id)):
            counters = self._counters_of(pool)
            if not counters.take(device):
                return None
        met: list[Constraint] = []
        for constraint in self._constraints[claim]:
            if not constraint.concerns(request.names):
                continue
            if not constraint.add(device):
                _undo(met, counters, device)
                if must:
                    where = f"claim {self._claims[claim].shown}, request {request.short_name}"
                    raise AllocationError(
                        f"{where}: cannot add device {device.id} because a claim constraint would not be satisfied"
                    )
                return None
            met.append(constraint)
        if device.is_shareable:
            self._shared.setdefault(device.id, []).append(consumed)
            share: Amounts | None = consumed
        else:
            marks = self._taken.setdefault(device.id, {})
            marks[claim] = marks.get(claim, 0) + 1
            share = None
        self.chosen[claim].append(Chosen(request, device, candidate.slice, share))

        def undo() -> None:
            self.chosen[claim].pop()
            self._give_back(claim, device)
            _undo(met, counters, device)

        return undo

    # --- inside ------------------------------------------------------------------------------------------------------

    def _is_tainted(self, request: Request, device: DeviceRecord) -> bool:
        return any(
            taint.effect in HARD_EFFECTS and not request.tolerates(taint.key, taint.value, taint.effect)
            for taint in self._taints(device)
        )

    def _give_back(self, claim: int, device: DeviceRecord) -> None:
        if device.is_shareable:
            self._shared[device.id].pop()
            if not self._shared[device.id]:
                del self._shared[device.id]
            return
        marks = self._taken[device.id]
        marks[claim] -= 1
        if not marks[claim]:
            del marks[claim]
        if not marks:
            del self._taken[device.id]

    def _is_shared(self, device: DeviceId) -> bool:
        return device in self._shared or self._held.is_shared(device)

    def _counters_of(self, pool: Pool) -> PoolCounters:
        found = self._counters.get(pool.id)
        if found is None:
            found = self._counters[pool.id] = PoolCounters(pool, self._held)
        return found


def _undo(met: list[Constraint], counters: PoolCounters | None, device: DeviceRecord) -> None:
    for constraint in reversed(met):
        constraint.remove()
    if counters is not None:
        counters.give_back(device)
