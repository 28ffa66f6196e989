"""Rules about other pods on one snapshot: where its pods went changes which nodes the later ones may use and prefer.

Works on some node slots (`slots`) only; numbers per value of a label are copied when the first pod changes them.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.devices.binder import DeviceBinder
from scheduler.algorithm.topology import HOSTNAME, CompiledSpreadConstraint, PreFilterState, Topology
from scheduler.algorithm.volume_binder import Reasons, VolumeBinder
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.steps import ONE_SCAN
from scheduler.plugins import inter_pod_affinity as affinity
from scheduler.plugins import pod_topology_spread as spreading
from scheduler.plugins.status import Status

Mask = NDArray[np.bool_]
Whole = NDArray[np.int64]
Refusals = Iterator[tuple[Status, frozenset[int], Mask]]
"""(status, topology groups that can still change it for the better, nodes refused)."""

_NEVER: Final[frozenset[int]] = frozenset()
_SCANS_OF_A_RULE: Final = 3
_SCANS_OF_A_SOFT_SPREAD: Final = 20
"""Operations on all nodes that one rule takes."""
_MANY_RULES: Final = 100
"""The figures of more rules than this do not fit the processor's caches: each operation takes longer."""


class TopologyState:
    """Which nodes rules about other pods allow and prefer, with the running pods and the tentative ones of this snapshot.

    Args:
        topology: the compiled rules.
        slots: the node slots that the snapshot uses; masks and scores are `[entry of slots]`.
    """

    def __init__(self, topology: Topology, slots: Slots) -> None:
        self.slots: Final = slots
        self.topology: Final = topology
        self.volumes: Final = (
            VolumeBinder(topology.volume_claims, topology.nodes) if topology.volume_claims is not None else None
        )
        """Their volumes; None when nobody has volumes that matter."""
        self.devices: Final = DeviceBinder(topology.device_claims) if topology.device_claims is not None else None
        """Their devices; None when nobody asks for any."""
        self._sums: list[Whole] = [group.counts for group in topology.groups]
        self._codes: list[Slots | None] = [None] * len(topology.groups)
        self._there: list[Whole | None] = [None] * len(topology.groups)

    def assume_all(self, signature: PodSignature, slots: Slots, counts: Slots) -> None:
        """So many pods of this signature are on each of these node slots from now on."""
        if self.devices is not None:
            self.devices.assume_pods(signature, slots.tolist(), counts.tolist())
        if self.volumes is None and not self.topology.effects[signature]:
            return
        for slot, pods in zip(slots.tolist(), counts.tolist(), strict=True):
            self._assume(signature, slot, pods)

    def assume_pod(self, signature: PodSignature, slot: int) -> None:
        """One pod of this signature is on this node slot from now on."""
        if self.devices is not None:
            self.devices.assume_pods(signature, [slot], [1])
        self._assume(signature, slot, 1)

    def _assume(self, signature: PodSignature, slot: int, pods: int) -> None:
        if self.volumes is not None:
            self.volumes.assume_pod(signature, slot)
        self._spend(len(self.topology.effects[signature]))
        for at, amount in self.topology.effects[signature].items():
            group = self.topology.groups[at]
            code = int(group.codes[slot])
            if not code or (group.eligible is not None and not group.eligible[slot]):
                continue
            if self._sums[at] is group.counts:
                self._sums[at] = group.counts.copy()
            self._sums[at][code] += amount * pods
            there = self._there[at]
            if there is not None:
                np.add(there, amount * pods, out=there, where=self._code(at) == code)

    def assume_pod_on_each(self, signature: PodSignature, slots: Slots) -> None:
        """The same for one pod on each of these nodes, for signatures without volumes and devices."""
        self._spend(2 * len(self.topology.effects[signature]))
        for at, amount in self.topology.effects[signature].items():
            group = self.topology.groups[at]
            there = slots if group.eligible is None else slots[group.eligible[slots]]
            codes = group.codes[there]
            if self._sums[at] is group.counts:
                self._sums[at] = group.counts.copy()
            np.add.at(self._sums[at], codes[codes != 0], amount)
            self._there[at] = None

    def values(self, at: int) -> Slots:
        """The codes of a group's label on the nodes of `slots`; 0 where a node lacks it."""
        return self._code(at)

    def allowed(self, signature: PodSignature) -> Mask | None:
        """The nodes of `slots` that rules about other pods allow one more pod of this signature; None when they allow all."""
        self._spend(self._scans_of_filters(signature))
        unfit = self._unfit(signature)
        found = None if unfit is None else ~unfit
        for _, _, refused in self._filtered(self.topology.prefilter_states[signature]):
            found = ~refused if found is None else found & ~refused
        return found

    def permanently_filtered(self, signature: PodSignature) -> Mask | None:
        """The nodes of `slots` that stay refused wherever members go; None when there are none."""
        self._spend(self._scans_of_filters(signature))
        found = self._unfit(signature)
        for _, places, refused in self._filtered(self.topology.prefilter_states[signature]):
            if places.isdisjoint(self.topology.improvable):
                found = refused if found is None else found | refused
        return found

    def reasons(self, signature: PodSignature, considered: Mask) -> Iterator[tuple[Status, int]]:
        """(status, number of nodes) for the considered nodes of `slots` that they refuse; the first of a node counts."""
        self._spend(2 * self._scans_of_filters(signature))
        left = considered.copy()
        for group in self._claimed(signature):
            filtered = [(reason, left & refused[self.slots]) for reason, refused in group]
            for reason, here in filtered:
                if here.any():
                    yield reason, int(here.sum())
                left &= ~here
        for reason, _, refused in self._filtered(self.topology.prefilter_states[signature]):
            here = left & refused
            if here.any():
                yield reason, int(here.sum())
            left &= ~refused

    def scores(self, signature: PodSignature, feasible: Mask) -> Whole | None:
        """What rules about other pods add to the score of each node of `slots`; None when they make no difference."""
        prefilter, weights = self.topology.prefilter_states[signature], signature.scoring.weights
        self._spend(
            _SCANS_OF_A_SOFT_SPREAD * len(prefilter.soft_spreads) + _SCANS_OF_A_RULE * len(prefilter.preferred_affinity)
        )
        total: Whole | None = None
        if prefilter.soft_spreads:
            total = weights.pod_topology_spread * self._evenness(prefilter, feasible)
        if prefilter.preferred_affinity:
            raw = np.sum([self._at(group) for group in prefilter.preferred_affinity], axis=0)
            liked = weights.inter_pod_affinity * affinity.normalize_scores(raw, feasible)
            total = liked if total is None else total + liked
        stored = self.volumes.scores(signature) if self.volumes is not None else None
        if stored is not None:
            stored = weights.volume_binding * stored[self.slots]
            total = stored if total is None else total + stored
        early = self.devices.scores(signature) if self.devices is not None else None
        if early is not None:
            total = early[self.slots] if total is None else total + early[self.slots]
        return total

    # --- inside ------------------------------------------------------------------------------------------------------

    def _scans_of_filters(self, signature: PodSignature) -> int:
        prefilter = self.topology.prefilter_states[signature]
        rules = (
            len(prefilter.affinity)
            + len(prefilter.anti_affinity)
            + len(prefilter.existing_anti_affinity)
            + 2 * len(prefilter.hard_spreads)
        )
        return _SCANS_OF_A_RULE * rules * (1 if rules <= _MANY_RULES else 3)

    def _spend(self, scans: int) -> None:
        """So many operations on all nodes of `slots`."""
        self.topology.nodes.steps.spend(scans * (ONE_SCAN + len(self.slots)))

    def _unfit(self, signature: PodSignature) -> Mask | None:
        """The nodes of `slots` where a pod of this signature cannot go with its volumes and devices."""
        found: Mask | None = None
        for group in self._claimed(signature):
            for _, refused in group:
                here = refused[self.slots]
                found = here if found is None else found | here
        return found

    def _claimed(self, signature: PodSignature) -> list[Reasons]:
        """What volumes and devices hold against each node, filter by filter."""
        found = list(self.volumes.filtered(signature)) if self.volumes is not None else []
        return found + self.devices.filtered(signature) if self.devices is not None else found

    def _code(self, at: int) -> Slots:
        codes = self._codes[at]
        if codes is None:
            codes = self._codes[at] = self.topology.groups[at].codes[self.slots].astype(np.intp)
        return codes

    def _at(self, at: int) -> Whole:
        there = self._there[at]
        if there is None:
            self._spend(2 * _SCANS_OF_A_RULE)
            there = self._there[at] = self._sums[at][self._code(at)]
        return there

    def _labelled(self, at: int) -> Mask:
        return np.asarray(self._code(at) != 0, dtype=np.bool_)

    def _filtered(self, prefilter: PreFilterState) -> Refusals:
        for constraint in prefilter.hard_spreads:
            yield spreading.REASON_LABEL, _NEVER, ~self._labelled(constraint.place)
            yield spreading.REASON, frozenset({constraint.place}), ~self._even_enough(constraint)
        if prefilter.affinity:
            yield affinity.REASON_AFFINITY, frozenset(prefilter.affinity), ~self._near(prefilter)
        if prefilter.anti_affinity:
            yield (
                affinity.REASON_ANTI_AFFINITY,
                _NEVER,
                ~affinity.satisfies_anti_affinity([self._at(at) for at in prefilter.anti_affinity]),
            )
        if prefilter.existing_anti_affinity:
            yield (
                affinity.REASON_EXISTING,
                _NEVER,
                ~affinity.satisfies_anti_affinity([self._at(at) for at in prefilter.existing_anti_affinity]),
            )

    def _even_enough(self, constraint: CompiledSpreadConstraint) -> Mask:
        spread = constraint.spread
        least = spreading.min_match(self._sums[constraint.place], constraint.values, spread.min_domains)
        return spreading.within_max_skew(
            self._at(constraint.place), least, counts_itself=constraint.counts_itself, max_skew=spread.max_skew
        )

    def _near(self, prefilter: PreFilterState) -> Mask:
        is_first = prefilter.is_of_its_kind and not any(self._sums[at].any() for at in prefilter.affinity)
        return affinity.satisfies_affinity(
            [self._at(at) for at in prefilter.affinity],
            [self._labelled(at) for at in prefilter.affinity],
            is_first=is_first,
        )

    def _evenness(self, prefilter: PreFilterState, feasible: Mask) -> Whole:
        counting = (
            feasible if prefilter.soft_spread_nodes is None else feasible & prefilter.soft_spread_nodes[self.slots]
        )
        crowded = np.zeros(len(self.slots))
        for constraint in prefilter.soft_spreads:
            values = self._values(constraint, counting)
            crowded += spreading.score_for_count(
                self._at(constraint.place), self._labelled(constraint.place), values, constraint.spread.max_skew
            )
        return spreading.normalize_scores(crowded, counting)

    def _values(self, constraint: CompiledSpreadConstraint, counting: Mask) -> int:
        if constraint.spread.key == HOSTNAME:
            return int(counting.sum())
        codes = self._code(constraint.place)[counting]
        return int(np.count_nonzero(np.bincount(codes, minlength=1)))
