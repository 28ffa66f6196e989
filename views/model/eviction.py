"""Who had to leave for whom, as the scheduler's events say it. Pure."""

from typing import Final

import msgspec

from api.constants import EVENT_PREEMPTED
from api.meta import NO_METADATA, Metadata

SELECTOR: Final = f"reason={EVENT_PREEMPTED}"
"""Field selector of the events that are evictions."""


class Reference(msgspec.Struct, frozen=True):
    """The object that an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class EvictionEvent(msgspec.Struct, frozen=True, rename="camel"):
    """An event `Preempted`: `regarding` is the pod that leaves, `related` the group or pod it leaves for."""

    metadata: Metadata = NO_METADATA
    event_time: str | None = None
    deprecated_first_timestamp: str | None = None
    regarding: Reference = Reference()
    related: Reference | None = None

    @property
    def at(self) -> str:
        """When, RFC 3339."""
        return self.event_time or self.deprecated_first_timestamp or self.metadata.creation_timestamp or ""
