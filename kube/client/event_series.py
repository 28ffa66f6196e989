"""Which event to write for which occurrence: pure bookkeeping, no requests.

An occurrence that repeats within five minutes (same object, reason and note) becomes a series of the event already
written: its count and last time are patched, at most once per pause that doubles with every patch, so that something that
happens a thousand times costs a handful of writes.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from math import inf
from typing import Any, Final, Literal

from api.backoff import exponential_backoff
from kube.client.resources import EVENTS
from kube.client.times import micro_time

MAX_NOTE_BYTES: Final = 1024
DEDUPE_SECONDS: Final = 300.0
_FIRST_PATCH_SECONDS: Final = 5.0
_MAX_REMEMBERED: Final = 4096

EventType = Literal["Normal", "Warning"]


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The object that an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str

    def as_body(self) -> dict[str, str]:
        """The reference as manifests write it."""
        body = {"apiVersion": self.api_version, "kind": self.kind, "name": self.name, "uid": self.uid}
        return body | {"namespace": self.namespace} if self.namespace else body


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something that happened and is worth an event."""

    regarding: ObjectReference
    reason: str
    note: str
    type: EventType
    action: str
    related: ObjectReference | None
    reporter: str = ""
    """`reportingController`, where it is not the component that records."""

    @property
    def key(self) -> bytes:
        """Occurrences with equal keys make one series. Fifteen bytes: thousands are kept, and one more costs sixteen."""
        return blake2b("\0".join((self.regarding.uid, self.reason, self.note)).encode(), digest_size=15).digest()

    @property
    def namespace(self) -> str:
        """Where the event is kept: with the object, or in `default` for cluster-scoped ones."""
        return self.regarding.namespace or "default"


@dataclass(slots=True)
class Series:
    """What is known about one event that was written; thousands are kept.

    Attributes:
        nanoseconds: the end of the event's name.
        count: occurrences so far, the first included.
        fresh_until: until when an equal occurrence belongs to this series (monotonic).
        patch_after: before this moment the series is not patched again (monotonic).
        patches: how often it was patched.
    """

    nanoseconds: int
    count: int
    fresh_until: float
    patch_after: float
    patches: int = 0


class EventSeriesCache:
    """Remembers the events of the last five minutes, a bounded number of them."""

    def __init__(self) -> None:
        self._series: OrderedDict[bytes, Series] = OrderedDict()

    def __len__(self) -> int:
        return len(self._series)

    def repeated(self, occurrence: Occurrence, moment: float) -> Series | None:
        """The series this occurrence continues, counted in; None when it starts a new one. `moment` is in monotonic seconds."""
        series = self._series.get(occurrence.key)
        if series is None or moment >= series.fresh_until:
            return None
        series.count += 1
        series.fresh_until = moment + DEDUPE_SECONDS
        self._series.move_to_end(occurrence.key)
        return series

    def started(self, occurrence: Occurrence, nanoseconds: int, moment: float) -> None:
        """Remember that an event was written for an occurrence.

        Args:
            occurrence: what happened.
            nanoseconds: the end of the event's name.
            moment: monotonic seconds.
        """
        self._series[occurrence.key] = Series(
            nanoseconds=nanoseconds,
            count=1,
            fresh_until=moment + DEDUPE_SECONDS,
            patch_after=moment + _FIRST_PATCH_SECONDS,
        )
        self._series.move_to_end(occurrence.key)
        self._forget_old(moment)

    def forget(self, occurrence: Occurrence) -> None:
        """The event is gone or was never written: the next occurrence starts anew."""
        self._series.pop(occurrence.key, None)

    def _forget_old(self, moment: float) -> None:
        """What nothing can continue any more goes, and whatever is too much."""
        # They stand in the order in which they go stale: every occurrence moves its series to the end.
        while len(self._series) > _MAX_REMEMBERED or next(iter(self._series.values())).fresh_until <= moment:
            self._series.popitem(last=False)


def may_patch(series: Series, moment: float) -> bool:
    """Whether enough time passed since the last write of this series; if so, the next pause is twice as long."""
    if moment < series.patch_after:
        return False
    series.patches += 1
    series.patch_after = moment + exponential_backoff(
        series.patches, base_seconds=_FIRST_PATCH_SECONDS, max_seconds=inf
    )
    return True


def short_note(note: str) -> str:
    """The note cut to 1 KiB of UTF-8, as the API demands."""
    encoded = note.encode()
    if len(encoded) <= MAX_NOTE_BYTES:
        return note
    return encoded[: MAX_NOTE_BYTES - 3].decode("utf-8", "ignore") + "…"


def event_name(occurrence: Occurrence, nanoseconds: int) -> str:
    """Object name, dot, time in hexadecimal: what the stock components do, within 253 characters."""
    return f"{occurrence.regarding.name[:230].rstrip('.-')}.{nanoseconds:x}"


def event_body(occurrence: Occurrence, name: str, component: str, instance: str, now: datetime) -> dict[str, Any]:
    """A new event (events.k8s.io/v1).

    Args:
        occurrence: what happened.
        name: of the event.
        component: `reportingController`, unless the occurrence names another.
        instance: `reportingInstance`, cut to 128 characters.
        now: when it happened, wall clock time.
    """
    body: dict[str, Any] = {
        "apiVersion": EVENTS.api_version,
        "kind": EVENTS.kind,
        "metadata": {"namespace": occurrence.namespace, "name": name},
        "eventTime": micro_time(now),
        "reportingController": occurrence.reporter or component,
        "reportingInstance": instance[:128],
        "action": occurrence.action[:128],
        "reason": occurrence.reason[:128],
        "regarding": occurrence.regarding.as_body(),
        "note": short_note(occurrence.note),
        "type": occurrence.type,
    }
    if occurrence.related is not None:
        body["related"] = occurrence.related.as_body()
    return body


def series_patch(series: Series, last: datetime) -> dict[str, Any]:
    """The merge patch that says how often and when last."""
    return {"series": {"count": series.count, "lastObservedTime": micro_time(last)}}
