"""What the pods to be placed and the pods that run mean to each other: compiled once per decision, for all nodes.

Everything is a number per value of a node label (`Place`): pods that a rule speaks of, or weights that rules of running pods
put there. A placed pod changes some of these numbers (`effects`); where no member changes a number that a member looks at,
the rules are as good as fixed masks and scores, and equal pods stay in closed form.
"""

import copy
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler.filters.node_affinity import node_affinity
from scheduler.filters.taint_toleration import taint_toleration
from scheduler.placement.term_matching import MemberTerms, Party, weight_of
from scheduler.placement.volume_claims import Packs
from scheduler.state.changes import Codes
from scheduler.state.label_classes import Counts
from scheduler.state.nodes import NodeTable
from scheduler.state.pod_rules import Bonds, Spread, Tie
from scheduler.state.records import PodRecord
from scheduler.state.rules import NodeRules
from scheduler.state.selectors import Query
from scheduler.state.shapes import Shape
from scheduler.state.steps import ONE_LOOK
from scheduler.state.topology_index import Hold, Neighbours

HOSTNAME: Final = "kubernetes.io/hostname"
_LOOKS_OF_A_SUM: Final = 6
"""A sum by value costs so many looks at all nodes."""
_ONE_SLOT: Final = 100
"""Steps to take over where one running pod is."""


class Place:
    """A number per value of a node label; code 0 stands for nodes without the label and is always 0."""

    __slots__ = ("codes", "eligible", "sums")

    def __init__(self, codes: Codes, sums: NDArray[np.int64], eligible: NDArray[np.bool_] | None = None) -> None:
        self.codes: Final = codes
        self.sums: Final = sums
        self.eligible: Final = eligible
        """Only pods on these nodes count; None when all do."""


class Even(NamedTuple):
    """A spread constraint of a shape, ready to be evaluated; `place` is an index."""

    spread: Spread
    place: int
    values: NDArray[np.intp]
    """The eligible values (hard constraints)."""
    counts_itself: bool


class Source(NamedTuple):
    """Where the number of a place comes from; neither for places that only attract."""

    query: Query | None = None
    """It counts the pods that this speaks of."""
    party: Party | None = None
    """It counts the terms of others that keep this party off, for the node label `key`."""
    key: str = ""


class Stance:
    """All that limits and attracts the pods of one shape; numbers are indices of places."""

    __slots__ = (
        "even",
        "is_of_its_kind",
        "keeps_off",
        "labelled_by_all",
        "near",
        "repelled",
        "soft",
        "soft_nodes",
        "wish",
    )

    def __init__(self) -> None:
        self.near: list[int] = []
        """Required affinity: the pods all its terms speak of, by the key of each term."""
        self.is_of_its_kind = False
        """Its affinity speaks of itself, so it may be the first."""
        self.keeps_off: list[int] = []
        """Its required anti-affinity."""
        self.repelled: list[int] = []
        """The anti-affinity of others."""
        self.wish: list[int] = []
        """Preferred terms of its own and of others: weights."""
        self.even: list[Even] = []
        self.soft: list[Even] = []
        self.soft_nodes: NDArray[np.bool_] | None = None
        """The nodes that soft constraints score."""

    @property
    def strict(self) -> set[int]:
        """The places that can refuse a node."""
        return {*self.near, *self.keeps_off, *self.repelled, *(constraint.place for constraint in self.even)}

    @property
    def looked_at(self) -> set[int]:
        """The places that decide."""
        spreads = (constraint.place for constraint in (*self.even, *self.soft))
        return {*self.near, *self.keeps_off, *self.repelled, *self.wish, *spreads}


_NO_SOURCE: Final = Source()
_NOBODY: Final = Party("", {})


