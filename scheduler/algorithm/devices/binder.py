"""The devices of one snapshot: where pods may go with their claims, and which devices each claim gets.

A placed pod takes devices from the others, and decides for everybody who shares its claims.
"""

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.devices.counts import UNLIMITED, AskedClaims
from scheduler.algorithm.devices.device_claims import MemberDeviceClaims, PodDeviceClaims
from scheduler.algorithm.devices.errors import AllocationError, InvalidPools, SearchLimit
from scheduler.algorithm.devices.requests import ClaimRequests, Request
from scheduler.algorithm.devices.result import node_selector
from scheduler.algorithm.devices.solution import Chosen, Solution
from scheduler.algorithm.devices.table import ClaimCounts
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import ClaimKey, DeviceRecord, HeldDevice, SliceRecord
from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeTerm, parse_node_terms
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import OverBudgetError
from scheduler.plugins import dynamic_resources as plugin
from scheduler.plugins.interface import IntArray
from scheduler.plugins.status import Status

Mask = NDArray[np.bool_]
Reasons = list[tuple[Status, Mask]]


class DeviceAllocation(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What a claim gets; `claim` is its key, `requests` may be those of another claim that asks for the same."""

    claim: ClaimKey
    requests: ClaimRequests
    node_name: str
    chosen: tuple[Chosen, ...]
    alternatives: tuple[int, ...]

    @property
    def held(self) -> tuple[HeldDevice, ...]:
        """What nobody else can have; access of administrators holds nothing."""
        return tuple(one.held for one in self.chosen if not one.request.is_admin)

    @property
    def terms(self) -> tuple[NodeTerm, ...] | None:
        """Of the nodes on which it can be used; None for all."""
        raw = node_selector(self.chosen, self.node_name)
        return parse_node_terms(raw) if raw else None


class _Given(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Devices for pods of one signature on one node: of the claims they share, then of each pod its own claims."""

    slot: int
    shared: tuple[ClaimKey, ...]
    asked: AskedClaims
    solution: Solution
    pods: int


class _Counted(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The same where each pod has one claim and takes its devices whole: so many for one pod after the other."""

    slot: int
    asked: ClaimRequests
    request: Request
    devices: Sequence[tuple[SliceRecord, DeviceRecord]]


class DeviceBinder:
    """The devices of all pods of a snapshot; masks and counts are `[node]`."""

    def __init__(self, device_claims: MemberDeviceClaims) -> None:
        self.device_claims: Final = device_claims
        self._state: Final = device_claims.state
        self._table: Final = device_claims.view.table
        self._held: Final = HeldDevices(below=device_claims.view.held)
        self._given: dict[PodSignature, list[_Given | _Counted]] = {}
        self._unsettled: list[Sequence[tuple[SliceRecord, DeviceRecord]]] = []
        """Devices that were given and are not in `_held` yet: after the last pods nobody asks."""
        self._decided: dict[ClaimKey, tuple[NodeTerm, ...] | None] = {}
        self._touched: set[int] = set()
        self._crosses = False
        self._seen: dict[PodSignature, tuple[IntArray, dict[int, Status], IntArray]] = {}

    def refusal(self, signature: PodSignature) -> Status | None:
        """Why pods of this signature can run nowhere, whatever the nodes; None when that is not so."""
        claims = self.device_claims.of.get(signature)
        return claims.refusal if claims is not None else None

    def pods_that_fit(self, signature: PodSignature) -> IntArray | None:
        """How many more pods of this signature each node has devices for; None when they need none. Not to be written to."""
        claims = self.device_claims.of.get(signature)
        return self._look(signature, claims)[0] if claims is not None else None

    def filtered(self, signature: PodSignature) -> list[Reasons]:
        """What devices hold against each node."""
        claims = self.device_claims.of.get(signature)
        if claims is None:
            return []
        pods, refusals, _ = self._look(signature, claims)
        by_reason: dict[Status, Mask] = {}
        for slot in np.flatnonzero(pods == 0).tolist():
            reason = refusals.get(slot, plugin.REASON)
            if reason not in by_reason:
                by_reason[reason] = np.zeros(len(pods), dtype=np.bool_)
            by_reason[reason][slot] = True
        return [list(by_reason.items())]

    def scores(self, signature: PodSignature) -> IntArray | None:
        """What devices add to the score of each node; None when they make no difference."""
        claims = self.device_claims.of.get(signature)
        if claims is None:
            return None
        _, _, scores = self._look(signature, claims)
        return plugin.WEIGHT * plugin.normalize_scores(scores) if scores.any() else None

    def assume_pods(self, signature: PodSignature, slots: Sequence[int], pods: Sequence[int]) -> None:
        """So many pods of this signature are on each of these nodes from now on.

        Raises:
            OverBudgetError: which devices they get could not be found out.
        """
        claims = self.device_claims.of.get(signature)
        if claims is None or claims.asked.is_empty:
            return
        given = self._given.setdefault(signature, [])
        counts = self.device_claims.view.counts(claims.key, claims.asked)
        self._crosses = self._crosses or bool(counts.crosses)
        for slot, number in zip(slots, pods, strict=True):
            here = self._table.asked_on(slot, claims.asked)
            request = here.counted if isinstance(here, AskedClaims) else None
            if isinstance(here, AskedClaims) and request is not None:
                devices = self._first_free(slot, counts, number * request.count)
                if devices is not None:
                    given.append(_Counted(slot, here.own[0], request, devices))
                    self._unsettled.append(devices)
                    self._touched.add(slot)
                    continue
            self._settle()
            wanted, shared = self._open(claims)
            asked = self._table.asked_on(slot, wanted)
            if not isinstance(asked, AskedClaims) or asked.is_empty:
                continue
            solution = self._choose(slot, counts, asked, number)
            given.append(_Given(slot, shared, asked, solution, number))
            chosen = [one for claim in solution.devices for one in claim]
            self._held.add([one.held for one in chosen if not one.request.is_admin])
            for key, devices_of_claim in zip(shared, solution.devices, strict=False):
                self._decided[key] = self._terms(devices_of_claim, slot)
            self._touched.add(slot)
            self._crosses = self._crosses or any(not one.slice.node_name or one.device.counters for one in chosen)
        self._seen.clear()

    def _first_free(
        self, slot: int, counts: ClaimCounts, wanted: int
    ) -> Sequence[tuple[SliceRecord, DeviceRecord]] | None:
        """So many of the devices that were counted on a node; None where there are fewer, or counting did not do."""
        free = counts.free_on(slot)
        if free is not None and (slot in self._touched or self._crosses):
            # Those that were free before the first pod of this snapshot; no others have become so since.
            self._settle()
            free = [one for one in free if one[1].id not in self._held]
        return free[:wanted] if free is not None and len(free) >= wanted else None

    def _settle(self) -> None:
        """All that was given counts as held."""
        for devices in self._unsettled:
            self._held.add([HeldDevice(device.id) for _, device in devices])
        self._unsettled.clear()

    def _choose(self, slot: int, counts: ClaimCounts, asked: AskedClaims, pods: int) -> Solution:
        devices = self._table.devices_on(slot, counts, asked, self._held)
        try:
            solution = devices.choose(pods) if devices is not None else None
        except (AllocationError, InvalidPools, SearchLimit):
            solution = None
        if solution is None:
            raise OverBudgetError
        return solution

    def allocations(self, slots_of: Mapping[PodSignature, Sequence[tuple[str, int]]]) -> Iterator[DeviceAllocation]:
        """What each claim of placed pods gets.

        Args:
            slots_of: by signature (UID of a pod, slot of its node).
        """
        for signature, placed in slots_of.items():
            open_: dict[int, deque[tuple[_OfClaim, ...]]] = {}
            for given in self._given.get(signature, ()):
                if isinstance(given, _Counted):
                    open_.setdefault(given.slot, deque()).extend(_counted(given))
                    continue
                name = self._state.nodes.names[given.slot]
                first = len(given.shared)
                for number, key in enumerate(given.shared):
                    yield _allocation(key, given.asked.shared[number], name, given.solution, number)
                per_pod = len(given.asked.own)
                starts = range(first, first + per_pod * given.pods, per_pod or 1)
                open_.setdefault(given.slot, deque()).extend(_searched(given, at) for at in starts)
            names, own_claims = self._state.nodes.names, self.device_claims.own_claims
            for uid, slot in placed:
                waiting = open_.get(slot)
                if waiting:
                    name = names[slot]
                    # The last key is that of a claim for extended resources, which not every node asks for.
                    for key, (requests, chosen, alternatives) in zip(own_claims[uid], waiting.popleft(), strict=False):
                        yield DeviceAllocation(key, requests, name, chosen, alternatives)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _open(self, claims: PodDeviceClaims) -> tuple[AskedClaims, tuple[ClaimKey, ...]]:
        """The claims that still have no devices, and the keys of the shared ones among them."""
        if not self._decided or not claims.shared:
            return claims.asked, claims.shared
        left = [number for number, key in enumerate(claims.shared) if key not in self._decided]
        if len(left) == len(claims.shared):
            return claims.asked, claims.shared
        shared = tuple(claims.asked.shared[number] for number in left)
        return AskedClaims(claims.asked.own, shared, claims.asked.extended), tuple(
            claims.shared[number] for number in left
        )

    def _look(self, signature: PodSignature, claims: PodDeviceClaims) -> tuple[IntArray, dict[int, Status], IntArray]:
        """Pods that fit, why none does, and scores."""
        found = self._seen.get(signature)
        if found is None:
            self._settle()
            found = self._seen[signature] = self._judge(claims)
        return found

    def _judge(self, claims: PodDeviceClaims) -> tuple[IntArray, dict[int, Status], IntArray]:
        slots = self._state.nodes.slots
        if claims.refusal is not None:
            return np.zeros(slots, dtype=np.int64), {}, np.zeros(slots, dtype=np.int64)
        terms = list(claims.terms)
        terms += [found for key in claims.shared if (found := self._decided.get(key)) is not None]
        asked, shared = self._open(claims)
        if not asked.is_empty:
            counts = self._counts(claims, asked, is_whole=len(shared) == len(claims.shared))
            pods, refusals, scores = counts.pods, dict(counts.refusals), counts.scores
        else:
            pods, refusals = np.full(slots, UNLIMITED, dtype=np.int64), {}
            scores = np.zeros(slots, dtype=np.int64)
        for one in terms:
            here = np.zeros(slots, dtype=np.bool_)
            here[self._state.storage.reach.slots(one)] = True
            pods = np.where(here, pods, 0)
            refusals.update(dict.fromkeys(np.flatnonzero(~here).tolist(), plugin.REASON_ELSEWHERE))
        return pods, refusals, scores

    def _counts(self, claims: PodDeviceClaims, asked: AskedClaims, *, is_whole: bool) -> ClaimCounts:
        key = claims.key if is_whole else ("without", _key_of(asked))
        base = self.device_claims.view.counts(key, asked)
        if not self._touched:
            return base
        made = ClaimCounts(asked)
        made.pods, made.scores = base.pods.copy(), base.scores.copy()
        made.refusals = dict(base.refusals)
        changed = range(self._state.nodes.slots) if self._crosses else sorted(self._touched)
        for slot in changed:
            made.note(slot, self._table.count_on(slot, base, asked, self._held))
        return made

    def _terms(self, chosen: tuple[Chosen, ...], slot: int) -> tuple[NodeTerm, ...] | None:
        raw = node_selector(chosen, self._state.nodes.names[slot])
        return parse_node_terms(raw) if raw else None


_OfClaim = tuple[ClaimRequests, tuple[Chosen, ...], tuple[int, ...]]
"""What a claim asks for, its devices, and which of the alternatives they are."""
_FIRST: Final = (0,)


def _key_of(asked: AskedClaims) -> Hashable:
    """Equal for claims that ask for the same."""
    specs = tuple(one.claim.spec for one in (*asked.own, *asked.shared))
    return (specs, len(asked.own), asked.extended.key if asked.extended is not None else None)


def _counted(given: _Counted) -> Iterator[tuple[_OfClaim]]:
    """The claim of each pod."""
    requests, request, count = given.asked, given.request, given.request.count
    if count == 1:
        for one, device in given.devices:
            yield ((requests, (Chosen(request, device, one),), _FIRST),)
        return
    for at in range(0, len(given.devices), count):
        chosen = tuple(Chosen(request, device, one) for one, device in given.devices[at : at + count])
        yield ((requests, chosen, _FIRST),)


def _searched(given: _Given, at: int) -> tuple[_OfClaim, ...]:
    """The own claims of one pod, the devices of which begin at this place of the solution."""
    solution = given.solution
    return tuple(
        (requests, solution.devices[at + number], solution.alternatives[at + number])
        for number, requests in enumerate(given.asked.own)
    )


def _allocation(
    key: ClaimKey, requests: ClaimRequests, node_name: str, solution: Solution, at: int
) -> DeviceAllocation:
    return DeviceAllocation(key, requests, node_name, solution.devices[at], solution.alternatives[at])


def limited(capacity: IntArray, pods: IntArray | None, slots: Slots | None = None) -> IntArray:
    """The room of nodes where devices may allow fewer pods; all nodes, or those in `slots`."""
    if pods is None:
        return capacity
    return np.minimum(capacity, pods if slots is None else pods[slots])
