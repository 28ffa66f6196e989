"""The search for devices: all claims of a pod on one node, or none. Exhaustive, the first solution wins.

Claims, requests and devices are gone through in kube-scheduler's order, so that both choose the same where there is a choice.
Of devices that are alike one is tried: if it does not lead to a solution, neither do the others. What cannot be told within
`most_looks` looks at devices is given up.
"""

from collections.abc import Generator, Sequence
from typing import Final, NamedTuple

from scheduler.algorithm.devices.capacity import consumption, has_room
from scheduler.algorithm.devices.errors import AllocationError, InvalidPools, SearchLimit
from scheduler.algorithm.devices.pools import Pool
from scheduler.algorithm.devices.requests import ClaimRequests, Request
from scheduler.algorithm.devices.solution import Solution, Taints, taints_of_slice
from scheduler.algorithm.devices.takings import Candidate, Takings
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.nodes import NodeFacts

MOST_RESULTS: Final = 32
"""Devices of one claim."""
MOST_LOOKS: Final = 200_000
"""At devices, in one search: about half a second."""


class _Place(NamedTuple):
    """Which device is to be chosen next; `start` is the first candidate that may be."""

    claim: int
    request: int
    alternative: int | None = None
    number: int = 0
    start: int = 0


class _Frame:
    """A choice that was made and can be made otherwise."""

    __slots__ = ("choices", "failed_otherwise", "kind")

    def __init__(self, kind: str, choices: Generator[_Place, None, None]) -> None:
        self.kind: Final = kind
        self.choices: Final = choices
        self.failed_otherwise = False
        """Some alternative failed for another reason than too many results."""


_CLAIM, _ALTERNATIVES, _DEVICES = "claim", "alternatives", "devices"


class _TooMany(Exception):
    """There is no room for so many results in a claim."""


def allocate(
    claims: Sequence[ClaimRequests],
    node: NodeFacts,
    pools: Sequence[Pool],
    held: HeldDevices,
    *,
    taints: Taints = taints_of_slice,
    most_looks: int = MOST_LOOKS,
) -> Solution | None:
    """Devices for all the claims on a node; None when there are none.

    Args:
        claims: none of them is allocated.
        node: the node.
        pools: that the node sees, in their order.
        held: devices that others have.
        taints: of a device, with those that rules add.
        most_looks: at devices, before the search is given up.

    Raises:
        AllocationError: something is wrong with claims, classes or pools; no node will do.
        InvalidPools: there is no room, and a pool that the node sees is invalid.
        SearchLimit: it could not be told within `most_looks`.
    """
    search = _Search(claims, node, pools, held, taints, most_looks)
    solution = search.run()
    if solution is None and any(pool.problem for pool in pools):
        raise InvalidPools("invalid resource pools were encountered")
    return solution


