"""The states of a gang over time, a bounded list of [milliseconds since 1970, state]. Pure."""

from typing import Any, Final

from views.model.gang import Gang, State
from views.page.rows import milliseconds

MOST_CHANGES: Final = 64
GONE: Final = "gone"
"""State of a gang whose PodGroup was deleted; it stays to be seen for a while."""

_ONLY_BEFORE: Final = frozenset({State.HELD, State.WAITING, State.GAVE_UP, State.SUSPENDED})

History = list[list[Any]]


def first_history(gang: Gang, now: int) -> History:
    """What can be told of a gang that was there before anybody looked: it waited until it was scheduled for the first time.

    Args:
        gang: as it is now.
        now: milliseconds since 1970.
    """
    created, started, since = milliseconds(gang.created), milliseconds(gang.started), milliseconds(gang.since)
    if not created:
        return [[now, str(gang.state)]]
    if gang.state in _ONLY_BEFORE and not started:
        return [[created, str(gang.state)]]
    found: History = [[created, str(State.WAITING)]]
    if started:
        found.append([started, str(State.RUNNING)])
    if gang.state is not State.RUNNING:
        # Since when is known of those only that wait; of the others, that it is so now.
        found.append([max(since or now, started, created), str(gang.state)])
    return found


def continued(history: History, state: str, now: int) -> History:
    """The history with this state from now on."""
    if history and history[-1][1] == state:
        return history
    return [*history, [now, str(state)]][-MOST_CHANGES:]
