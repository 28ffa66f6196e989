"""Settings of Jobs that mean nothing on kinds whose size is their minimum, and that nobody suspends: their users are told."""

from api.constants import ELASTIC, MIN_COUNT, ON_SCHEDULING_TIMEOUT, SUSPEND_ON_TIMEOUT
from api.meta import Metadata


def warnings_without_effect(metadata: Metadata, kind: str, size: str) -> tuple[str, ...]:
    """A warning for each such annotation.

    Args:
        metadata: of the object.
        kind: what it is.
        size: what of it is the minimum.
    """
    found = [
        f"the annotation {key} has no effect on a {kind}: {size} is its minimum"
        for key in (MIN_COUNT, ELASTIC)
        if metadata.annotation(key) is not None
    ]
    if metadata.annotation(ON_SCHEDULING_TIMEOUT) == SUSPEND_ON_TIMEOUT:
        found.append(
            f"{ON_SCHEDULING_TIMEOUT}: {SUSPEND_ON_TIMEOUT} has no effect on a {kind}: its pods stay when it gives up"
        )
    return tuple(found)
