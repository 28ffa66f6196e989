"""Who may leave: the lowest priorities that suffice, whom disruption budgets let go, who stands in domains that are cheap to clear.

Which of these choices is better is not known before a candidate is worked out for each.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scheduler.preemption.context import PotentialVictims, PreemptionContext
from scheduler.preemption.victims import LIFT

MOST_RANKS: Final = 32
"""In so many parts those of one priority are told apart where nodes are not cleared by count."""

_LOWEST: Final = np.iinfo(np.int64).min


class VictimChoices:
    """What is chosen from among those who may leave.

    Args:
        context: the snapshot.
        inner_keys: the node labels that confine groups of the item.
        suffices: whether as many members fit without these as without anybody who may leave.
        cost_steps: of asking that once.
    """

    def __init__(
        self,
        context: PreemptionContext,
        inner_keys: Sequence[str],
        suffices: Callable[[PotentialVictims], bool],
        cost_steps: int,
    ) -> None:
        self._context: Final = context
        self._inner_keys: Final = inner_keys
        self._suffices: Final = suffices
        self._cost_steps: Final = cost_steps

    def of(self, everybody: PotentialVictims) -> list[PotentialVictims]:
        """The lowest priorities that suffice, and where budgets are in the way whom these allow to go first.

        Which pods a budget lets go is settled from the least important up, although it may be another one whose node is
        needed. So the choice that does not ask for budgets is worked out, too; the cost says which candidate is better.
        """
        is_lone = self._context.members.is_lone
        # A lone pod has a domain per node, and every node the level of its own that its least important pods give.
        cheapest = everybody if is_lone else self._up_to_level(everybody, everybody.priority)
        found = [cheapest]
        if self._context.claim_releases is not None and not is_lone:
            # Nodes are not cleared by count where devices matter: the fewest units, from the least important up, are tried instead.
            found.append(self._up_to_level(cheapest, _ranks(cheapest)))
        found += self._in_cheap_domains(cheapest)
        if not everybody.violates.any():
            return found
        spared = everybody.where(~everybody.violates)
        if self._suffices(spared):
            enough = spared if is_lone else self._up_to_level(spared, spared.priority)
            return [enough, *self._in_cheap_domains(enough), *found]
        violating = np.where(everybody.violates, everybody.priority, _LOWEST)
        return [self._up_to_level(everybody, violating), *found]

    def _up_to_level(self, potential: PotentialVictims, priority: NDArray[np.int64]) -> PotentialVictims:
        """Everybody up to the lowest of these priorities that suffices; `priority` is [pod], and all of them together do."""
        levels = np.unique(priority)
        low, high, found = 0, len(levels) - 1, potential
        while low < high:
            middle = (low + high) // 2
            tried = potential.where(priority <= levels[middle])
            if self._suffices(tried):
                high, found = middle, tried
            else:
                low = middle + 1
        return found

    def _in_cheap_domains(self, potential: PotentialVictims) -> list[PotentialVictims]:
        """Of these as few as suffice in the domains that are cheapest to clear, for each label that divides a tree."""
        found = []
        for key in self._inner_keys:
            column = self._context.state.nodes.label_column(key)
            if self._affords(len(column.values)):
                there = self._up_to_level(potential, _ranks_by_domain(potential, column.codes))
                found.append(self._up_to_level(there, _ranks(there)) if self._affords(MOST_RANKS) else there)
        return found

    def _affords(self, levels: int) -> bool:
        """Whether the lowest of so many levels can be looked for; half of what is left is for the candidates."""
        return self._context.state.nodes.steps.left > 2 * self._cost_steps * (levels.bit_length() + 1)


def _ranks(potential: PotentialVictims) -> NDArray[np.int64]:
    """[pod] how early its unit leaves, the least important first, in not too many ranks."""
    ranks = np.cumsum(np.diff(potential.unit, prepend=potential.unit[:1]) != 0)
    units = int(ranks[-1:].sum()) + 1
    return ranks * min(units, MOST_RANKS) // units


def _ranks_by_domain(potential: PotentialVictims, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """[pod] how early its unit leaves if domains are cleared one by one, first those in which the least would have to go.

    Args:
        potential: who may leave.
        codes: [node slot] the domain.
    """
    domain = codes[potential.slot]
    cost = np.bincount(domain, weights=potential.priority + LIFT)
    rank = np.empty(len(cost), dtype=np.int64)
    rank[np.argsort(cost, kind="stable")] = np.arange(len(cost))
    # A unit leaves whole: with the last of its pods.
    units, number = np.unique(potential.unit, return_inverse=True)
    last = np.zeros(len(units), dtype=np.int64)
    np.maximum.at(last, number, rank[domain])
    return last[number]
