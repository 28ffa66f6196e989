"""The devices as one item may count on them: less those that are kept for others, with those that are about to be released.

Most items see the devices as they are, and share the counts that are kept of these. Where something differs, only the nodes that
it matters to are counted anew.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

from scheduler.algorithm.devices.counts import AskedClaims, NodeCount
from scheduler.algorithm.devices.table import ClaimCounts, DeviceTable, Meant
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.held import HeldDevices, HeldWithout
from scheduler.cache.devices.records import HeldDevice
from scheduler.cache.records import EntityKey

_A_DEVICE: Final = 150
"""Steps of a look whether a device is held."""


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
        self,
        state: ClusterState,
        kept: tuple[HeldDevice, ...] = (),
        released: tuple[HeldDevice, ...] = (),
        known: dict[tuple[Hashable, int], Sequence[Meant] | None] | None = None,
    ) -> None:
        """`known` is shared by views that differ in who has left."""
        self.table: Final = state.derived(DeviceTable)
        self.held: Final = _held(state.devices.held, kept, released)
        self._state: Final = state
        self._kept: Final = kept
        self._changed: Final = _slots_with(state, (*kept, *released))
        self._counts: dict[Hashable, ClaimCounts] = {}
        self._known: Final = known if known is not None else {}

    def releasing(self, released: Iterable[HeldDevice]) -> "DeviceView":
        """The same once these are free, too; to be asked of a view that releases nothing."""
        return DeviceView(self._state, self._kept, tuple(released), self._known)

    def counts(self, key: Hashable, asked: AskedClaims) -> ClaimCounts:
        """The counts for claims of one kind; `key` tells kinds apart."""
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = self._count(key, asked)
        return found

    def _count(self, key: Hashable, asked: AskedClaims) -> ClaimCounts:
        base = self.table.counts(key, asked)
        if not self._changed:
            return base
        made = base.copy()
        for slot in sorted(self._changed):
            found = self._left_on(slot, key, base, asked)
            made.note(slot, found or self.table.count_on(slot, base, asked, self.held))
        return made

    def _left_on(self, slot: int, key: Hashable, base: ClaimCounts, asked: AskedClaims) -> NodeCount | None:
        """The count of a node from the devices that are meant there; None where it has to be counted in full."""
        if asked.counted is None:
            return None
        if (key, slot) not in self._known:
            self._known[key, slot] = self.table.meant_on(slot, base, asked)
        meant = self._known[key, slot]
        if meant is None:
            return None
        self._state.nodes.steps.spend(_A_DEVICE * len(meant))
        held = self.held
        left = [one for one in meant if one[1].id not in held]
        pods = len(left) // asked.counted.count
        return NodeCount(pods, crosses=any(not one.node_name for one, _ in left), free=left) if pods else None


def view_of(state: ClusterState, key: EntityKey, priority: int) -> DeviceView:
    """The devices as an item of that priority sees them in a decision: without those that are kept for others."""
    nominated = state.nominator.devices_against(key, priority)
    reserved = state.reservations.devices_against(key, priority, state.devices.held)
    return DeviceView(state, (*nominated, *reserved))


def _held(now: HeldDevices, kept: tuple[HeldDevice, ...], released: tuple[HeldDevice, ...]) -> HeldDevices:
    then = HeldWithout(now, released) if released else now
    return HeldDevices(kept, below=then) if kept else then


def _slots_with(state: ClusterState, devices: tuple[HeldDevice, ...]) -> frozenset[int]:
    if not devices:
        return frozenset()
    names = state.devices.nodes_with(devices)
    if names is None:
        return frozenset(state.nodes.live_slots().tolist())
    return frozenset(state.nodes.slot_of[name] for name in names if name in state.nodes.slot_of)
