"""What each node has devices for, by kind of claims: counted once, then only where devices change."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from scheduler.algorithm.devices.counts import UNLIMITED, AskedClaims, NodeCount, NodeDevices
from scheduler.algorithm.devices.errors import AllocationError
from scheduler.algorithm.devices.pools import Pool, gather_pools
from scheduler.algorithm.devices.requests import ClaimRequests, Request, look_up, shown
from scheduler.algorithm.devices.solution import Solution
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import ClaimRecord, ClaimSpecRecord, DeviceRecord, SliceRecord
from scheduler.cache.nodes import NodeFacts
from scheduler.cache.steps import ONE_BY_ONE
from scheduler.plugins.dynamic_resources import reason_alpha
from scheduler.plugins.interface import IntArray
from scheduler.plugins.status import Status

MOST_KINDS: Final = 32
"""Kinds of claims whose counts are kept."""
Meant = tuple[SliceRecord, DeviceRecord]
Eligible = dict[Request | None, dict[int, bool]]
"""By the only request of a claim and by likeness: whether it means such devices."""
_NOBODY: Final = HeldDevices()
_ONE_NODE: Final = 20 * ONE_BY_ONE
"""Steps of counting the devices of one node."""
_ONE_LOOK: Final = 8 * ONE_BY_ONE
"""Steps of listing them once it is known which makes are meant."""


class ClaimCounts:
    """How many pods with claims of one kind each node has devices for, `[node]`; not to be written to."""

    __slots__ = ("asked", "crosses", "eligible", "facts", "free", "meant", "pods", "position", "refusals", "scores")

    def __init__(self, asked: AskedClaims, eligible: Eligible | None = None) -> None:
        self.asked: Final = asked
        self.pods: IntArray = np.zeros(0, dtype=np.int64)
        self.scores: IntArray = np.zeros(0, dtype=np.int64)
        self.refusals: dict[int, Status] = {}
        """By slot, why there are none for any."""
        self.crosses: set[int] = set()
        """The slots where others can take the same devices from other nodes."""
        self.free: dict[int, Sequence[tuple[SliceRecord, DeviceRecord]]] = {}
        """By slot the devices that were counted, where it is only a matter of counting."""
        self.eligible: Final[Eligible] = eligible if eligible is not None else {}
        self.meant: dict[int, Sequence[Meant] | None] = {}
        """By slot, as far as somebody has asked, the devices that are meant, be they held or not."""
        self.facts: list[NodeFacts | None] = []
        self.position = -1

    def copy(self) -> "ClaimCounts":
        """The same, to be written to; which devices are meant stays common."""
        made = ClaimCounts(self.asked, self.eligible)
        made.pods, made.scores = self.pods.copy(), self.scores.copy()
        made.refusals, made.crosses, made.free = dict(self.refusals), set(self.crosses), dict(self.free)
        return made

    def free_on(self, slot: int) -> Sequence[tuple[SliceRecord, DeviceRecord]] | None:
        """The devices that were counted on a node, where any of them will do."""
        return self.free.get(slot)

    def left_on(self, slot: int) -> Sequence[tuple[SliceRecord, DeviceRecord]] | None:
        """The same where not any of them will do; None where they are not known one by one."""
        return self.free.get(slot)

    def note(self, slot: int, found: NodeCount) -> None:
        """The devices of a node were counted."""
        self.pods[slot], self.scores[slot] = found.pods, found.score
        self.crosses.discard(slot)
        self.refusals.pop(slot, None)
        self.free.pop(slot, None)
        if found.free:
            self.free[slot] = found.free
        if found.crosses:
            self.crosses.add(slot)
        if found.refusal is not None:
            self.refusals[slot] = found.refusal


class DeviceTable:
    """Pools by node, requests of claims, and counts; one for a cluster (`ClusterState.derived`)."""

    def __init__(self, state: ClusterState) -> None:
        self._state: Final = state
        self._devices: Final = state.devices
        self._pools: dict[str, tuple[NodeFacts, list[Pool]]] = {}
        self._position = 0
        self._asked: dict[ClaimSpecRecord, ClaimRequests | str] = {}
        self._counts: OrderedDict[Hashable, ClaimCounts] = OrderedDict()
        self._classes_version = 0

    def requests_of(self, claim: ClaimRecord) -> ClaimRequests | str:
        """What a claim asks for, looked up; why that cannot be done."""
        self._notice_classes()
        found = self._asked.get(claim.spec)
        if found is None:
            found = self._asked[claim.spec] = self._look_up(claim)
        return found

    def pools_of(self, node: NodeFacts) -> Sequence[Pool]:
        """The pools that a node sees."""
        end = self._devices.log.end
        if self._position != end:
            changed = self._devices.log.since(self._position)
            self._position = end
            if changed is None:
                self._pools.clear()
            else:
                for name in changed:
                    self._pools.pop(name, None)
        known = self._pools.get(node.name)
        if known is not None and known[0] is node:
            return known[1]
        slices = (*self._devices.slices_on_node.get(node.name, ()), *self._devices.slices_for_many)
        pools = gather_pools(slices, node, self._devices.slices_of_pool)
        self._pools[node.name] = (node, pools)
        return pools

    def counts(self, key: Hashable, asked: AskedClaims) -> ClaimCounts:
        """The counts for claims of one kind as things are; `key` tells kinds apart."""
        self._notice_classes()
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = ClaimCounts(asked)
            while len(self._counts) > MOST_KINDS:
                self._counts.popitem(last=False)
        self._counts.move_to_end(key)
        self._catch_up(found)
        return found

    def asked_on(self, slot: int, asked: AskedClaims) -> AskedClaims | Status | None:
        """The claims as they are on one node, a status where nobody can say; None where there is no node."""
        node = self._state.nodes.facts[slot]
        return asked.on(node) if node is not None else None

    def devices_on(self, slot: int, counts: ClaimCounts, asked: AskedClaims, held: HeldDevices) -> NodeDevices | None:
        """The devices of a node for claims as they are on it; None where there is no node."""
        node = self._state.nodes.facts[slot]
        if node is None:
            return None
        eligible = counts.eligible.setdefault(asked.counted, {})
        return NodeDevices(node, self.pools_of(node), asked, held, self._devices.taints_of, eligible)

    def count_on(self, slot: int, counts: ClaimCounts, asked: AskedClaims, held: HeldDevices) -> NodeCount:
        """What a node has for such claims while these devices are held."""
        self._state.nodes.steps.spend(_ONE_NODE)
        here = self.asked_on(slot, asked)
        if isinstance(here, Status):
            return NodeCount(0, here)
        if here is not None and here.is_empty:
            return NodeCount(UNLIMITED)
        devices = self.devices_on(slot, counts, here, held) if here is not None else None
        if devices is None:
            return NodeCount(0)
        found = devices.count()
        field = self._alpha_field(slot) if found.refusal is not None else ""
        return NodeCount(0, reason_alpha(field)) if field else found

    def meant_on(self, slot: int, counts: ClaimCounts, asked: AskedClaims) -> Sequence[Meant] | None:
        """The devices of a node that such claims mean, be they held or not; None where counting these does not do."""
        if slot not in counts.meant:
            self._state.nodes.steps.spend(_ONE_LOOK)
            devices = self.devices_on(slot, counts, asked, _NOBODY)
            counts.meant[slot] = devices.meant() if devices is not None else None
        return counts.meant[slot]

    def search_on(self, node: NodeFacts, asked: AskedClaims, held: HeldDevices) -> Solution | None:
        """Devices of a node for one pod with these claims.

        Raises:
            AllocationError, InvalidPools, SearchLimit: as the search.
        """
        return NodeDevices(node, self.pools_of(node), asked, held, self._devices.taints_of, {}).choose(1)

    def _notice_classes(self) -> None:
        """What was looked up before a class changed is forgotten."""
        if self._classes_version != self._devices.classes_version:
            self._classes_version = self._devices.classes_version
            self._asked.clear()
            self._counts.clear()

    def _catch_up(self, counts: ClaimCounts) -> None:
        nodes, log = self._state.nodes, self._devices.log
        changed = log.since(counts.position) if counts.position >= 0 else None
        everything = changed is None or len(counts.pods) != nodes.slots
        counts.position = log.end
        if everything:
            if changed is None:
                counts.eligible.clear()
            counts.pods, counts.scores = (np.zeros(nodes.slots, dtype=np.int64) for _ in range(2))
            counts.facts = [None] * nodes.slots
            counts.refusals, counts.crosses, counts.free = {}, set(), {}
            counts.meant.clear()
        for name in changed or ():
            slot = nodes.slot_of.get(name)
            if slot is not None:
                counts.facts[slot] = None
        held, asked = self._devices.held, counts.asked
        for slot, facts in enumerate(nodes.facts):
            if facts is not counts.facts[slot]:
                counts.meant.pop(slot, None)
                # What is done is kept when the steps do not suffice for the rest.
                found = self.count_on(slot, counts, asked, held) if facts is not None else NodeCount(0)
                counts.note(slot, found)
                counts.facts[slot] = facts

    def _alpha_field(self, slot: int) -> str:
        node = self._state.nodes.facts[slot]
        slices = self._devices.slices_on_node.get(node.name, ()) if node is not None else ()
        return next((one.alpha_field for one in slices if one.alpha_field), "")

    def _look_up(self, claim: ClaimRecord) -> ClaimRequests | str:
        for request in claim.spec.requests:
            for exact in request.first_available or ((request.exactly,) if request.exactly else ()):
                name = f"{request.name}/{exact.name}" if exact.name else request.name
                if exact.device_class_name and exact.device_class_name not in self._devices.classes:
                    return f"request {name}: device class {exact.device_class_name} does not exist"
        try:
            return look_up(claim, self._devices.classes, self._devices.selectors)
        except AllocationError as error:
            return str(error).replace(f"claim {shown(claim)}", "its resource claim", 1)
