"""How many equal pods a node has devices for, and which ones so many of them get.

Most claims come down to counting: one request for so many devices of a kind that are taken whole, all alike or alike in one
attribute. Everything else is asked of the search, with the claims of more and more pods until it finds nothing.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import msgspec

from scheduler.algorithm.devices.allocator import allocate
from scheduler.algorithm.devices.capacity import consumption, has_room
from scheduler.algorithm.devices.constraints import attribute_value
from scheduler.algorithm.devices.errors import AllocationError, InvalidPools, SearchLimit
from scheduler.algorithm.devices.extended import ExtendedClaims
from scheduler.algorithm.devices.pools import Pool, reaches
from scheduler.algorithm.devices.requests import ClaimRequests, Request
from scheduler.algorithm.devices.solution import HARD_EFFECTS, Chosen, Solution, Taints
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import DeviceRecord, SliceRecord
from scheduler.cache.nodes import NodeFacts
from scheduler.plugins import dynamic_resources as plugin
from scheduler.plugins.status import Status

UNLIMITED: Final = 2**31
"""Pods, where their claims do not limit them."""
MOST_BY_SEARCH: Final = 128
"""Pods of one node that are counted by search."""


class AskedClaims:
    """The claims of equal pods that have no devices yet.

    Attributes:
        own: that each pod has for itself; those of one of them stand for all.
        shared: that all the pods use.
        extended: those that each pod gets for its extended resources, which depend on the node; None where it gets none.
    """

    def __init__(
        self,
        own: tuple[ClaimRequests, ...],
        shared: tuple[ClaimRequests, ...] = (),
        extended: ExtendedClaims | None = None,
    ) -> None:
        self.own: Final = own
        self.shared: Final = shared
        self.extended: Final = extended
        self._on: Final[dict[ClaimRequests | None, AskedClaims]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for, on whatever node."""
        return not (self.own or self.shared or self.extended)

    def on(self, node: NodeFacts) -> "AskedClaims | Status":
        """The claims on one node, that for extended resources the last of each pod's own; a status where nobody can say."""
        if self.extended is None:
            return self
        found = self.extended.on(node)
        if isinstance(found, Status):
            return found
        if found not in self._on:
            self._on[found] = AskedClaims((*self.own, found) if found is not None else self.own, self.shared)
        return self._on[found]

    def of(self, pods: int) -> list[ClaimRequests]:
        """The claims of so many pods."""
        return [*self.shared, *(self.own * pods)]

    @property
    def alike_in(self) -> str:
        """The attribute in which all devices of a claim that is counted must be alike; empty for none."""
        constraints = self.own[0].claim.spec.constraints
        return constraints[0].match_attribute or "" if constraints else ""

    @cached_property
    def counted(self) -> Request | None:
        """The only request, when all there is to do is to count devices; of the claims on one node."""
        if self.extended or self.shared or len(self.own) != 1 or len(self.own[0].requests) != 1:
            return None
        (alternatives,) = self.own[0].requests
        request = alternatives[0]
        if len(alternatives) > 1 or request.name != request.short_name or request.wants_all or request.is_admin:
            return None
        constraints = self.own[0].claim.spec.constraints
        is_simple = not constraints or (len(constraints) == 1 and constraints[0].match_attribute is not None)
        return request if is_simple and 0 < request.count <= plugin.MOST_DEVICES else None


class NodeCount(msgspec.Struct, frozen=True, gc=False):
    """What a node has for the pods.

    Attributes:
        pods: how many of them it has devices for.
        refusal: why it has none for any.
        score: how early the alternatives are that the first pod gets.
        crosses: other nodes can take of the same devices.
        free: where it is only a matter of counting, the devices that were counted, in their order.
    """

    pods: int
    refusal: Status | None = None
    score: int = 0
    crosses: bool = False
    free: Sequence[tuple[SliceRecord, DeviceRecord]] = ()


def first_free(
    request: Request, pods: int, free: Sequence[tuple[SliceRecord, DeviceRecord]], held: HeldDevices
) -> Solution | None:
    """The first devices of those that were free which are so still, for so many pods; None when there are too few."""
    wanted = pods * request.count
    chosen = []
    for one, device in free:
        if device.id not in held:
            chosen.append(Chosen(request, device, one))
            if len(chosen) == wanted:
                break
    else:
        return None
    if pods == 1:
        return Solution((tuple(chosen),), _FIRST)
    devices = tuple(tuple(chosen[at : at + request.count]) for at in range(0, wanted, request.count))
    return Solution(devices, _FIRST * pods)


