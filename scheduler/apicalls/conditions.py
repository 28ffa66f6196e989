"""What becomes of a list of conditions when one of them is to say something new. Pure.

Two rules of KEP-4671 are kept here: `PodGroupInitiallyScheduled` that is True is never touched again (the stock scheduler
looks at its cache only and does turn it back), and the time stamp moves only when the status does.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, Protocol

import msgspec

from api.constants import CONDITION_SCHEDULED
from api.meta import Condition, condition_of

MAX_MESSAGE: Final = 1024
TRUE: Final = "True"
FALSE: Final = "False"
_FINAL_WHEN_TRUE: Final = frozenset({CONDITION_SCHEDULED})
_NUMBERS: Final = re.compile(r"\d+")


class Identified(Protocol):
    """What a write must know of the object it is for; metadata, records and references all have these."""

    @property
    def namespace(self) -> str:
        """The namespace."""

    @property
    def name(self) -> str:
        """The name, which may belong to another object tomorrow."""

    @property
    def uid(self) -> str:
        """The identity."""


def blockers(message: str) -> str:
    """A refusal's message without its counts: equal for two refusals that name the same obstacles in the same order."""
    return _NUMBERS.sub("#", message)


def condition(condition_type: str, *, is_true: bool, reason: str, message: str) -> Condition:
    """A condition as it is wanted: without a time, its message cut to a length that cannot fill the database."""
    text = message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"
    return Condition(type=condition_type, status=TRUE if is_true else FALSE, reason=reason, message=text)


def with_conditions(
    current: tuple[Condition, ...], wanted: Iterable[Condition], *, now: str
) -> tuple[Condition, ...] | None:
    """All conditions after the wanted ones were set at `now` (RFC 3339); None when nothing changes."""
    result = current
    for one in wanted:
        result = _with_condition(result, one, now)
    return None if result is current else result


def _with_condition(current: tuple[Condition, ...], wanted: Condition, now: str) -> tuple[Condition, ...]:
    old = condition_of(current, wanted.type)
    if old is None:
        return (*current, msgspec.structs.replace(wanted, last_transition_time=now))
    if old.type in _FINAL_WHEN_TRUE and old.status == TRUE:
        return current
    if says_the_same(old, wanted):
        return current
    since = old.last_transition_time if old.status == wanted.status else now
    new = msgspec.structs.replace(wanted, last_transition_time=since or now)
    return tuple(new if one.type == new.type else one for one in current)


def says_the_same(old: Condition, new: Condition) -> bool:
    """Whether a reader would see no difference."""
    return (old.status, old.reason, old.message) == (new.status, new.reason, new.message)


def as_json(conditions: Iterable[Condition]) -> list[dict[str, Any]]:
    """The conditions as the API writes them."""
    written: list[dict[str, Any]] = msgspec.to_builtins(list(conditions))
    return written