class _Search:
    """One search; everything below is undone when a choice is taken back."""

    def __init__(
        self,
        claims: Sequence[ClaimRequests],
        node: NodeFacts,
        pools: Sequence[Pool],
        held: HeldDevices,
        taints: Taints,
        most_looks: int,
    ) -> None:
        self._claims = claims
        self._pools = pools
        self._takings = Takings(claims, node, pools, held, taints)
        self._looks_left = most_looks
        self._candidates = [
            Candidate(number, one, device)
            for number, pool in enumerate(pools)
            if pool.is_usable
            for one in pool.slices
            for device in one.devices
        ]
        self._selectable: dict[tuple[int, Request], bool] = {}
        self._alternatives = [[0] * len(claim.requests) for claim in claims]
        self._all: dict[Request, list[Candidate]] = {}
        for claim in claims:
            self._check(claim)

    def run(self) -> Solution | None:
        """The first solution; None when there is none."""
        stack: list[_Frame] = []
        place: _Place | None = _Place(0, 0)
        while True:
            if place is not None:
                try:
                    frame = self._frame(place)
                except _TooMany:
                    self._go_back(stack)
                else:
                    if frame is None:
                        return Solution(tuple(map(tuple, self._takings.chosen)), tuple(map(tuple, self._alternatives)))
                    stack.append(frame)
            if not stack:
                return None
            place = next(stack[-1].choices, None)
            if place is None:
                self._exhausted(stack)

    # --- going forth and back ----------------------------------------------------------------------------------------

    def _exhausted(self, stack: list[_Frame]) -> None:
        """The last choice has no more ways."""
        last = stack.pop()
        if last.kind == _ALTERNATIVES and not last.failed_otherwise:
            self._go_back(stack)
        elif stack and stack[-1].kind == _ALTERNATIVES:
            stack[-1].failed_otherwise = True

    def _go_back(self, stack: list[_Frame]) -> None:
        """A claim would get too many results: other devices would not help, other alternatives or claims may."""
        while stack and stack[-1].kind == _DEVICES:
            stack.pop().choices.close()
        if stack and stack[-1].kind == _CLAIM:
            stack.pop().choices.close()
            if stack and stack[-1].kind == _ALTERNATIVES:
                stack[-1].failed_otherwise = True

    def _frame(self, place: _Place) -> _Frame | None:
        """The choice at a place; None when everything is chosen.

        Raises:
            _TooMany: the claim would get too many results.
        """
        while place.claim < len(self._claims):
            claim = self._claims[place.claim]
            if place.request >= len(claim.requests):
                return _Frame(_CLAIM, _once(_Place(place.claim + 1, 0)))
            alternatives = claim.requests[place.request]
            if place.alternative is None:
                if len(alternatives) > 1 or alternatives[0].name != alternatives[0].short_name:
                    return _Frame(_ALTERNATIVES, self._choose_alternative(place, len(alternatives)))
                place = place._replace(alternative=0)
                continue
            request = alternatives[place.alternative]
            wanted = len(self._all[request]) if request.wants_all else request.count
            if request.wants_all and not wanted:
                return _Frame(_DEVICES, _nothing())
            if place.number >= wanted:
                place = _Place(place.claim, place.request + 1)
                continue
            if len(self._takings.chosen[place.claim]) + wanted - place.number > MOST_RESULTS:
                raise _TooMany
            choose = self._choose_all if request.wants_all else self._choose_device
            return _Frame(_DEVICES, choose(place, request))
        return None

    def _choose_alternative(self, place: _Place, count: int) -> Generator[_Place, None, None]:
        for alternative in range(count):
            self._alternatives[place.claim][place.request] = alternative
            yield place._replace(alternative=alternative)

    def _choose_device(self, place: _Place, request: Request) -> Generator[_Place, None, None]:
        failed: set[tuple[object, ...]] = set()
        for index in range(place.start, len(self._candidates)):
            candidate = self._candidates[index]
            device = candidate.device
            self._look()
            if self._takings.is_in_use(place.claim, request, device) or not self._selects(index, request):
                continue
            likeness = self._takings.likeness(candidate)
            if likeness in failed:
                continue
            consumed = self._takings.consumption(place.claim, request, device)
            if consumed is None or not self._takings.has_room(device, consumed):
                continue
            undo = self._takings.take(place.claim, request, candidate, consumed)
            if undo is None:
                continue
            try:
                yield place._replace(number=place.number + 1, start=index + 1)
            finally:
                undo()
            if likeness:
                failed.add(likeness)

    def _choose_all(self, place: _Place, request: Request) -> Generator[_Place, None, None]:
        candidate = self._all[request][place.number]
        device = candidate.device
        self._look()
        if self._takings.is_in_use(place.claim, request, device):
            return
        consumed = self._takings.consumption(place.claim, request, device)
        if consumed is None or not self._takings.has_room(device, consumed):
            return
        undo = self._takings.take(place.claim, request, candidate, consumed, must=True)
        if undo is None:
            return
        try:
            yield place._replace(number=place.number + 1)
        finally:
            undo()

    # --- one device --------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        self._looks_left -= 1
        if self._looks_left < 0:
            raise SearchLimit("the search for devices was given up: an allocation may exist")

    def _selects(self, index: int, request: Request) -> bool:
        known = self._selectable.get((index, request))
        if known is None:
            candidate = self._candidates[index]
            known = self._selectable[index, request] = self._takings.is_selectable(candidate, request)
        return known

    # --- before the search -------------------------------------------------------------------------------------------

    def _check(self, claim: ClaimRequests) -> None:
        """Finds the devices of requests for all, and whether the claim can have so many results at all."""
        least = 0
        for alternatives in claim.requests:
            counts = []
            for request in alternatives:
                if request.wants_all:
                    self._all[request] = self._everything(claim, request)
                counts.append(len(self._all[request]) if request.wants_all else request.count)
            least += min(counts, default=0)
        if least > MOST_RESULTS:
            raise AllocationError(
                f"claim {claim.shown}: number of requested devices {least} exceeds the claim limit of {MOST_RESULTS}"
            )

    def _everything(self, claim: ClaimRequests, request: Request) -> list[Candidate]:
        where = f"claim {claim.shown}, request {request.short_name}: asks for all devices, but resource pool"
        for pool in self._pools:
            if pool.is_incomplete:
                raise AllocationError(f"{where} {pool.id} is currently being updated")
            if pool.problem:
                raise AllocationError(f"{where} {pool.id} is currently invalid")
        found = []
        for candidate in self._candidates:
            self._look()
            if not self._takings.is_selectable(candidate, request):
                continue
            try:
                taken = consumption(candidate.device, request.asked)
            except AllocationError as error:
                where = f"claim {claim.shown}, request {request.short_name}"
                raise AllocationError(
                    f"{where}: checking capacity for device {candidate.device.id}: {error}"
                ) from error
            if taken is not None and has_room(candidate.device, taken):
                found.append(candidate)
        return found


def _once(place: _Place) -> Generator[_Place, None, None]:
    yield place


def _nothing() -> Generator[_Place, None, None]:
    yield from ()
