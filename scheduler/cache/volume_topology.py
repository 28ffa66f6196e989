"""On which nodes volumes can be: which nodes reach a volume, and how many more volumes each node can attach (CSINode)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.cache.node_columns import Slots
from scheduler.cache.node_rules import NodeTerm
from scheduler.cache.nodes import NodeTable
from scheduler.cache.selectors import Requirement, matches

Attached = tuple[str, str]
"""(driver, handle of the volume)."""
Resolve = Callable[[tuple[str, str]], Attached | None]
ResolveVolume = Callable[[str], Attached | None]

NO_LIMIT: Final = 2**31


class Attachments:
    """Volumes by node; `catch_up` makes the arrays by node slot current."""

    def __init__(self, nodes: NodeTable, resolve: Resolve, resolve_volume: ResolveVolume) -> None:
        """The two say what a claim, and what a volume of that name, counts as."""
        self._nodes: Final = nodes
        self._resolve: Final = resolve
        self._resolve_volume: Final = resolve_volume
        self.drivers_of: Final[dict[str, frozenset[str]]] = {}
        """Drivers installed on a node, by its name."""
        self._limits: dict[str, Mapping[str, int]] = {}
        self._mounted: dict[str, Counter[tuple[str, str]]] = {}
        self._nodes_of: dict[tuple[str, str], set[str]] = {}
        self._attached: dict[str, dict[str, str]] = {}
        self._seen: dict[str, frozenset[Attached]] = {}
        self._where: dict[Attached, set[str]] = {}
        self._stale: set[str] = set()
        self._slots: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._position = -1

    # --- events ------------------------------------------------------------------------------------------------------

    def set_node(self, name: str, drivers: frozenset[str], limits: Mapping[str, int]) -> bool:
        """What a node's CSINode says; true when it may take more volumes than before."""
        before, had = self._limits.get(name, {}), self.drivers_of.get(name, frozenset())
        self._limits.pop(name, None)
        self.drivers_of.pop(name, None)
        self._stale.discard(name)
        if drivers:
            self.drivers_of[name] = drivers
        if limits:
            self._limits[name] = limits
        self._position = -1
        is_higher = any(limits.get(driver, NO_LIMIT) > limit for driver, limit in before.items())
        return is_higher or bool(drivers - had)

    def mounted(self, node: str, claims: Iterable[tuple[str, str]], pods: int) -> None:
        """A pod that uses these claims came to a node, or (-1) left it."""
        used = self._mounted.setdefault(node, Counter())
        for key in claims:
            used[key] += pods
            if used[key] > 0:
                self._nodes_of.setdefault(key, set()).add(node)
            else:
                del used[key]
                self._nodes_of[key].discard(node)
                if not self._nodes_of[key]:
                    del self._nodes_of[key]
        if not used:
            del self._mounted[node]
        self._is_stale(node)

    def attached(self, node: str, attachment: str, volume: str | None) -> None:
        """A VolumeAttachment of this name says that a volume (by name) is attached to a node; None when it is gone."""
        there = self._attached.setdefault(node, {})
        if volume is not None:
            there[attachment] = volume
        else:
            there.pop(attachment, None)
        if not there:
            del self._attached[node]
        self._is_stale(node)

    def claim_changed(self, key: tuple[str, str]) -> None:
        """A claim counts as another volume now."""
        self._stale |= self._nodes_of.get(key, set()) & self._limits.keys()

    def everything_changed(self) -> None:
        """Any claim may count as another volume now."""
        self._stale |= self._mounted.keys() & self._limits.keys()

    # --- questions ---------------------------------------------------------------------------------------------------

    @property
    def limits(self) -> Mapping[str, Mapping[str, int]]:
        """By node name and driver: how many volumes can be attached."""
        return self._limits

    @property
    def attachments(self) -> Mapping[str, Mapping[str, str]]:
        """By node name and name of the VolumeAttachment: the name of the volume."""
        return self._attached

    def is_limited(self, drivers: Iterable[str]) -> bool:
        """Whether some node limits the volumes of one of these drivers."""
        wanted = set(drivers)
        return any(not wanted.isdisjoint(limits) for limits in self._limits.values())

    def spare(self, driver: str) -> NDArray[np.int64] | None:
        """By node slot: how many more volumes of a driver can be attached; None when no node says."""
        self._catch_up()
        found = self._slots.get(driver)
        return None if found is None else found[0] - found[1]

    def nodes_with(self, volume: Attached) -> Iterable[int]:
        """The slots of the nodes where the volume is attached already."""
        self._catch_up()
        slots = (self._nodes.slot_of.get(name) for name in self._where.get(volume, ()))
        return [slot for slot in slots if slot is not None]

    # --- inside ------------------------------------------------------------------------------------------------------

    def _is_stale(self, node: str) -> None:
        # Nothing is ever counted on other nodes, so nobody would take those off again.
        if node in self._limits:
            self._stale.add(node)

    def _catch_up(self) -> None:
        end = self._nodes.rule_changes.end
        if self._position != end:
            self._position = end
            self._slots = {}
            self._seen.clear()
            self._where.clear()
            self._stale = set(self._limits)
            for driver in {driver for limits in self._limits.values() for driver in limits}:
                limit = np.full(self._nodes.slots, NO_LIMIT, dtype=np.int64)
                self._slots[driver] = (limit, np.zeros(self._nodes.slots, dtype=np.int64))
        stale, self._stale = self._stale, set()
        for name in stale:
            limits = self._limits.get(name)
            slot = self._nodes.slot_of.get(name)
            if limits is not None and slot is not None:
                self._recount(name, slot, limits)

    def _recount(self, name: str, slot: int, limits: Mapping[str, int]) -> None:
        mounted = map(self._resolve, self._mounted.get(name, ()))
        attached = map(self._resolve_volume, self._attached.get(name, {}).values())
        volumes = frozenset(volume for volume in (*mounted, *attached) if volume)
        before = self._seen.get(name, frozenset())
        for volume in before - volumes:
            self._where[volume].discard(name)
            if not self._where[volume]:
                del self._where[volume]
        for volume in volumes - before:
            self._where.setdefault(volume, set()).add(name)
        self._seen[name] = volumes
        counts = Counter(driver for driver, _ in volumes)
        for driver, count in limits.items():
            limit, used = self._slots[driver]
            limit[slot], used[slot] = count, counts[driver]


