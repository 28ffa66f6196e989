"""Which members the terms of rules select, compared once per rule and distinct labels, once per decision.

A rule that asks for a label value is only compared with pods that have it. Queries are told apart by identity first: they live
as long as the pods' signatures do, and comparing long ones costs. Members that carry the same terms, or the same labels as far as
rules see them, are matched together.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Final, NamedTuple

from scheduler.scores.inter_pod_affinity import WEIGHT_OF_NEED
from scheduler.state.pod_rules import Bonds, Tie
from scheduler.state.selectors import Labels, Query, Selector
from scheduler.state.shapes import Shape
from scheduler.state.steps import Steps
from scheduler.state.topology_index import Neighbours

Look = tuple[str, tuple[tuple[str, str], ...]]
"""Namespace and labels of a party, as a value."""


class Party(NamedTuple):
    """What rules see of the pods of one shape."""

    namespace: str
    labels: Labels

    @property
    def look(self) -> Look:
        """The same as a value."""
        return (self.namespace, tuple(self.labels.items()))


class Looks:
    """Distinct parties. Spends `steps` for every comparison."""

    def __init__(self, neighbours: Neighbours, parties: Iterable[Party], steps: Steps) -> None:
        self._neighbours: Final = neighbours
        self._steps: Final = steps
        self._parties: Final[dict[Look, Party]] = {}
        self._by_label: Final[dict[tuple[str, str], list[Look]]] = {}
        self._numbers: Final[dict[int, int]] = {}
        self._number_of: Final[dict[Query, int]] = {}
        self._selected: Final[dict[int, list[Look]]] = {}
        for party in parties:
            look = party.look
            if look not in self._parties:
                self._parties[look] = party
                for label in party.labels.items():
                    self._by_label.setdefault(label, []).append(look)

    def number(self, query: Query) -> int:
        """Equal queries have the same number."""
        number = self._numbers.get(id(query))
        if number is None:
            self._steps.spend(query.steps)
            number = self._numbers[id(query)] = self._number_of.setdefault(query, len(self._number_of))
        return number

    def selected(self, query: Query) -> list[Look]:
        """The parties that a query speaks of."""
        number = self.number(query)
        found = self._selected.get(number)
        if found is None:
            candidates = self._candidates(query.selector)
            self._steps.spend(query.steps * (1 + len(candidates)))
            found = [look for look in candidates if self._neighbours.meets(query, *self._parties[look])]
            self._selected[number] = found
        return found

    def told_apart(self, queries: Iterable[Query]) -> dict[Look, Hashable]:
        """By look: something equal for those that none of these queries, and no term of a running pod, tells apart."""
        found: dict[Look, list[int]] = {look: [] for look in self._parties}
        for number, query in {self.number(query): query for query in queries}.items():
            for look in self.selected(query):
                found[look].append(number)
        return {look: (*numbers, *self._holds(look)) for look, numbers in found.items()}

    def _candidates(self, selector: Selector) -> Collection[Look]:
        """Those that have what the rarest of the label values has that the selector asks for."""
        if selector.requirements is None:
            return ()
        named = [
            [self._by_label.get((one.key, value), ()) for value in one.values]
            for one in selector.requirements
            if one.operator == "In"
        ]
        if not named:
            return self._parties
        rarest = min(named, key=lambda found: sum(map(len, found)))
        return [look for looks in rarest for look in looks]

    def _holds(self, look: Look) -> list[tuple[int]]:
        party = self._parties[look]
        if not self._neighbours.is_held(party.namespace):
            return []
        return [(id(hold),) for hold in self._neighbours.holds_on(*party)]


Amounts = Mapping[Bonds, int]
"""What every pod that carries these terms adds."""

_ByKey = dict[str, dict[Bonds, int]]
_ENTRY: Final = 300
"""Steps to enter one number into a table."""


class MemberTerms:
    """Which shapes the terms of which shapes speak of."""

    def __init__(self, neighbours: Neighbours, parties: Mapping[Shape, Party], steps: Steps) -> None:
        self._steps: Final = steps
        self._looks: Final = Looks(neighbours, parties.values(), steps)
        self._look_of: Final = {shape: party.look for shape, party in parties.items()}
        self._shapes: Final[dict[Look, list[Shape]]] = {}
        self._carriers: Final[dict[Bonds, list[Shape]]] = {}
        for shape, look in self._look_of.items():
            self._shapes.setdefault(look, []).append(shape)
            if shape.rules.bonds is not None:
                self._carriers.setdefault(shape.rules.bonds, []).append(shape)
        self._repelling: Final[dict[Look, _ByKey]] = {}
        self._wishing: Final[dict[Look, _ByKey]] = {}
        self._match()

    def look(self, shape: Shape) -> Look:
        """What rules see of a shape."""
        return self._look_of[shape]

    def number(self, query: Query) -> int:
        """Equal queries have the same number."""
        return self._looks.number(query)

    def selected(self, query: Query) -> list[Shape]:
        """The shapes that a query speaks of."""
        return [shape for look in self._looks.selected(query) for shape in self._shapes[look]]

    def repelling(self, shape: Shape) -> Mapping[str, Amounts]:
        """The required anti-affinity of members that speaks of this shape, by topology key."""
        return self._repelling.get(self._look_of[shape], {})

    def wishing(self, shape: Shape) -> Mapping[str, Amounts]:
        """What else the terms of members mean to this shape, as weights by topology key."""
        return self._wishing.get(self._look_of[shape], {})

    def by_shape(self, amounts: Amounts) -> dict[Shape, int]:
        """The same amounts by shape."""
        found: dict[Shape, int] = {}
        for bonds, amount in amounts.items():
            if amount:
                for shape in self._carriers[bonds]:
                    found[shape] = found.get(shape, 0) + amount
        self._steps.spend(_ENTRY * len(found))
        return found

    def _match(self) -> None:
        for bonds in self._carriers:
            for tie in bonds.ties:
                looks = self._looks.selected(tie.query)
                self._steps.spend(_ENTRY * len(looks))
                weight = 1 if tie.kind == "repels" else weight_of(tie)
                to = self._repelling if tie.kind == "repels" else self._wishing
                for look in looks if weight else ():
                    amounts = to.setdefault(look, {}).setdefault(tie.key, {})
                    amounts[bonds] = amounts.get(bonds, 0) + weight


def weight_of(tie: Tie) -> int:
    """What a term that does not refuse means to the pods it speaks of."""
    return WEIGHT_OF_NEED if tie.kind == "needs" else tie.weight
