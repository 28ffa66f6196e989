"""Shapes: pods with equal needs share one object, found by the raw bytes of what decides them.

The tables hold their entries weakly: a demand, a set of rules or a shape lives as long as a pod (or a compiled view of it)
does, so DaemonSets, which make one set of rules per pod, do not fill them.
"""

from typing import Final
from weakref import WeakValueDictionary

from api.pod import PodSpec
from scheduler.state.demand import Demand, demand_key, parse_demand
from scheduler.state.rules import NodeRules, parse_rules, rules_key


class Shape:
    """Everything that decides where a pod can be placed; compared by identity."""

    __slots__ = ("__weakref__", "demand", "rules")

    def __init__(self, demand: Demand, rules: NodeRules) -> None:
        self.demand: Final = demand
        self.rules: Final = rules

    @property
    def problem(self) -> str:
        """Why no pod of this shape can be placed by us at all, empty when it can."""
        return self.demand.problem or self.rules.problem


class ShapeTable:
    """Finds the demand, rules and shape of a pod, parsing each distinct one once."""

    def __init__(self) -> None:
        self._demands: WeakValueDictionary[bytes, Demand] = WeakValueDictionary()
        self._rules: WeakValueDictionary[bytes, NodeRules] = WeakValueDictionary()
        self._shapes: WeakValueDictionary[tuple[Demand, NodeRules], Shape] = WeakValueDictionary()

    def demand(self, spec: PodSpec) -> Demand:
        """What the pod takes of a node."""
        key = demand_key(spec)
        found = self._demands.get(key)
        if found is None:
            found = self._demands[key] = parse_demand(spec)
        return found

    def shape(self, spec: PodSpec) -> Shape:
        """The shape of a pod that is to be placed."""
        key = rules_key(spec)
        rules = self._rules.get(key)
        if rules is None:
            rules = self._rules[key] = parse_rules(spec)
        demand = self.demand(spec)
        found = self._shapes.get((demand, rules))
        if found is None:
            found = self._shapes[demand, rules] = Shape(demand, rules)
        return found
