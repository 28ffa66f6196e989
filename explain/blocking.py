"""The smallest set of reasons that keeps an item from starting, found by deciding without some of them.

Where lifting one reason is enough, the answer is all reasons of which that is so: without any one of them it would start. Where
none is enough alone, it is a smallest set that must be lifted together: while any one of it stays, it does not start.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

import msgspec

from explain.relaxations import Relaxation

MOST_PAIRS: Final = 66
"""Pairs that are tried; twelve reasons have so many."""

Starts = Callable[[Sequence[Relaxation]], bool]
"""Whether the item would start without these reasons."""


class Blocking(msgspec.Struct, frozen=True):
    """What stands in the way.

    Attributes:
        reasons: empty when not even without all of them it would start.
        together: all of them must go; otherwise any one is enough.
    """

    reasons: tuple[Relaxation, ...] = ()
    together: bool = False


def smallest_blocking(candidates: Sequence[Relaxation], starts: Starts) -> Blocking:
    """The smallest set of reasons among the candidates; `starts` has just said no to the empty set."""
    alone = tuple(one for one in candidates if starts([one]))
    if alone:
        return Blocking(alone)
    if not starts(candidates):
        return Blocking()
    for number, pair in enumerate(combinations(candidates, 2)):
        if number == MOST_PAIRS:
            break
        if starts(pair):
            return Blocking(pair, together=True)
    return Blocking(_without_needless(candidates, starts), together=True)


def _without_needless(candidates: Sequence[Relaxation], starts: Starts) -> tuple[Relaxation, ...]:
    """Those that are left when each that is not needed has been put back."""
    needed = list(candidates)
    for one in candidates:
        rest = [other for other in needed if other is not one]
        if starts(rest):
            needed = rest
    return tuple(needed)
