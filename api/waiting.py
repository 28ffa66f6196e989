"""How long a group waits, and for how many pods: what its annotations say, on a Job and on the PodGroup made for it.

The PodGroup carries what its Job says, so that the scheduler needs no look at Jobs; a PodGroup made by hand says it itself.
"""

from typing import Final

import msgspec

from api.constants import (
    DESIRED_COUNT,
    MAX_INT32,
    ON_SCHEDULING_TIMEOUT,
    PREEMPTION_PRIORITY_CLASS,
    SCHEDULING_TIMEOUT,
    STOP_ON_TIMEOUT,
    SUSPEND_ON_TIMEOUT,
)
from api.degraded import SAID_OF_DEGRADED
from api.durations import check_duration, duration_seconds
from api.errors import InvalidGangSettings
from api.meta import Metadata

CARRIED: Final = (
    DESIRED_COUNT,
    PREEMPTION_PRIORITY_CLASS,
    SCHEDULING_TIMEOUT,
    ON_SCHEDULING_TIMEOUT,
    *SAID_OF_DEGRADED,
)
_ENDS: Final = (STOP_ON_TIMEOUT, SUSPEND_ON_TIMEOUT)


class Waiting(msgspec.Struct, frozen=True):
    """What a group says of its waiting.

    Attributes:
        desired_count: pods a basic group would like to start with; 0 when it does not say.
        timeout_seconds: time after which it gives up when it could not start; 0: never.
        is_suspended_on_timeout: whether its Job is suspended then; else its pods stay and are not tried any more.
    """

    desired_count: int = 0
    timeout_seconds: float = 0.0
    is_suspended_on_timeout: bool = False


def waiting_of(metadata: Metadata) -> Waiting:
    """What an object says; an unusable value counts as nothing said, for admission may have been away."""
    desired = metadata.annotation(DESIRED_COUNT)
    timeout = metadata.annotation(SCHEDULING_TIMEOUT)
    return Waiting(
        desired_count=_number(desired) if desired else 0,
        timeout_seconds=duration_seconds(timeout) or 0.0 if timeout else 0.0,
        is_suspended_on_timeout=metadata.annotation(ON_SCHEDULING_TIMEOUT) == SUSPEND_ON_TIMEOUT,
    )


def carried(metadata: Metadata) -> dict[str, str]:
    """The annotations that a PodGroup takes over from the object it is made for."""
    return {key: value for key in CARRIED if (value := metadata.annotation(key)) is not None}


def carried_by_tree(metadata: Metadata) -> dict[str, str]:
    """What the root of a tree takes over from the object it is made for: how long it waits. The rest is about single groups."""
    timeout = metadata.annotation(SCHEDULING_TIMEOUT)
    return {} if timeout is None else {SCHEDULING_TIMEOUT: timeout}


def check_waiting(metadata: Metadata, *, is_basic: bool) -> None:
    """Checks what a Job says.

    Raises:
        InvalidGangSettings: one of the annotations has a value that cannot be used.
    """
    desired, timeout = metadata.annotation(DESIRED_COUNT), metadata.annotation(SCHEDULING_TIMEOUT)
    end = metadata.annotation(ON_SCHEDULING_TIMEOUT)
    if desired is not None and not _number(desired):
        raise InvalidGangSettings(
            f"{desired[:64]!r} is not a whole number from 1 to {MAX_INT32}", field=_path(DESIRED_COUNT)
        )
    if desired is not None and not is_basic:
        raise InvalidGangSettings("it is for the policy basic; a gang has a minimum", field=_path(DESIRED_COUNT))
    if timeout is not None:
        check_duration(timeout, field=_path(SCHEDULING_TIMEOUT))
    if end is not None and end not in _ENDS:
        raise InvalidGangSettings(f"{end[:64]!r} is not one of {', '.join(_ENDS)}", field=_path(ON_SCHEDULING_TIMEOUT))
    if end is not None and timeout is None:
        raise InvalidGangSettings(f"it needs {SCHEDULING_TIMEOUT} beside it", field=_path(ON_SCHEDULING_TIMEOUT))


def _number(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MAX_INT32)) else 0
    return number if number <= MAX_INT32 else 0


def _path(key: str) -> str:
    return f"metadata.annotations[{key}]"
