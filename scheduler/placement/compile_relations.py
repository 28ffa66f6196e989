"""Compiling the relations of the pods to be placed: once per decision, for all nodes."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.filters.node_affinity import node_affinity
from scheduler.filters.taint_toleration import taint_toleration
from scheduler.placement.relations import HOSTNAME, Even, Place, Relations, Source, Stance
from scheduler.placement.term_matching import MemberTerms, Party, weight_of
from scheduler.placement.volume_claims import Packs
from scheduler.state.changes import Codes
from scheduler.state.label_classes import Counts
from scheduler.state.nodes import NodeTable
from scheduler.state.pod_rules import Bonds, Spread, Tie
from scheduler.state.rules import NodeRules
from scheduler.state.selectors import Query
from scheduler.state.shapes import Shape
from scheduler.state.steps import ONE_LOOK
from scheduler.state.topology_index import Hold, Neighbours

_LOOKS_OF_A_SUM: Final = 6
"""A sum by value costs so many looks at all nodes."""
_ONE_SLOT: Final = 100
"""Steps to take over where one running pod is."""


_NO_SOURCE: Final = Source()


def compile_relations(
    nodes: NodeTable,
    neighbours: Neighbours,
    parties: Mapping[Shape, Party],
    defaults: Mapping[Shape, tuple[Spread, ...]],
    packs: Packs | None = None,
) -> Relations:
    """The relations of some shapes.

    Args:
        nodes: the node table.
        neighbours: the pods that run.
        parties: by shape what rules see of its pods.
        defaults: soft constraints of shapes that state none; they count pods that run, not the members.
        packs: what the members carry; None when nobody has volumes that matter.

    Raises:
        OverBudgetError: that takes more steps than the computation under way may take.
    """
    made = Relations(nodes, neighbours, parties, packs)
    compiler = _Compiler(made, neighbours, MemberTerms(neighbours, parties, nodes.steps), defaults)
    for shape, party in parties.items():
        made.stances[shape] = compiler.stance(shape, party)
    return made


class _Compiler:
    """Fills relations; what several shapes have in common is made once."""

    def __init__(
        self, made: Relations, neighbours: Neighbours, terms: MemberTerms, defaults: Mapping[Shape, tuple[Spread, ...]]
    ) -> None:
        self._made: Final = made
        self._nodes: Final = made.nodes
        self._neighbours: Final = neighbours
        self._terms: Final = terms
        self._defaults: Final = defaults
        self._shared: dict[Hashable, Stance] = {}
        self._counts_of: dict[int, Counts] = {}
        self._held: dict[Hashable, int] = {}
        self._counted: dict[tuple[int, str], int] = {}
        self._spread: dict[tuple[int, NodeRules], tuple[int, NDArray[np.intp]]] = {}
        self._accepting: dict[NodeRules, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = {}

    def stance(self, shape: Shape, party: Party) -> Stance:
        """Shared by all shapes that have the same rules and look the same."""
        defaults = self._defaults.get(shape, ())
        key = (id(shape.rules), self._terms.look(shape), tuple(map(id, defaults)))
        stance = self._shared.get(key)
        if stance is None:
            stance = self._shared[key] = self._new_stance(shape, party)
            for spread in defaults:
                even = Even(spread, *self._soft_place(spread, shape, self._nodes.alive), counts_itself=False)
                stance.soft.append(even)
        return stance

    def _new_stance(self, shape: Shape, party: Party) -> Stance:
        stance = Stance()
        bonds = shape.rules.bonds
        if bonds is not None:
            self._own_terms(stance, shape, bonds)
        holds = self._neighbours.holds_on(*party) if self._neighbours.is_held(party.namespace) else []
        self._terms_of_others(stance, shape, party, holds)
        self._wishes(stance, shape, bonds, holds)
        if shape.rules.spreads:
            self._spreads(stance, shape, party)
        return stance

    def _own_terms(self, stance: Stance, shape: Shape, bonds: Bonds) -> None:
        if bonds.together is not None:
            stance.near = [self._pods(bonds.together, tie.key) for tie in bonds.needs]
            stance.is_of_its_kind = shape in self._terms.selected(bonds.together)
        stance.keeps_off = [self._pods(tie.query, tie.key) for tie in bonds.repels if self._is_on_nodes(tie.key)]

    def _is_on_nodes(self, key: str) -> bool:
        """Whether any node has this label: terms that keep pods apart by a label mean nothing without it."""
        return bool(self._nodes.label_column(key).codes.any())

    def _terms_of_others(self, stance: Stance, shape: Shape, party: Party, holds: Iterable[Hold]) -> None:
        by_key: dict[str, list[tuple[Hold, int]]] = {}
        for hold in holds:
            if hold.tie.kind == "repels":
                by_key.setdefault(hold.tie.key, []).append((hold, 1))
        coming = self._terms.repelling(shape)
        for key in {**by_key, **coming}:
            if not self._is_on_nodes(key):
                continue
            held, effects = by_key.get(key, ()), coming.get(key, {})
            # Whom the same terms keep off looks at the same numbers.
            same = (key, tuple(id(hold) for hold, _ in held), tuple(effects.items()))
            if same not in self._held:
                source = Source(party=party, key=key)
                self._held[same] = self._held_place(key, held, self._terms.by_shape(effects), source)
            stance.repelled.append(self._held[same])

    def _wishes(self, stance: Stance, shape: Shape, bonds: Bonds | None, holds: Iterable[Hold]) -> None:
        by_key: dict[str, list[tuple[Hold, int]]] = {}
        for hold in holds:
            if weight := weight_of(hold.tie):
                by_key.setdefault(hold.tie.key, []).append((hold, weight))
        likes: dict[str, list[Tie]] = {}
        for tie in bonds.likes if bonds else ():
            likes.setdefault(tie.key, []).append(tie)
        coming = self._terms.wishing(shape)
        for key in {**by_key, **likes, **coming}:
            if not self._is_on_nodes(key):
                continue
            effects = self._terms.by_shape(coming.get(key, {}))
            for tie in likes.get(key, ()):
                for other in self._terms.selected(tie.query):
                    effects[other] = effects.get(other, 0) + tie.weight
            at = self._held_place(key, by_key.get(key, ()), effects)
            place = self._made.places[at]
            for tie in likes.get(key, ()):
                place.sums[:] += tie.weight * self._by_value(place.codes, len(place.sums), tie.query)
            stance.wish.append(at)

    # --- places ------------------------------------------------------------------------------------------------------

    def _pods(self, query: Query, key: str) -> int:
        same = (self._terms.number(query), key)
        at = self._counted.get(same)
        if at is None:
            column = self._nodes.label_column(key)
            sums = self._by_value(column.codes, len(column.values), query)
            at = self._counted[same] = self._add(Place(column.codes, sums), Source(query))
            self._note_effects(at, query)
        return at

    def _held_place(
        self, key: str, holds: Iterable[tuple[Hold, int]], effects: Mapping[Shape, int], source: Source = _NO_SOURCE
    ) -> int:
        column = self._nodes.label_column(key)
        codes, sums = column.codes, np.zeros(len(column.values), dtype=np.int64)
        for hold, weight in holds:
            self._nodes.steps.spend(ONE_LOOK + _ONE_SLOT * len(hold.where))
            slots = np.fromiter(hold.where, dtype=np.intp, count=len(hold.where))
            pods = np.fromiter(hold.where.values(), dtype=np.int64, count=len(hold.where))
            np.add.at(sums, codes[slots], weight * pods)
        sums[0] = 0
        at = self._add(Place(codes, sums), source)
        for shape, amount in effects.items():
            if amount:
                self._made.effects[shape][at] = amount
        return at

    def _by_value(
        self, codes: Codes, size: int, query: Query, eligible: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        self._nodes.steps.spend(_LOOKS_OF_A_SUM * (ONE_LOOK + len(codes)))
        counts = self._counts(query)
        if eligible is not None:
            counts = counts * eligible
        sums = np.bincount(codes, weights=counts, minlength=size).astype(np.int64)
        sums[0] = 0
        return sums

    def _counts(self, query: Query) -> Counts:
        number = self._terms.number(query)
        found = self._counts_of.get(number)
        if found is None:
            found = self._counts_of[number] = self._neighbours.counts(query)
        return found

    def _note_effects(self, at: int, query: Query) -> None:
        for shape in self._terms.selected(query):
            self._made.effects[shape][at] = 1

    def _add(self, place: Place, source: Source = _NO_SOURCE) -> int:
        self._made.places.append(place)
        self._made.sources.append(source)
        return len(self._made.places) - 1

    # --- spreading ---------------------------------------------------------------------------------------------------

    def _spreads(self, stance: Stance, shape: Shape, party: Party) -> None:
        hard = [spread for spread in shape.rules.spreads if spread.is_hard]
        soft = [spread for spread in shape.rules.spreads if not spread.is_hard]
        labelled = self._labelled(hard)
        for spread in hard:
            at, values = self._spread_place(spread, shape.rules, labelled)
            self._note_effects(at, spread.query)
            stance.even.append(Even(spread, at, values, spread.selector.matches(party.labels)))
        if not soft:
            return
        labelled = self._labelled(soft)
        stance.soft_nodes = labelled
        for spread in soft:
            at, values = self._soft_place(spread, shape, labelled)
            self._note_effects(at, spread.query)
            stance.soft.append(Even(spread, at, values, counts_itself=False))

    def _soft_place(self, spread: Spread, shape: Shape, labelled: NDArray[np.bool_]) -> tuple[int, NDArray[np.intp]]:
        if spread.key == HOSTNAME:
            return self._per_node(spread), np.empty(0, dtype=np.intp)
        return self._spread_place(spread, shape.rules, labelled)

    def _labelled(self, spreads: Iterable[Spread]) -> NDArray[np.bool_]:
        labelled = self._nodes.alive.copy()
        for spread in spreads:
            self._nodes.steps.spend(ONE_LOOK + self._nodes.slots)
            labelled &= self._nodes.label_column(spread.key).codes != 0
        return labelled

    def _spread_place(
        self, spread: Spread, rules: NodeRules, labelled: NDArray[np.bool_]
    ) -> tuple[int, NDArray[np.intp]]:
        found = self._spread.get((id(spread), rules))
        if found is None:
            eligible = labelled & self._counting(spread, rules)
            column = self._nodes.label_column(spread.key)
            codes = column.codes
            sums = self._by_value(codes, len(column.values), spread.query, eligible)
            at = self._add(Place(codes, sums, eligible), Source(spread.query))
            values = np.flatnonzero(np.bincount(codes[eligible], minlength=1))
            found = self._spread[id(spread), rules] = (at, values)
        return found

    def _per_node(self, spread: Spread) -> int:
        codes = np.arange(1, self._nodes.slots + 1, dtype=np.int32)
        codes[self._nodes.label_column(spread.key).codes == 0] = 0
        return self._add(Place(codes, self._by_value(codes, len(codes) + 1, spread.query)))

    def _counting(self, spread: Spread, rules: NodeRules) -> NDArray[np.bool_]:
        if rules not in self._accepting:
            self._nodes.steps.spend(rules.steps(self._nodes.slots))
            slots = np.arange(self._nodes.slots)
            verdicts = node_affinity(rules, self._nodes, slots), taint_toleration(rules, self._nodes, slots)
            everybody = np.ones(len(slots), dtype=np.bool_)
            by_affinity, by_taints = (everybody if one is None else one.codes == 0 for one in verdicts)
            self._accepting[rules] = (by_affinity, by_taints)
        by_affinity, by_taints = self._accepting[rules]
        counting = np.ones(self._nodes.slots, dtype=np.bool_)
        if spread.honours_affinity:
            counting &= by_affinity
        if spread.honours_taints:
            counting &= by_taints
        return counting
