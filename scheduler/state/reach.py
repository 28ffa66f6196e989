"""From which nodes a volume can be reached, by the node affinity of the volume.

Local volumes make one affinity per node, so an answer must not cost a look at all nodes: nodes are found by the values of a
label, and only those are asked for the rest.
"""

from typing import Final

import numpy as np

from scheduler.state.changes import Slots
from scheduler.state.nodes import NodeTable
from scheduler.state.requirements import Requirement, matches
from scheduler.state.rules import Term

MOST_KEPT: Final = 65536


class Reach:
    """Node slots by node affinity, kept until a node says something new about itself."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes: Final = nodes
        self._kept: dict[tuple[Term, ...], Slots] = {}
        self._by_value: dict[str, dict[str, list[int]]] = {}
        self._position = -1

    def slots(self, terms: tuple[Term, ...]) -> Slots:
        """The slots of the nodes that meet one of the terms, ascending."""
        end = self._nodes.rule_changes.end
        if self._position != end or len(self._kept) >= MOST_KEPT:
            self._kept.clear()
            self._by_value.clear()
            self._position = end
        found = self._kept.get(terms)
        if found is None:
            met = {slot for term in terms if term for slot in self._meeting(term)}
            found = self._kept[terms] = np.array(sorted(met), dtype=np.intp)
        return found

    def _meeting(self, term: Term) -> list[int]:
        named = [one for one in term if one.operator == "In"]
        if not named:
            slots = self._nodes.live_slots().tolist()
        else:
            narrowest = min(named, key=lambda one: len(one.values))
            by_value = self._values(narrowest.key)
            slots = [slot for value in set(narrowest.values) for slot in by_value.get(value, ())]
        return [slot for slot in slots if all(self._meets(one, slot) for one in term)]

    def _meets(self, requirement: Requirement, slot: int) -> bool:
        facts = self._nodes.facts[slot]
        return facts is not None and matches(requirement, facts.label(requirement.key))

    def _values(self, key: str) -> dict[str, list[int]]:
        found = self._by_value.get(key)
        if found is None:
            found = self._by_value[key] = {}
            for slot in self._nodes.live_slots().tolist():
                facts = self._nodes.facts[slot]
                value = facts.label(key) if facts else None
                if value is not None:
                    found.setdefault(value, []).append(slot)
        return found
