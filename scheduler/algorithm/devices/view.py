"""The devices as one item may count on them: less those that are kept for others, with those that are about to be released.

Most items see the devices as they are, and share the counts that are kept of these. Where something differs, only the nodes that
it matters to are counted anew.
"""

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Final

import numpy as np

from scheduler.algorithm.devices.counts import AskedClaims
from scheduler.algorithm.devices.freed_counts import FreedCounts
from scheduler.algorithm.devices.holders import FAR, HeldAfter, Holders, Mask
from scheduler.algorithm.devices.table import ClaimCounts, DeviceTable
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.held import HeldDevices, HeldWithout
from scheduler.cache.devices.records import HeldDevice
from scheduler.cache.node_columns import Slots
from scheduler.cache.records import EntityKey


class DeviceView:
    """What is held as one item sees it, and what each node has left then.

    Args:
        state: the cluster.
        kept: what nobody has yet and others are to have.
        released: what will be free when somebody has left.

    Attributes:
        held: all that the item cannot have.
    """

    def __init__(
        self, state: ClusterState, kept: tuple[HeldDevice, ...] = (), released: tuple[HeldDevice, ...] = ()
    ) -> None:
        then = HeldWithout(state.devices.held, released) if released else state.devices.held
        self.table: Final = state.derived(DeviceTable)
        self.held: HeldDevices = HeldDevices(kept, below=then) if kept else then
        self._state: Final = state
        self._kept: Final = kept
        self._released: Final = released
        self._counts: dict[Hashable, ClaimCounts] = {}

    def releasing(self, released: Iterable[HeldDevice]) -> "DeviceView":
        """The same once these are free, too; to be asked of a view that releases nothing."""
        return DeviceView(self._state, self._kept, tuple(released))

    def with_holders(self, holders: Holders) -> "ReleasingView":
        """The same for somebody who wants to know what is left once some of these claims are released."""
        return ReleasingView(self._state, self._kept, holders)

    def counts(self, key: Hashable, asked: AskedClaims) -> ClaimCounts:
        """The counts for claims of one kind; `key` tells kinds apart."""
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = self._count(key, asked)
        return found

    @cached_property
    def _changed(self) -> Slots:
        """The nodes that count otherwise than for everybody."""
        return _slots_with(self._state, (*self._kept, *self._released))

    def _count(self, key: Hashable, asked: AskedClaims) -> ClaimCounts:
        base = self.table.counts(key, asked)
        if not len(self._changed):
            return base
        made = base.copy()
        for slot in self._changed.tolist():
            made.note(slot, self.table.count_on(slot, base, asked, self.held))
        return made


class ReleasingView(DeviceView):
    """The devices where claims may be released; as it is, none of them is.

    Args:
        state: the cluster.
        kept: what nobody has yet and others are to have.
        holders: the claims.
    """

    def __init__(self, state: ClusterState, kept: tuple[HeldDevice, ...], holders: Holders) -> None:
        super().__init__(state, kept)
        self.holders: Final = holders
        self._freed: Final[dict[Hashable, FreedCounts | None]] = {}
        """By kind; None where each node has to be counted."""

    def after(self, released: Mask) -> DeviceView:
        """The same once the claims of this mask are released."""
        return _ViewAfter(self._state, self, released) if released.any() else self

    def counts_after(self, key: Hashable, asked: AskedClaims, released: Mask, held: HeldDevices) -> ClaimCounts:
        """The counts then; `held` is what is held then."""
        base = self.table.counts(key, asked)
        if key not in self._freed:
            slots = self._slots(np.ones(len(self.holders.claims), dtype=np.bool_))
            steps = self._state.nodes.steps
            self._freed[key] = FreedCounts.of(self.table, slots, base, asked, self.holders, self.held, steps)
        freed = self._freed[key]
        if freed is not None:
            return freed.counts(base, released)
        made = base.copy()
        for slot in self._slots(released).tolist():
            made.note(slot, self.table.count_on(slot, base, asked, held))
        return made

    def _slots(self, released: Mask) -> Slots:
        """The nodes that count otherwise than for everybody once these claims are released."""
        near = self.holders.slots[released]
        if (near == FAR).any():
            return self._state.nodes.live_slots()
        return np.union1d(near[near >= 0], self._changed)


class _ViewAfter(DeviceView):
    """What a view that may release claims comes to when it releases those of a mask."""

    def __init__(self, state: ClusterState, view: ReleasingView, released: Mask) -> None:
        super().__init__(state)
        self.held = HeldAfter(view.held, view.holders, released)
        self._view: Final = view
        self._mask: Final = released

    def _count(self, key: Hashable, asked: AskedClaims) -> ClaimCounts:
        return self._view.counts_after(key, asked, self._mask, self.held)


def view_of(state: ClusterState, key: EntityKey, priority: int) -> DeviceView:
    """The devices as an item of that priority sees them in a decision: without those that are kept for others."""
    nominated = state.nominator.devices_against(key, priority)
    reserved = state.reservations.devices_against(key, priority, state.devices.held)
    return DeviceView(state, (*nominated, *reserved))


def _slots_with(state: ClusterState, devices: tuple[HeldDevice, ...]) -> Slots:
    if not devices:
        return np.zeros(0, dtype=np.intp)
    names = state.devices.nodes_with(devices)
    if names is None:
        return state.nodes.live_slots()
    return np.array(sorted(state.nodes.slot_of[name] for name in names if name in state.nodes.slot_of), dtype=np.intp)
