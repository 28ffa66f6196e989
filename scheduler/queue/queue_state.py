"""Everything the queue remembers, as a value that can be written to a file: where each item is, since when, and why.

Times are those of the queue's clock. What a refusal was found from is left out; its text is kept.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Final

import msgspec

from scheduler.cache.records import EntityKey
from scheduler.plugins.messages import message
from scheduler.plugins.status import Code, Status
from scheduler.queue.active import Cause, Place, QueuedEntity, Version


class StatusState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A status as text."""

    code: Code
    message: str = ""
    plugin: str = ""
    is_group_error: bool = False


class EntityState(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One item; fields are those of `QueuedEntity`."""

    key: EntityKey
    sequence: int
    stamp: int
    place: Place
    cause: Cause
    priority: int
    waits_since_seconds: float
    status: StatusState | None = None
    errors: int = 0
    failures: int = 0
    bind_failures: int = 0
    refused_since_seconds: float | None = None
    due_seconds: float = 0.0
    not_before_seconds: float = 0.0
    is_hoping: bool = False
    tried_seconds: float = 0.0
    is_tried_on_this: bool = False
    """Nothing that decisions look at has changed since it was tried last."""
    depends_on_time: bool = False
    is_dirty: bool = False
    was_woken: bool = False
    wasted_wakes: int = 0
    no_wake_before_seconds: float = 0.0


class PatienceState(msgspec.Struct, frozen=True, omit_defaults=True):
    """Until when items are patient: when each is judged anew, until when it hopes for more, the limit it is judged for."""

    due: tuple[tuple[EntityKey, float], ...] = ()
    until: tuple[tuple[EntityKey, float], ...] = ()
    judged_for: tuple[tuple[EntityKey, float], ...] = ()


class WakeState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of room: it appeared, some were passed over, and when it is looked at next."""

    room_appeared: bool = False
    is_rest_open: bool = False
    next_seconds: float = 0.0


class QueueState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The whole queue."""

    entities: tuple[EntityState, ...] = ()
    patience: PatienceState = PatienceState()
    wake: WakeState = WakeState()
    allowances_seconds: dict[Cause, float] = {}
    """What is left of each share of the time."""


_COPIED: Final = tuple(
    name
    for name in EntityState.__struct_fields__
    if name not in {"key", "sequence", "status", "is_tried_on_this"} and name in QueuedEntity.__slots__
)


_copied: Final = attrgetter("key", "sequence", "status", "tried_version", *_COPIED)


class TakenQueue(msgspec.Struct, frozen=True):
    """The queue as it was at one moment, taken in no time; `state` makes it readable.

    Attributes:
        entities: what is copied of each item.
        version: of what decisions look at.
    """

    entities: tuple[tuple[Any, ...], ...]
    version: Version
    patience: PatienceState
    wake: WakeState
    allowances_seconds: dict[Cause, float]

    def state(self) -> QueueState:
        """The value."""
        entities = tuple(self._entity(*copied) for copied in self.entities)
        return QueueState(entities, self.patience, self.wake, self.allowances_seconds)

    def _entity(
        self, key: EntityKey, sequence: int, status: Status | None, tried_version: Version, *others: Any
    ) -> EntityState:
        copied: dict[str, Any] = dict(zip(_COPIED, others, strict=True))
        return EntityState(
            key=key,
            sequence=sequence,
            status=_status_state(status) if status is not None else None,
            is_tried_on_this=tried_version == self.version,
            **copied,
        )


def copied(entities: Iterable[QueuedEntity]) -> tuple[tuple[Any, ...], ...]:
    """What is copied of each item."""
    return tuple(map(_copied, entities))


def entity_of(state: EntityState) -> QueuedEntity:
    """The item that a value is of; `tried_version` is left to the queue."""
    entity = QueuedEntity(state.key, state.sequence)
    for name in _COPIED:
        setattr(entity, name, getattr(state, name))
    if state.status is not None:
        said = state.status
        entity.status = Status(said.code, said.message, plugin=said.plugin, is_group_error=said.is_group_error)
    return entity


def _status_state(status: Status) -> StatusState:
    return StatusState(status.code, message(status), status.plugin, status.is_group_error)
