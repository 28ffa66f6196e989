"""When all placements are searched: once a few ways have not placed enough pods, or all of them.

Where few ways have placed enough of few pods, but not all, a short search says how many can be placed, which is sooner than trying
all ways.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from scheduler.algorithm.attempt import Attempt, AttemptBudget
from scheduler.algorithm.exact.members import SearchBudget, search_for_members, steps_to_keep
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.cache.pod_signature import PodsBySignature
from scheduler.plugins.status import Certainty

_MOST_PODS_SEARCHED_EARLY: Final = 16
"""So few pods are searched sooner than they are tried in all orders: the search nearly always ends, and costs less."""
_PODS_BEFORE_SEARCH: Final = 30
"""Pods put tentatively on nodes before such a search."""
_STEPS_FOR_MORE: Final = 120
"""What looking for places for more pods than must have one may cost: no more than the ways that it takes the place of."""
_SETTLED: Final = (Certainty.COUNTED, Certainty.PROVED)
"""What needs no further way: a placement that was found, or the proof that there is none."""


class SearchFallback:
    """When all placements are searched: after a few ways where few pods affect each other, else after all; once with an end.

    Args:
        empty: a snapshot without tentative pods.
        pending: the members, by signature.
        wanted: members that must get a node together.
        limit: members that no way can exceed.
        incomplete_reason: why a placement may exist that no way finds.
        budget: limits the ways that place pod by pod; None where ways are not limited.
        new_snapshot: a snapshot without tentative pods.
        search: what may be spent on searching; None for no search.

    Attributes:
        kept: steps of the decision that further ways must leave for it.
    """

    __slots__ = ("_budget", "_early", "_is_not_found", "_limit", "_look", "_more", "_reason", "_wanted", "kept")

    def __init__(
        self,
        empty: SnapshotOverlay,
        pending: PodsBySignature,
        wanted: int,
        limit: int,
        incomplete_reason: str,
        budget: AttemptBudget | None,
        new_snapshot: Callable[[], SnapshotOverlay],
        search: SearchBudget | None,
    ) -> None:
        self._budget: Final = budget
        self._wanted: Final = wanted
        self._limit: Final = limit
        self._reason: Final = incomplete_reason
        self._look: Final = partial(
            _searched,
            incomplete_reason=incomplete_reason,
            pending=pending,
            wanted=wanted,
            new_snapshot=new_snapshot,
            search=search,
        )
        self._more: Final = partial(_with_more, pending=pending, limit=limit, new_snapshot=new_snapshot, search=search)
        self._is_not_found = False
        self._early: int | None = None
        self.kept = 0
        if search is not None and budget is not None and wanted <= limit:
            self.kept = steps_to_keep(empty, pending, wanted, search)
            is_small = sum(pending.values()) <= _MOST_PODS_SEARCHED_EARLY
            self._early = budget.pods - _PODS_BEFORE_SEARCH if is_small else None

    def count(self, pending: PodsBySignature) -> None:
        """A way was tried."""
        if self._budget is not None:
            self._budget.pods -= sum(pending.values())

    def take(self, best: Attempt) -> tuple[Attempt, bool]:
        """The best outcome, with that of a search where it is time for one; whether that settles it."""
        if self._early is None or self._budget is None or self._budget.pods > self._early:
            return best, False
        self._early = None
        if best.total >= self._wanted:
            return self._more(best)
        found = self._look(best)
        if found.certainty in _SETTLED:
            return found, True
        self._is_not_found = found.certainty is Certainty.NOT_FOUND
        self.kept = 0 if self._is_not_found else self.kept
        return best, False

    def last(self, best: Attempt) -> Attempt:
        """The outcome where all ways were too little."""
        if not self._is_not_found:
            return self._look(best)
        best.certainty, best.incomplete_reason = Certainty.NOT_FOUND, self._reason
        return best


def _searched(
    best: Attempt,
    incomplete_reason: str,
    pending: PodsBySignature,
    wanted: int,
    new_snapshot: Callable[[], SnapshotOverlay],
    search: SearchBudget | None,
) -> Attempt:
    """What the search finds, or this attempt with what is known after it."""
    best.certainty, best.incomplete_reason = Certainty.NOT_SEARCHED, incomplete_reason
    if search is None:
        return best
    snapshot = new_snapshot()
    found = search_for_members(snapshot, pending, wanted, search)
    if found.placed:
        snapshot.assume_all(found.placed)
        return Attempt(snapshot, found.placed)
    best.certainty = found.certainty
    if best.certainty is Certainty.PROVED:
        best.incomplete_reason = ""
    return best


def _with_more(
    best: Attempt,
    pending: PodsBySignature,
    limit: int,
    new_snapshot: Callable[[], SnapshotOverlay],
    search: SearchBudget | None,
) -> tuple[Attempt, bool]:
    """A placement of as many pods as a short search finds places for, this one if it finds none.

    Returns:
        The placement, and whether no way is going to do better: none can, or the search has done better than some ways already.
    """
    budget = SearchBudget(min(search.left, _STEPS_FOR_MORE) if search is not None else 0)
    is_settled = False
    while best.total < limit:
        snapshot = new_snapshot()
        found = search_for_members(snapshot, pending, best.total + 1, budget)
        if not found.placed:
            is_settled = is_settled or found.certainty is Certainty.PROVED
            break
        snapshot.assume_all(found.placed)
        best, is_settled = Attempt(snapshot, found.placed), True
    if search is not None:
        search.left -= budget.spent
        search.spent += budget.spent
    return best, is_settled
