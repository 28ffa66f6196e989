"""Makes a run that fails as short as it can: fewer actions, then simpler ones, as long as it goes on failing in the same way.

Every attempt is a whole run with the same seed. What is drawn differs from attempt to attempt all the same, since fewer actions
draw less; so nothing is concluded but that this run, too, fails.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import msgspec

from verify.simulator.actions import AnyAction, Kill, Pause, Scenario

Fails = Callable[[Scenario], bool]

MOST_RUNS: Final = 300
_SIMPLER: Final[dict[str, object]] = {
    "after": 0.0,
    "seconds": 0,
    "exit_code": 0,
    "claims": False,
    "zone": False,
    "single": False,
    "elastic": False,
    "minimum": 0,
    "gpus": 0,
    "priority": 0,
}


def shrink(scenario: Scenario, fails: Fails, *, most_runs: int = MOST_RUNS) -> Scenario:
    """The shortest failing run that was found; `scenario` itself is one.

    Args:
        scenario: it fails.
        fails: whether another one does, in the same way.
        most_runs: how many may be tried.
    """
    budget = _Budget(fails, most_runs)
    best = _calmer(scenario, budget)
    while True:
        shorter = _simpler(_fewer(best, budget), budget)
        if shorter == best or budget.is_spent:
            return shorter
        best = shorter


class _Budget:
    def __init__(self, fails: Fails, most_runs: int) -> None:
        self._fails = fails
        self._left = most_runs

    @property
    def is_spent(self) -> bool:
        return self._left <= 0

    def fails(self, scenario: Scenario) -> bool:
        if self.is_spent:
            return False
        self._left -= 1
        return self._fails(scenario)


def _calmer(scenario: Scenario, budget: _Budget) -> Scenario:
    calm = replace(scenario, is_stormy=False)
    return calm if scenario.is_stormy and budget.fails(calm) else scenario


def _with(scenario: Scenario, actions: tuple[AnyAction, ...]) -> Scenario:
    return replace(scenario, actions=actions)


def _fewer(scenario: Scenario, budget: _Budget) -> Scenario:
    """Leave out halves, quarters, and so on down to single actions."""
    size = max(len(scenario.actions) // 2, 1)
    while True:
        first = 0
        while first < len(scenario.actions):
            rest = scenario.actions[:first] + scenario.actions[first + size :]
            tried = _with(scenario, rest)
            if rest and budget.fails(tried):
                scenario = tried
            else:
                first += size
        if size == 1:
            return scenario
        size //= 2


def _simpler(scenario: Scenario, budget: _Budget) -> Scenario:
    for index in range(len(scenario.actions)):
        for simpler in _variants(scenario.actions[index]):
            tried = _with(scenario, (*scenario.actions[:index], simpler, *scenario.actions[index + 1 :]))
            if budget.fails(tried):
                scenario = tried
                break
    return scenario


def _variants(action: AnyAction) -> Iterator[AnyAction]:
    """The action with everything simple, then with one thing simple each."""
    fields = action.__struct_fields__
    if isinstance(action, Kill | Pause):
        fields = ("after",)
    changes = {name: _SIMPLER[name] for name in fields if name in _SIMPLER and getattr(action, name) != _SIMPLER[name]}
    if len(changes) > 1:
        yield msgspec.structs.replace(action, **changes)
    for name, value in changes.items():
        yield msgspec.structs.replace(action, **{name: value})