MOST_KEPT: Final = 65536


class VolumeReachability:
    """Node slots by node affinity, kept until a node says something new about itself."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes: Final = nodes
        self._kept: dict[tuple[NodeTerm, ...], Slots] = {}
        self._by_value: dict[str, dict[str, list[int]]] = {}
        self._position = -1

    def slots(self, terms: tuple[NodeTerm, ...]) -> Slots:
        """The slots of the nodes that meet one of the terms, ascending."""
        end = self._nodes.rule_changes.end
        if self._position != end or len(self._kept) >= MOST_KEPT:
            self._kept.clear()
            self._by_value.clear()
            self._position = end
        found = self._kept.get(terms)
        if found is None:
            met = {slot for term in terms if term for slot in self._meeting(term)}
            found = self._kept[terms] = np.array(sorted(met), dtype=np.intp)
        return found

    def _meeting(self, term: NodeTerm) -> list[int]:
        named = [one for one in term if one.operator == "In"]
        if not named:
            slots = self._nodes.live_slots().tolist()
        else:
            narrowest = min(named, key=lambda one: len(one.values))
            by_value = self._values(narrowest.key)
            slots = [slot for value in set(narrowest.values) for slot in by_value.get(value, ())]
        return [slot for slot in slots if all(self._meets(one, slot) for one in term)]

    def _meets(self, requirement: Requirement, slot: int) -> bool:
        facts = self._nodes.facts[slot]
        return facts is not None and matches(requirement, facts.label(requirement.key))

    def _values(self, key: str) -> dict[str, list[int]]:
        found = self._by_value.get(key)
        if found is None:
            found = self._by_value[key] = {}
            for slot in self._nodes.live_slots().tolist():
                facts = self._nodes.facts[slot]
                value = facts.label(key) if facts else None
                if value is not None:
                    found.setdefault(value, []).append(slot)
        return found
