"""What rules see of the pods to be placed, and which of them a rule selects: compared once per rule and distinct labels.

A rule that asks for a label value is only compared with pods that have it. Queries are told apart by identity first: they live
as long as the pods' shapes do, and comparing long ones costs.
"""

from collections.abc import Collection, Hashable, Iterable
from typing import Final, NamedTuple

from scheduler.state.neighbours import Neighbours
from scheduler.state.selectors import Labels, Query, Selector
from scheduler.state.steps import Steps

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
