"""Rules about other pods (affinity, spreading) in an evaluation: what changes when victims leave, and who of them can stay.

Most running pods bear on no such rule, so only those are looked at that some rule counts, found by the nodes they run on.
"""

from collections.abc import Hashable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.algorithm.topology import CompiledSpreadConstraint, Topology
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Slots
from scheduler.cache.pod_signature import PodSignature
from scheduler.cache.records import PodRecord
from scheduler.cache.steps import ONE_BY_ONE, ONE_SCAN
from scheduler.plugins.pod_topology_spread import min_match

_A_ROW: Final = 100
"""Steps of finding one running pod among others."""

Effect = tuple[int, int, int]
"""(number of the topology group in `Topology.groups`, code of the label's value, amount) that one pod adds there."""

Sums = dict[int, NDArray[np.int64]]
"""Number of a topology group -> [code of the label's value] what pods add up to."""


class VictimTopology:
    """The effects of some running pods, as columns: `row[i]` adds `amount[i]` to `code[i]` of `group[i]`.

    Args:
        state: the snapshot.
        topology: the rules of the members about other pods, and what counts for them.
        rows: [pod] rows of the pods to look at.
    """

    __slots__ = ("_effects", "amount", "code", "group", "row")

    def __init__(self, state: ClusterState, topology: Topology, rows: Slots) -> None:
        slots = state.assigned_pods.slots[rows]
        found = [
            (at, row, code, amount)
            for at in sorted(topology.strict)
            for row, code, amount in _on(state, topology, at, rows, slots)
        ]
        columns = np.array(found, dtype=np.int64).reshape(len(found), 4)
        self.group: Final = columns[:, 0]
        self.row: Final = columns[:, 1]
        self.code: Final = columns[:, 2]
        self.amount: Final = columns[:, 3]
        self._effects: dict[int, list[Effect]] = {}
        for at, row, code, amount in found:
            self._effects.setdefault(row, []).append((at, code, amount))

    def of(self, row: int) -> list[Effect]:
        """What the pod of one row adds."""
        return self._effects.get(row, [])

    def rows(self, groups: set[int] | None = None) -> Slots:
        """Rows of the pods that change some of these topology groups (None: any), each once."""
        chosen = self.row if groups is None else self.row[np.isin(self.group, list(groups))]
        return np.unique(chosen).astype(np.intp)

    def without(self, topology: Topology, rows: Slots) -> Topology:
        """The same rules once the pods of these rows have left, as far as they are among those looked at; `topology` stays."""
        topology.nodes.steps.spend(ONE_SCAN + _A_ROW * (len(self.row) + len(rows)))
        gone = np.isin(self.row, rows)
        if not gone.any():
            return topology
        taken: dict[int, NDArray[np.int64]] = {}
        for at in np.unique(self.group[gone]).tolist():
            topology.nodes.steps.spend(3 * (ONE_SCAN + len(self.row)))
            here = gone & (self.group == at)
            taken[at] = np.zeros_like(topology.groups[at].counts)
            np.add.at(taken[at], self.code[here], self.amount[here])
        return topology.less(taken)


def _on(state: ClusterState, topology: Topology, at: int, rows: Slots, slots: Slots) -> list[tuple[int, int, int]]:
    group, steps = topology.groups[at], topology.nodes.steps
    steps.spend(4 * (ONE_SCAN + len(group.codes)) + 2 * len(rows))
    counts = group.codes != 0
    if group.eligible is not None:
        counts = counts & group.eligible
    is_concerned = (counts & topology.counted_on(at))[slots]
    concerned = rows[is_concerned]
    codes = group.codes[slots[is_concerned]].tolist()
    steps.spend(4 * ONE_BY_ONE * len(concerned))
    known: dict[Hashable, int] = {}
    found: list[tuple[int, int, int]] = []
    for row, code in zip(concerned.tolist(), codes, strict=True):
        pod = state.assigned_pods.pods[row]
        if pod is None:
            continue
        likeness = _likeness(state, pod)
        amount = known.get(likeness)
        if amount is None:
            amount = known[likeness] = topology.added_by(pod, at)
        if amount:
            found.append((row, code, amount))
    return found


def _likeness(state: ClusterState, pod: PodRecord) -> Hashable:
    return (pod.namespace, state.topology_index.visible(pod), pod.affinity_terms, pod.terminating)


