"""Which devices come free when pods leave: those of claims that are reserved for nobody else.

A claim's devices are free only when the controller of claims has seen all its consumers gone and takes the allocation off, some
seconds after the pods. Until then the consumers that are gone count as leaving, so nobody is evicted a second time for devices
that are about to be free. A claim that the preemptor uses itself is not released. One that is reserved for a PodGroup is released
with the last of its pods that has a place, and it is us who take its devices off then (`algorithm.devices.group_claims`).
"""

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.devices.group_claims import cleared_for, placed_pods
from scheduler.algorithm.devices.holders import FAR, Holders
from scheduler.algorithm.devices.placed import PlacedDevices, Placement
from scheduler.algorithm.devices.view import DeviceView
from scheduler.algorithm.topology import Topology
from scheduler.cache.cluster import ClusterState
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import POD_RESOURCE, ClaimKey, ClaimRecord, HeldDevice
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.steps import ONE_BY_ONE


class ClaimReleases:
    """The claims that pods hold devices with; made for one evaluation.

    Args:
        state: the snapshot.
        members: the preemptor.
        view: the devices as it sees them now.
        overdue: UIDs of pods that were asked to leave, and of whom nothing more is expected.

    Raises:
        OverBudgetError: there are more claims than one computation may look at.
    """

    def __init__(
        self, state: ClusterState, members: PodGroupState, view: DeviceView, overdue: Collection[str] = ()
    ) -> None:
        self._state: Final = state
        self._overdue: Final = overdue
        self._cleared: Final = cleared_for(state, members)
        used = _claims_of(state, members)
        state.nodes.steps.spend(ONE_BY_ONE * len(state.devices.claims))
        claims: list[ClaimRecord] = []
        row: list[int] = []
        number: list[int] = []
        for claim in state.devices.holding():
            consumers = None if claim.key in used else self._staying(claim)
            if consumers is not None:
                row += consumers
                number += [len(claims)] * len(consumers)
                claims.append(claim)
        self._holders: Final = Holders(state, claims)
        self._view: Final = view.with_holders(self._holders)
        self._row: Final[Slots] = np.array(row, dtype=np.intp)
        """[consumer] its row in `assigned_pods`."""
        self._number: Final[Slots] = np.array(number, dtype=np.intp)
        """[consumer] which of the claims it uses."""
        self._consumers: Final = np.bincount(self._number, minlength=len(claims))
        self._numbers_of_row: Final[dict[int, list[int]]] = {}
        for each, used_claim in zip(row, number, strict=True):
            self._numbers_of_row.setdefault(each, []).append(used_claim)

    def __bool__(self) -> bool:
        """Whether devices come free although nobody leaves who is not leaving already."""
        return bool((self._consumers == 0).any())

    def staying_consumers(self, rows: Slots) -> NDArray[np.int64]:
        """[claim] how many of its consumers stay when the pods of these rows leave."""
        leaves = np.zeros(len(self._state.assigned_pods.pods), dtype=np.bool_)
        self._state.nodes.steps.spend(4 * ONE_BY_ONE + 5 * len(self._row) + len(rows) + len(leaves))
        leaves[rows] = True
        return self._consumers - np.bincount(self._number[leaves[self._row]], minlength=len(self._consumers))

    def numbers_of(self, row: int) -> Sequence[int]:
        """Numbers of the claims that the pod of a row uses."""
        return self._numbers_of_row.get(row, ())

    def held_by(self, number: int) -> tuple[HeldDevice, ...]:
        """What the claim of this number holds."""
        return self._holders.claims[number].held

    def view(self, rows: Slots) -> DeviceView:
        """The devices as the preemptor sees them once the pods of these rows have left, beside those who leave anyway."""
        return self._view.after(self.staying_consumers(rows) == 0)

    def far_rows(self) -> Slots:
        """Rows of the pods whose devices matter to other nodes than their own."""
        where = self._holders.slots[self._number]
        is_far = (where == FAR) | ((where >= 0) & (where != self._state.assigned_pods.slots[self._row]))
        return np.unique(self._row[is_far])

    # --- inside ------------------------------------------------------------------------------------------------------

    def _staying(self, claim: ClaimRecord) -> list[int] | None:
        """Rows of its consumers that are not leaving; None when some of them can never be asked to."""
        uids: list[str] = []
        for uid, consumer in claim.reserved_for.items():
            if consumer.resource == POD_RESOURCE:
                uids.append(uid)
                continue
            pods = placed_pods(self._state, claim, consumer, self._cleared)
            if pods is None:
                return None
            uids += [pod.uid for pod in pods]
        rows = [self._state.assigned_pods.row_of(uid) for uid in uids if not self._is_leaving(uid)]
        known = [row for row in rows if row is not None]
        return known if len(known) == len(rows) and claim.reserved_for else None

    def _is_leaving(self, uid: str) -> bool:
        if uid in self._overdue:
            return False
        pod = self._state.pod(uid)
        return pod is None or pod.is_terminal or pod.terminating


def _claims_of(state: ClusterState, members: PodGroupState) -> frozenset[ClaimKey]:
    pods = (state.pod(uid) for waiting in members.pending.values() for uid in waiting.uids)
    return frozenset(
        (pod.namespace, use.claim)
        for pod in pods
        if pod is not None and pod.claims is not None
        for use in pod.claims.uses
        if use.claim
    )


class ReprieveDevices:
    """Whether placed pods keep devices on their nodes although somebody stays who could leave.

    Args:
        state: the snapshot.
        releases: who holds what.
        topology: the rules, and the devices, once everybody who may leave has left.
        placement: (signature, node slots, pods on each of them); the nodes are fixed.
        leaving: rows of everybody who may leave.
    """

    def __init__(
        self, state: ClusterState, releases: ClaimReleases, topology: Topology, placement: Placement, leaving: Slots
    ) -> None:
        claims = topology.device_claims
        self._state: Final = state
        self._releases: Final = releases
        self._placed: Final = PlacedDevices(claims, placement) if claims is not None else None
        self._held: Final = HeldDevices(below=claims.view.held if claims is not None else None)
        self._is_kept: Final = releases.staying_consumers(leaving) > 0
        """[claim] whether somebody stays who uses it."""

    def fit(self, rows: Sequence[int]) -> bool:
        """Whether the placed pods still get theirs when the pods of these rows stay as well."""
        kept = self._kept_by(rows)
        if not kept or self._placed is None or not len(self._placed):
            return True
        near = self._state.devices.nodes_with(kept)
        slot_of = self._state.nodes.slot_of
        slots = None if near is None else {slot_of[name] for name in near if name in slot_of}
        self._held.add(kept)
        fits = self._placed.suffice(self._held, slots)
        self._held.remove(kept)
        return fits

    def stay(self, rows: Sequence[int]) -> None:
        """They do stay."""
        self._held.add(self._kept_by(rows))
        for row in rows:
            for number in self._releases.numbers_of(row):
                self._is_kept[number] = True

    def _kept_by(self, rows: Sequence[int]) -> list[HeldDevice]:
        """What is not free any more then."""
        used = {number for row in rows for number in self._releases.numbers_of(row)}
        return [held for number in sorted(used) if not self._is_kept[number] for held in self._releases.held_by(number)]