class Relations:
    """The stances of some shapes, and what a pod of each does to all places."""

    def __init__(
        self,
        nodes: NodeTable,
        neighbours: Neighbours,
        parties: Mapping[Shape, Party],
        defaults: Mapping[Shape, tuple[Spread, ...]] | None = None,
        packs: Packs | None = None,
    ) -> None:
        """`defaults` are soft constraints of shapes that state none; they count pods that run, not the members."""
        self.packs: Final = packs
        """What the members carry; None when nobody has volumes that matter."""
        self.nodes: Final = nodes
        self._nodes: Final = nodes
        self._defaults: Final = defaults or {}
        self._neighbours: Final = neighbours
        self._parties: Final = parties
        self.places: list[Place] = []
        self.sources: Final[list[Source]] = []
        """Of each place."""
        self.stances: Final[dict[Shape, Stance]] = {}
        self.effects: Final[dict[Shape, dict[int, int]]] = {shape: {} for shape in parties}
        """What one pod of a shape adds to which place."""
        self._terms: Final = MemberTerms(neighbours, parties, nodes.steps)
        self._made: dict[Hashable, Stance] = {}
        self._counts_of: dict[int, Counts] = {}
        self._held: dict[Hashable, int] = {}
        self._counted: dict[tuple[int, str], int] = {}
        self._spread: dict[tuple[int, NodeRules], tuple[int, NDArray[np.intp]]] = {}
        self._accepting: dict[NodeRules, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = {}
        for shape, party in parties.items():
            self.stances[shape] = self._stance(shape, party)

    @cached_property
    def are_fixed(self) -> bool:
        """True when where one member goes matters to none of the members."""
        if self.packs is not None and not self.packs.are_fixed:
            return False
        looked_at = {place for stance in self._distinct() for place in stance.looked_at}
        return not any(looked_at & effects.keys() for effects in self.effects.values())

    @cached_property
    def strict(self) -> set[int]:
        """The places that can refuse a node to somebody."""
        return {place for stance in self._distinct() for place in stance.strict}

    @property
    def is_strict(self) -> bool:
        """True when rules about other pods, or volumes, can refuse a node to somebody."""
        return self.packs is not None or bool(self.strict)

    def counted_on(self, at: int) -> NDArray[np.bool_]:
        """The node slots with pods that a strict place counts."""
        source = self.sources[at]
        if source.query is not None:
            return np.asarray(self._neighbours.counts(source.query) != 0, dtype=np.bool_)
        found = np.zeros(self._nodes.slots, dtype=np.bool_)
        if source.party is not None:
            for hold in self._neighbours.holds_on(*source.party):
                if hold.tie.kind == "repels" and hold.tie.key == source.key:
                    found[list(hold.where)] = True
        return found

    def added_by(self, pod: PodRecord, at: int) -> int:
        """What a running pod adds to a strict place, wherever it runs."""
        source = self.sources[at]
        if source.query is not None:
            is_skipped = source.query.skips_leaving and pod.terminating
            return int(not is_skipped and self._neighbours.meets(source.query, pod.namespace, pod.labels))
        ties = pod.bonds.repels if pod.bonds is not None and source.party is not None else ()
        return sum(tie.key == source.key and self._speaks_of(tie.query, source.party or _NOBODY) for tie in ties)

    def less(self, taken: Mapping[int, NDArray[np.int64]]) -> "Relations":
        """The same for a cluster in which some places count so much less, by value."""
        made = copy.copy(self)
        made.places = [
            Place(place.codes, place.sums - taken[at], place.eligible) if at in taken else place
            for at, place in enumerate(self.places)
        ]
        return made

    @cached_property
    def improvable(self) -> set[int]:
        """The places that members change."""
        return {place for effects in self.effects.values() for place in effects}

    def self_repelling(self, shape: Shape) -> list[Place]:
        """The places whose values take one pod of this shape each."""
        stance = self.stances[shape]
        own = self.effects[shape]
        return [self.places[place] for place in stance.keeps_off if own.get(place)]

    def is_self_gathering(self, shape: Shape) -> bool:
        """True when the first pod of this shape decides in which value all the others have to be."""
        stance = self.stances[shape]
        return stance.is_of_its_kind and bool(stance.near) and not any(self.places[at].sums.any() for at in stance.near)

    # --- stances -----------------------------------------------------------------------------------------------------

    def _distinct(self) -> Iterable[Stance]:
        return {id(stance): stance for stance in self.stances.values()}.values()

    def _stance(self, shape: Shape, party: Party) -> Stance:
        """Shared by all shapes that have the same rules and look the same."""
        defaults = self._defaults.get(shape, ())
        key = (id(shape.rules), self._terms.look(shape), tuple(map(id, defaults)))
        stance = self._made.get(key)
        if stance is None:
            stance = self._made[key] = self._new_stance(shape, party)
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
            place = self.places[at]
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
                self.effects[shape][at] = amount
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
            self.effects[shape][at] = 1

    def _add(self, place: Place, source: Source = _NO_SOURCE) -> int:
        self.places.append(place)
        self.sources.append(source)
        return len(self.places) - 1

    def _speaks_of(self, query: Query, party: Party) -> bool:
        return self._neighbours.meets(query, party.namespace, party.labels)

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
