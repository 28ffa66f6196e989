"""The search for the members of an item, within what one decision may cost."""

from typing import Final, NamedTuple

from scheduler.algorithm.exact.compile_problem import can_express, compile_problem
from scheduler.algorithm.exact.problem import Problem
from scheduler.algorithm.exact.search import MOST_STEPS, search
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.cache.pod_signature import PodsBySignature
from scheduler.cache.steps import ONE_SCAN
from scheduler.plugins.status import Certainty

_SCANS_OF_A_SIGNATURE: Final = 40
_SHARE_FOR_COMPILING: Final = 4
"""Of what is left of a decision's steps, compiling may cost this part."""
_SHARE_FOR_SEARCHING: Final = 3
"""Of all steps of a decision, searching may cost this part."""
_MOST_OF_A_DECISION: Final = 50_000_000
"""Steps of a decision that searching may cost at most."""
_ONE_STEP: Final = 10_000
_OF_A_KIND: Final = 600
_OF_A_NODE: Final = 20
_OF_A_POD: Final = 200
"""Steps of a decision that one step of the search costs, by the size of the problem."""


class SearchBudget:
    """How many steps the searches of one decision may still take.

    Attributes:
        left: steps that are left.
        spent: steps that were taken.
    """

    __slots__ = ("left", "spent")

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.left = most
        self.spent = 0


class Found(NamedTuple):
    """What the search for members came to."""

    placed: list[Placed]
    """Empty when no placement was found."""
    certainty: Certainty


def search_for_members(snapshot: SnapshotOverlay, pending: PodsBySignature, wanted: int, budget: SearchBudget) -> Found:
    """Looks for a placement of so many members, or the knowledge that there is none.

    Args:
        snapshot: without tentative pods.
        pending: the members, by signature.
        wanted: how many of them must get a node together.
        budget: what the search may take; what it takes is noted there.
    """
    unknown = Found([], Certainty.NOT_SEARCHED)
    around = _steps_around(snapshot, pending)
    if around > snapshot.steps.left / _SHARE_FOR_COMPILING:
        return unknown
    compiled = compile_problem(snapshot, pending, wanted)
    if compiled is None:
        return unknown
    cost = _cost_of_a_step(compiled.problem)
    steps = min(budget.left, _affordable(snapshot) // cost)
    # Not fewer steps where less is left: what is left depends on what caches know already.
    if steps < wanted or snapshot.steps.left < steps * cost + around:
        return unknown
    answer = search(compiled.problem, steps)
    budget.left -= answer.steps
    budget.spent += answer.steps
    snapshot.steps.spend(answer.steps * cost)
    if answer.placed:
        return Found(compiled.placed(answer.placed, pending), Certainty.PROVED)
    return Found([], Certainty.PROVED if answer.is_proven else Certainty.NOT_FOUND)


def steps_to_keep(snapshot: SnapshotOverlay, pending: PodsBySignature, wanted: int, budget: SearchBudget) -> int:
    """How many steps of the decision must be left so that the search is not refused for want of them; 0 where it would be anyway.

    Args:
        snapshot: without tentative pods.
        pending: the members, by signature.
        wanted: how many of them must get a node together.
        budget: what the search may take.
    """
    # The cost of a step is not known before compiling, only that it is no less than this.
    if not can_express(snapshot) or wanted > min(budget.left, _affordable(snapshot) // _ONE_STEP):
        return 0
    around = _steps_around(snapshot, pending)
    kept = _affordable(snapshot) + _SHARE_FOR_COMPILING * around
    return kept if kept < snapshot.steps.left else 0


def _steps_around(snapshot: SnapshotOverlay, pending: PodsBySignature) -> int:
    """For compiling before and, as much again, for saying afterwards why nobody has a place."""
    return _SCANS_OF_A_SIGNATURE * len(pending) * (ONE_SCAN + snapshot.nodes.slots)


def _affordable(snapshot: SnapshotOverlay) -> int:
    return min(_MOST_OF_A_DECISION, snapshot.steps.most // _SHARE_FOR_SEARCHING)


def _cost_of_a_step(problem: Problem) -> int:
    return _ONE_STEP + _OF_A_KIND * len(problem.kinds) + _OF_A_NODE * len(problem.free) + _OF_A_POD * problem.pods
