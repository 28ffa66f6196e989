"""What the terms of some members mean to others of them: matched once per decision.

Members that carry the same terms, or look the same to all rules, are matched together.
"""

from collections.abc import Mapping
from typing import Final

from scheduler.placement.looks import Look, Looks, Party
from scheduler.plugins.inter_pod_affinity import WEIGHT_OF_NEED
from scheduler.state.bonds import Bonds, Tie
from scheduler.state.neighbours import Neighbours
from scheduler.state.selectors import Query
from scheduler.state.shapes import Shape
from scheduler.state.steps import Steps

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