class ReprieveTopology:
    """Whether placed pods may stay on their nodes although somebody stays who could leave.

    Anti-affinity is simple: whoever it speaks of cannot stay within the value of its node label. Required affinity and spreading
    depend on the order in which the pods come, so they are placed again, one after the other; some order must work.

    Args:
        topology: the rules once everybody who may leave has left.
        placement: (signature, node slots, pods on each of them); the nodes are fixed.
    """

    def __init__(self, topology: Topology, placement: Iterable[tuple[PodSignature, Slots, NDArray[np.int64]]]) -> None:
        self._topology: Final = topology
        self._placed: Final = [
            (signature, slot) for signature, slots, counts in placement for slot in slots.repeat(counts).tolist()
        ]
        self._steps: Final = topology.nodes.steps
        self._forbidden: Final = set(self._forbidden_by_anti_affinity())
        signatures = {signature for signature, _ in self._placed}
        prefilter_states = [topology.prefilter_states[signature] for signature in signatures]
        self._ordered: Final = {
            at
            for prefilter_state in prefilter_states
            for at in (*prefilter_state.affinity, *(one.place for one in prefilter_state.hard_spreads))
        }
        self._sums: Final[Sums] = {at: topology.groups[at].counts.copy() for at in self._ordered}

    def reprieve(self, effects: list[Effect]) -> bool:
        """Whether a unit with these effects can stay as well; if so, it counts as staying from now on."""
        if any((at, code) in self._forbidden for at, code, _ in effects):
            return False
        felt = [effect for effect in effects if effect[0] in self._ordered]
        if not felt:
            return True
        for at, code, amount in felt:
            self._sums[at][code] += amount
        if self._can_be_placed():
            return True
        for at, code, amount in felt:
            self._sums[at][code] -= amount
        return False

    # --- inside ------------------------------------------------------------------------------------------------------

    def _forbidden_by_anti_affinity(self) -> Iterable[tuple[int, int]]:
        for signature, slot in self._placed:
            prefilter_state = self._topology.prefilter_states[signature]
            self._steps.spend(
                ONE_BY_ONE * (1 + len(prefilter_state.anti_affinity) + len(prefilter_state.existing_anti_affinity))
            )
            for at in (*prefilter_state.anti_affinity, *prefilter_state.existing_anti_affinity):
                code = int(self._topology.groups[at].codes[slot])
                if code:
                    yield at, code

    def _can_be_placed(self) -> bool:
        """Whoever may come comes: nobody who comes makes it worse for those within other values, so no order is missed."""
        self._steps.spend(sum(ONE_SCAN + len(numbers) for numbers in self._sums.values()))
        sums = {at: numbers.copy() for at, numbers in self._sums.items()}
        waiting = self._placed if self._ordered else []
        while waiting:
            left = [pod for pod in waiting if not self._place(*pod, sums)]
            if len(left) == len(waiting):
                return False
            waiting = left
        return True

    def _place(self, signature: PodSignature, slot: int, sums: Sums) -> bool:
        prefilter_state = self._topology.prefilter_states[signature]
        rules = 1 + len(prefilter_state.hard_spreads) + len(prefilter_state.affinity)
        self._steps.spend(ONE_SCAN * rules + ONE_BY_ONE * len(self._topology.effects[signature]))
        if not all(self._is_even(one, slot, sums) for one in prefilter_state.hard_spreads):
            return False
        if prefilter_state.affinity and not self._is_near(signature, slot, sums):
            return False
        for at, amount in self._topology.effects[signature].items():
            group = self._topology.groups[at]
            if at in sums and (group.eligible is None or group.eligible[slot]):
                code = group.codes[slot]
                if code:
                    sums[at][code] += amount
        return True

    def _is_even(self, one: CompiledSpreadConstraint, slot: int, sums: Sums) -> bool:
        code = self._topology.groups[one.place].codes[slot]
        self._steps.spend(len(one.values))
        least = min_match(sums[one.place], one.values, one.spread.min_domains)
        return bool(code and sums[one.place][code] + one.counts_itself - least <= one.spread.max_skew)

    def _is_near(self, signature: PodSignature, slot: int, sums: Sums) -> bool:
        prefilter_state = self._topology.prefilter_states[signature]
        if all(sums[at][self._topology.groups[at].codes[slot]] > 0 for at in prefilter_state.affinity):
            return True
        return prefilter_state.is_of_its_kind and not any(sums[at].any() for at in prefilter_state.affinity)