def most_alike(asked: AskedClaims, left: Sequence[tuple[SliceRecord, DeviceRecord]], held: HeldDevices) -> int:
    """For how many pods those of these devices suffice that are not held, where all of a claim must be alike in something."""
    values = Counter(attribute_value(device, asked.alike_in) for _, device in left if device.id not in held)
    del values[None]
    return sum(number // asked.counted.count for number in values.values()) if asked.counted is not None else 0


_FIRST: Final = ((0,),)
"""The alternatives of one pod that has none."""


_NOBODY: Final = HeldDevices()


class _Search(Exception):
    """Counting does not do: a device can be shared, or uses counters."""


class NodeDevices:
    """The devices of one node for claims of one kind."""

    __slots__ = ("_asked", "_eligible", "_held", "_node", "_pools", "_taints")

    def __init__(
        self,
        node: NodeFacts,
        pools: Sequence[Pool],
        asked: AskedClaims,
        held: HeldDevices,
        taints: Taints,
        eligible: dict[int, bool],
    ) -> None:
        """`eligible` remembers by likeness which devices the only request means, for all nodes."""
        self._node: Final = node
        self._pools: Final = pools
        self._asked: Final = asked
        self._held: Final = held
        self._taints: Final = taints
        self._eligible: Final = eligible

    def count(self) -> NodeCount:
        """How many of the pods the node has devices for."""
        try:
            request = self._asked.counted
            if request is not None:
                try:
                    return self._by_counting(request)
                except _Search:
                    pass
            return self._by_search()
        except AllocationError as error:
            return NodeCount(0, plugin.refusal(str(error)))
        except InvalidPools:
            return NodeCount(0, plugin.REASON_INVALID)
        except SearchLimit:
            return NodeCount(0, plugin.REASON_UNSURE)

    def choose(self, pods: int) -> Solution | None:
        """Devices for so many of the pods: first those of shared claims, then those of one pod after the other.

        Raises:
            AllocationError, InvalidPools, SearchLimit: as the search.
        """
        return allocate(self._asked.of(pods), self._node, self._pools, self._held, taints=self._taints)

    def meant(self) -> Sequence[tuple[SliceRecord, DeviceRecord]] | None:
        """The devices that the only request means and nobody has, in their order; None where counting these does not do."""
        request = self._asked.counted
        if request is None:
            return None
        try:
            return self._free(request)
        except (_Search, AllocationError):
            return None

    # --- counting ----------------------------------------------------------------------------------------------------

    def _by_counting(self, request: Request) -> NodeCount:
        name = self._asked.alike_in
        found = self._free(request)
        crosses = any(not one.node_name for one, _ in found)
        if name:
            pods = most_alike(self._asked, found, _NOBODY)
            return NodeCount(pods, None if pods else self._why_not(), crosses=crosses)
        pods = len(found) // request.count
        return NodeCount(pods, None if pods else self._why_not(), crosses=crosses, free=found)

    def _free(self, request: Request) -> list[tuple[SliceRecord, DeviceRecord]]:
        """The devices that the request means and nobody has, in their order.

        Raises:
            _Search: one of them is not simply taken whole.
        """
        held, eligible = self._held, self._eligible
        found = []
        for pool in self._pools:
            if not pool.is_usable:
                continue
            for one in pool.slices:
                for device in one.devices:
                    if device.id in held:
                        continue
                    is_meant = None if one.is_per_device else eligible.get(device.likeness)
                    if is_meant is None:
                        is_meant = self._means(request, one, device)
                        if not one.is_per_device:
                            eligible[device.likeness] = is_meant
                    if is_meant and not self._is_tainted(request, device):
                        if device.is_shareable or device.counters:
                            raise _Search
                        found.append((one, device))
        return found

    def _means(self, request: Request, one: SliceRecord, device: DeviceRecord) -> bool:
        if device.problem or not request.selects(device) or (one.is_per_device and not reaches(self._node, device)):
            return False
        taken = consumption(device, request.asked)
        return taken is not None and (device.is_shareable or has_room(device, taken))

    def _is_tainted(self, request: Request, device: DeviceRecord) -> bool:
        taints = self._taints(device)
        return bool(taints) and any(
            taint.effect in HARD_EFFECTS and not request.tolerates(taint.key, taint.value, taint.effect)
            for taint in taints
        )

    def _why_not(self) -> Status:
        return plugin.REASON_INVALID if any(pool.problem for pool in self._pools) else plugin.REASON

    # --- by search ---------------------------------------------------------------------------------------------------

    def _by_search(self) -> NodeCount:
        first = self._search(1)
        if first is None:
            return NodeCount(0, plugin.REASON)
        chosen = [one for claim in first.devices for one in claim]
        crosses = any(not one.slice.node_name or one.device.counters for one in chosen)
        score = self._score(first)
        if not self._asked.own or all(one.request.is_admin for one in chosen):
            return NodeCount(UNLIMITED, score=score, crosses=crosses)
        fits, fails = 1, MOST_BY_SEARCH + 1
        while fits + 1 < fails:
            # Twice as many while that works, then halves of what is left: existence is monotone in the number of pods.
            tried = min(2 * fits, fails - 1) if fails > MOST_BY_SEARCH else (fits + fails) // 2
            if self._more(tried):
                fits = tried
            else:
                fails = tried
        return NodeCount(fits, score=score, crosses=crosses)

    def _more(self, pods: int) -> bool:
        try:
            return self._search(pods) is not None
        except (InvalidPools, SearchLimit):
            # Fewer pods than there may be room for, then; what is said to fit does fit.
            return False

    def _search(self, pods: int) -> Solution | None:
        return allocate(self._asked.of(pods), self._node, self._pools, self._held, taints=self._taints)

    def _score(self, solution: Solution) -> int:
        """As upstream: the more, the earlier in their lists the alternatives are."""
        return sum(
            plugin.MOST_ALTERNATIVES - number
            for claim, numbers in zip(self._asked.of(1), solution.alternatives, strict=True)
            for alternatives, number in zip(claim.requests, numbers, strict=True)
            if alternatives[0].name != alternatives[0].short_name
        )
