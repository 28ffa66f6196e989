"""What becomes of a gang that has started and falls below its minimum: what its annotations say, on an owner and on its PodGroup.

The PodGroup carries what its Job or LeaderWorkerSet says, so that the scheduler needs no look at these; a PodGroup made by hand
says it itself.
"""

from typing import Final, Literal, get_args

import msgspec

from api.constants import DEGRADED, REPAIR_TIMEOUT, SPARE_NODES
from api.durations import check_duration, duration_seconds
from api.errors import InvalidGangSettings
from api.meta import Metadata

DegradedPolicy = Literal["repair", "restart", "report"]
"""Room is kept for replacements; that, and the whole gang starts anew when it is in vain; nothing but saying so."""

POLICIES: Final[tuple[DegradedPolicy, ...]] = get_args(DegradedPolicy)
DEFAULT_REPAIR_SECONDS: Final = 900.0
"""More than the longest pause of the Job controller before it makes a replacement, ten minutes: room is not given up just then."""
MOST_SPARE_NODES: Final = 8
SAID_OF_DEGRADED: Final = (DEGRADED, REPAIR_TIMEOUT, SPARE_NODES)
"""The annotations that a PodGroup takes over from the object it is made for."""


class WhenDegraded(msgspec.Struct, frozen=True):
    """What a group says of the time when members are missing.

    Attributes:
        policy: what is done about it.
        repair_seconds: how long room is kept for replacements.
        spare_nodes: for how many of its nodes room is kept before anybody is lost.
    """

    policy: DegradedPolicy = "repair"
    repair_seconds: float = DEFAULT_REPAIR_SECONDS
    spare_nodes: int = 0


NOTHING_SAID: Final = WhenDegraded()


def when_degraded(metadata: Metadata) -> WhenDegraded:
    """What an object says; an unusable value counts as nothing said, for admission may have been away."""
    policy, timeout = metadata.annotation(DEGRADED), metadata.annotation(REPAIR_TIMEOUT)
    seconds = duration_seconds(timeout) if timeout else None
    return WhenDegraded(
        policy=next((each for each in POLICIES if each == policy), "repair"),
        repair_seconds=DEFAULT_REPAIR_SECONDS if seconds is None else seconds,
        spare_nodes=_spare_nodes(metadata.annotation(SPARE_NODES)) or 0,
    )


def check_degraded(metadata: Metadata, *, is_basic: bool = False) -> None:
    """Checks what a Job, a LeaderWorkerSet or a PodGroup says; `is_basic` when it has no minimum to fall below.

    Raises:
        InvalidGangSettings: one of the annotations has a value that cannot be used.
    """
    policy, timeout = metadata.annotation(DEGRADED), metadata.annotation(REPAIR_TIMEOUT)
    if policy is not None and policy not in POLICIES:
        raise InvalidGangSettings(f"{policy[:64]!r} is not one of {', '.join(POLICIES)}", field=_path(DEGRADED))
    _check_spare_nodes(metadata.annotation(SPARE_NODES), policy, is_basic=is_basic)
    if timeout is None:
        return
    check_duration(timeout, field=_path(REPAIR_TIMEOUT))
    if policy == "report":
        raise InvalidGangSettings(
            f"nothing is repaired where {DEGRADED} is report; leave one of the two out", field=_path(REPAIR_TIMEOUT)
        )


def _check_spare_nodes(text: str | None, policy: str | None, *, is_basic: bool) -> None:
    if text is None:
        return
    number, field = _spare_nodes(text), _path(SPARE_NODES)
    if number is None:
        raise InvalidGangSettings(f"{text[:64]!r} is not a whole number from 0 to {MOST_SPARE_NODES}", field=field)
    if number and policy == "report":
        raise InvalidGangSettings(f"no room is kept where {DEGRADED} is report; leave one of the two out", field=field)
    if number and is_basic:
        raise InvalidGangSettings("room for lost nodes needs a gang, and the policy is basic", field=field)


def _spare_nodes(text: str | None) -> int | None:
    number = int(text) if text and text.isascii() and text.isdigit() and len(text) < 3 else -1
    return number if 0 <= number <= MOST_SPARE_NODES else None


def _path(key: str) -> str:
    return f"metadata.annotations[{key}]"
