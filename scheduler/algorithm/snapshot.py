"""A snapshot with tentative pods on it: what one cycle looks at and changes, leaving the state as it is.

Nothing is copied until a second signature, or an explanation, must see where earlier pods went; then only the nodes that got
some are computed anew.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.devices.binder import DeviceAllocation, limited
from scheduler.algorithm.identical import PodsByNode, ScoreTable, pack_full, spread, spread_over
from scheduler.algorithm.node_fits import FitCache
from scheduler.algorithm.overlay import AssumedResources, Placed
from scheduler.algorithm.topology import Topology
from scheduler.algorithm.topology_state import TopologyState
from scheduler.cache.demand import PortTable
from scheduler.cache.node_columns import Slots
from scheduler.cache.nodes import Amounts, NodeTable
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import ONE_SCAN
from scheduler.cache.volume_records import ClaimKey
from scheduler.plugins.framework import total_score
from scheduler.plugins.node_declared_features import REASON as LACKS_FEATURES
from scheduler.plugins.node_ports import REASON as PORTS_REASON
from scheduler.plugins.node_resources_fit import insufficient_resources, pods_that_fit
from scheduler.plugins.resource_allocation import NodesWithPods, PodLoads
from scheduler.plugins.status import Code, Diagnosis, Status

MOST_BY_TOP_NODES: Final = 64
"""Larger gangs look at all nodes at once."""
_SCANS_OF_A_PLACEMENT: Final = 10
_SCANS_OF_A_SCORE: Final = 20
_SCANS_OF_REASONS: Final = 10
"""Operations on all nodes that these take."""
_PLAIN: Final = 10_000
_KNOWN: Final = 10_000
_UNKNOWN: Final = 50_000
"""Steps of judging one node in plain numbers, in a state that was met before, and in a new one."""


class SnapshotOverlay:
    """A snapshot of the cluster for one attempt, with the pods on it that were placed so far.

    Arrays are `[node]`, by node slot, unless it says otherwise; none of them may be written to.

    Args:
        nodes: the node table.
        ports: the host ports that are taken.
        fits: what the nodes have room for before the first pod.
        allowed: the nodes to use, `[node]`; None for all.
        outside: the reason to give for all other nodes.
        topology: rules about other pods, and volumes; None when only nodes matter.

    Attributes:
        topology_state: what `topology` means with the placed pods on the nodes; None without it.
        steps: what placing may still cost.

    Every method may raise OverBudgetError: more steps are needed than the computation under way may take.
    """

    def __init__(
        self,
        nodes: NodeTable,
        ports: PortTable,
        fits: FitCache,
        allowed: NDArray[np.bool_] | None = None,
        outside: str = "",
        topology: Topology | None = None,
    ) -> None:
        self.steps: Final = nodes.steps
        self.nodes: Final = nodes
        self.fits: Final = fits
        self._allowed = allowed
        self._outside = outside
        self._resources: Final = AssumedResources(nodes, ports, fits.supply.free)
        self._unapplied: list[Placed] = []
        self.topology_state: Final = TopologyState(topology, self._slots()) if topology else None

    def spend(self, scans: int, slots: Slots | None = None) -> None:
        """Counts so many operations on all nodes, or on those in `slots`, that are about to be done.

        Raises:
            OverBudgetError: that is more than the computation under way may cost.
        """
        self.steps.spend(scans * (ONE_SCAN + (self.nodes.slots if slots is None else len(slots))))

    def capacity(self, signature: PodSignature) -> PodsByNode:
        """How many more pods of this signature each node can take; not to be written to.

        Rules about other pods count as they are now: where a placed pod changes them, only the first pod is sure to be allowed.
        """
        capacity = self.room(signature)
        if self.topology_state is None:
            return capacity
        allowed = self.topology_state.allowed(signature)
        if allowed is not None:
            capacity = capacity.copy()
            capacity[self.topology_state.slots[~allowed]] = 0
        return capacity

    def room(self, signature: PodSignature) -> PodsByNode:
        """How many more pods of this signature each node can take, rules about other pods apart; not to be written to."""
        self.spend(1)
        self._apply()
        fit = self.fits.of(signature)
        if self._allowed is None and not len(self._resources.changed):
            return limited(fit.capacity, self._devices_for(signature))
        capacity = fit.capacity.copy()
        if len(self._resources.changed):
            capacity[self._resources.changed] = self._room_on(signature, self._resources.changed)
        if self._allowed is not None:
            capacity[~self._allowed] = 0
        return limited(capacity, self._devices_for(signature))

    def place(self, signature: PodSignature, count: int, *, pack: bool = False) -> Placed:
        """Puts up to `count` pods of this signature on nodes, as if they came one by one.

        Each goes to the node with the best score at that moment, or with `pack` to the fullest, to leave whole nodes free.
        """
        is_as_in_state = not (self._unapplied or len(self._resources.changed))
        placed: Placed | None = None
        if (
            is_as_in_state
            and not pack
            and count <= MOST_BY_TOP_NODES
            and self._allowed is None
            and self.topology_state is None
        ):
            placed = self._on_top_nodes(signature, count)
        if placed is None:
            placed = self._on_all_nodes(signature, count, pack=pack)
        if placed.total:
            self._unapplied.append(placed)
        return placed

    def _on_top_nodes(self, signature: PodSignature, count: int) -> Placed | None:
        """The same placement without looking at all nodes; None when it takes more than a look at the best ones."""
        fit = self.fits.of(signature)
        best = fit.top_nodes.best(count, fit.capacity, fit.score)
        if len(best) < count or self.fits.static_scores(signature, fit.capacity) is not None:
            return None
        nodes = np.array(sorted(best), dtype=np.intp)
        table = partial(self.scores_on, signature)
        placed = spread_over(nodes, count, fit.capacity, fit.score[nodes], table, fit.second)
        # As many nodes as pods have room, so each pod gets a place.
        return Placed(signature, *placed, total=count)

    def place_among(self, signature: PodSignature, parts: Sequence[tuple[Slots, int]]) -> list[Placed]:
        """The same on several sets of nodes that have none in common: (node slots, ascending; how many pods) of each."""
        capacity, score, table = self._judged(signature)
        placed = [Placed(signature, *spread(count, capacity, score, table, among)) for among, count in parts]
        self.assume_all(placed)
        return placed

    def _on_all_nodes(self, signature: PodSignature, count: int, *, pack: bool) -> Placed:
        capacity, score, table = self._judged(signature)
        if pack:
            return Placed(signature, *pack_full(count, capacity, score))
        return Placed(signature, *spread(count, capacity, score, table))

    def _judged(self, signature: PodSignature) -> tuple[PodsByNode, NDArray[np.int64], ScoreTable]:
        """How many pods each node takes, how good it is for the first, and for all of them."""
        self.spend(_SCANS_OF_A_PLACEMENT)
        capacity = self.capacity(signature)
        score = self.score(signature)
        other_scores = self._other_scores(signature, capacity)
        if other_scores is not None:
            score = score + other_scores

        def table(slots: Slots, depth: int) -> NDArray[np.int64]:
            scores = self.scores_on(signature, slots, depth)
            return scores if other_scores is None else scores + other_scores[slots][:, None]

        return capacity, score, table

    def diagnosis(self, signature: PodSignature, *, room_is_kept: bool = False) -> Diagnosis:
        """Why no further pod of this signature fits; `room_is_kept` is the same of the diagnosis."""
        self.spend(_SCANS_OF_REASONS)
        self._apply()
        volumes = self.topology_state.volumes if self.topology_state is not None else None
        pre_filter = volumes.refusal(signature) if volumes is not None else None
        if pre_filter is None and self.topology_state is not None and self.topology_state.devices is not None:
            pre_filter = self.topology_state.devices.refusal(signature)
        nodes = self._refused_nodes(signature) if pre_filter is None else {}
        return Diagnosis(len(self.nodes), nodes, pre_filter, room_is_kept)

    def _refused_nodes(self, signature: PodSignature) -> Mapping[Status, int]:
        """Number of nodes by the status of the first filter that refuses them; all that NodeResourcesFit finds short counts."""
        mask = self.fits.mask(signature.rules)
        last = mask.told_last()
        found: dict[Status, int] = {}
        fine = np.flatnonzero((mask.codes == 0) | last)
        counts = np.bincount(mask.codes[(mask.codes > 0) & ~last], minlength=1).tolist()
        found.update((mask.refusals[code - 1], count) for code, count in enumerate(counts) if count)
        if self._allowed is not None:
            inside = self._allowed[fine]
            if not inside.all():
                found[Status(Code.UNSCHEDULABLE, self._outside)] = int((~inside).sum())
            fine = fine[inside]
        if signature.demand.ports:
            busy = self._resources.port_conflicts(signature.demand.ports, fine)
            if busy.any():
                found[PORTS_REASON] = int(busy.sum())
            fine = fine[~busy]
        demand = self.nodes.resolve(signature.demand)
        found.update(insufficient_resources(self._resources.free, demand, self.nodes.resources, fine))
        fine = fine[pods_that_fit(self._resources.free, demand, fine) > 0]
        if self.topology_state is not None:
            for status, count in self.topology_state.reasons(signature, np.isin(self.topology_state.slots, fine)):
                found[status] = found.get(status, 0) + count
        if last.any():
            found[LACKS_FEATURES] = int(last[self._allowed_by_other_pods(signature, fine)].sum())
        return {status: count for status, count in found.items() if count}

    def _allowed_by_other_pods(self, signature: PodSignature, slots: Slots) -> Slots:
        allowed = None if self.topology_state is None else self.topology_state.allowed(signature)
        return (
            slots
            if self.topology_state is None or allowed is None
            else np.intersect1d(slots, self.topology_state.slots[allowed])
        )

    def matched_volumes(self) -> Mapping[ClaimKey, str]:
        """The existing volumes that claims of placed pods get."""
        volumes = self.topology_state.volumes if self.topology_state is not None else None
        if volumes is None:
            return {}
        self._apply()
        return volumes.matched

    def device_allocations(
        self, slots_of: Mapping[PodSignature, Sequence[tuple[str, int]]]
    ) -> tuple[DeviceAllocation, ...]:
        """The devices that claims of placed pods get; `slots_of` is by signature (UID of a pod, slot of its node)."""
        devices = self.topology_state.devices if self.topology_state is not None else None
        if devices is None:
            return ()
        self._apply()
        return tuple(devices.allocations(slots_of))

    # --- for those who judge all nodes themselves ---------------------------------------------------------------------

    @property
    def free(self) -> Amounts:
        """What is free, `[resource, node]`."""
        self._apply()
        return self._resources.free

    @property
    def scored(self) -> Amounts:
        """CPU and memory taken as scoring sees it, `[2, node]`."""
        self._apply()
        return self._resources.scored

    def accepting_nodes(self, signature: PodSignature) -> NDArray[np.bool_]:
        """The nodes that accept pods of this signature, amounts and other pods apart."""
        is_open: NDArray[np.bool_] = self.fits.mask(signature.rules).codes == 0
        return is_open if self._allowed is None else is_open & self._allowed

    def assume_all(self, placed: Iterable[Placed]) -> None:
        """Counts pods that were placed without the help of this snapshot."""
        self._unapplied += [part for part in placed if part.total]

    # --- pod by pod --------------------------------------------------------------------------------------------------

    def assume_pod(self, signature: PodSignature, slot: int) -> None:
        """One pod of this signature is on this node from now on; `note_changed` is to be called after the last one."""
        self._resources.count(signature.demand, slot)
        if self.topology_state is not None:
            self.topology_state.assume_pod(signature, slot)

    def assume_pod_on_each(self, signature: PodSignature, slots: Slots) -> None:
        """One pod of this signature is on each of these different nodes; `note_changed` is to be called after the last one."""
        self._resources.count_each(signature.demand, slots)
        if self.topology_state is not None:
            self.topology_state.assume_pod_on_each(signature, slots)

    def note_changed(self, slots: Slots) -> None:
        """Pods have been counted on these nodes."""
        self._resources.note_changed(slots)

    def room_on(self, signature: PodSignature, slots: Slots) -> PodsByNode:
        """How many more pods of this signature these nodes can take now, `[slot]`, rules about other pods apart."""
        return limited(self._room_on(signature, slots), self._devices_for(signature), slots)

    def _devices_for(self, signature: PodSignature) -> PodsByNode | None:
        """How many more pods each node has devices for; None when they need none."""
        devices = self.topology_state.devices if self.topology_state is not None else None
        return devices.pods_that_fit(signature) if devices is not None else None

    def _room_on(self, signature: PodSignature, slots: Slots) -> PodsByNode:
        """The same without a look at devices."""
        self.spend(len(signature.demand.amounts), slots)
        capacity = pods_that_fit(self._resources.free, self.nodes.resolve(signature.demand), slots)
        capacity[self.fits.of(signature).mask.codes[slots] != 0] = 0
        if signature.demand.ports:
            capacity = np.minimum(capacity, 1)
            capacity[self._resources.port_conflicts(signature.demand.ports, slots)] = 0
        return capacity

    def room_and_score_on(
        self, signature: PodSignature, slot: int, known: dict[tuple[int, ...], tuple[int, int]]
    ) -> tuple[int, int]:
        """`room_on` and `scores_on` for a first pod on one node; `known` remembers them by the state of the node."""
        fit = self.fits.of(signature)
        if fit.is_plain and self._devices_for(signature) is None:
            self.steps.spend(_PLAIN)
            return fit.figures_on(slot, self._resources.free, self._resources.scored)
        tables = self._resources.free, self._resources.scored, self.nodes.allocatable
        state = (
            int(fit.mask.codes[slot]),
            *(each for table in tables for each in table[:, slot].tolist()),
        )
        has_more_to_ask = signature.demand.ports or self._devices_for(signature) is not None
        found = None if has_more_to_ask else known.get(state)
        self.steps.spend(_KNOWN if found is not None else _UNKNOWN)
        if found is None:
            slots = np.array([slot], dtype=np.intp)
            found = int(self.room_on(signature, slots)[0]), int(self.scores_on(signature, slots, 1)[0, 0])
            known[state] = found
        return found

    def score(self, signature: PodSignature) -> NDArray[np.int64]:
        """How good each node is for one more pod, as far as amounts decide; not to be written to."""
        score = self.fits.of(signature).score
        if not len(self._resources.changed):
            return score
        score = score.copy()
        score[self._resources.changed] = self.scores_on(signature, self._resources.changed, 1)[:, 0]
        return score

    def scores_on(self, signature: PodSignature, slots: Slots, depth: int) -> NDArray[np.int64]:
        """The same as `score` for some nodes, for the 1st..depth-th pod on each of them, `[slot, pod]`."""
        self.steps.spend(_SCANS_OF_A_SCORE * (ONE_SCAN + depth * len(slots)))
        loads = PodLoads.of(signature.demand, depth, signature.scoring, self.nodes.row_of)
        return total_score(
            NodesWithPods(self.nodes.allocatable, self._resources.free, self._resources.scored, loads, slots)
        )

    def _other_scores(self, signature: PodSignature, capacity: PodsByNode) -> NDArray[np.int64] | None:
        static_scores = self.fits.static_scores(signature, capacity)
        if self.topology_state is None:
            return static_scores
        slots = self.topology_state.slots
        liked = self.topology_state.scores(signature, capacity[slots] > 0)
        if liked is None:
            return static_scores
        other_scores = np.zeros(self.nodes.slots, dtype=np.int64) if static_scores is None else static_scores.copy()
        other_scores[slots] += liked
        return other_scores

    def _slots(self) -> Slots:
        alive = self.nodes.alive if self._allowed is None else self.nodes.alive & self._allowed
        return np.flatnonzero(alive)

    def _apply(self) -> None:
        if not self._unapplied:
            return
        self._resources.count_all(self._unapplied)
        if self.topology_state is not None:
            for placed in self._unapplied:
                self.topology_state.assume_all(placed.signature, placed.slots, placed.counts)
        self._unapplied.clear()


NewSnapshot = Callable[[NDArray[np.bool_] | None, str], SnapshotOverlay]
"""(the nodes to use `[node]`, None for all; the reason to give for the others) -> a snapshot without tentative pods."""
