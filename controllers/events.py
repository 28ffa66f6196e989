"""Events on the objects that gangs are made for, without repetitions.

A pass repeats its findings every time it runs; a user wants to read each of them once. What was recorded about an object is
therefore remembered for as long as the object is. Creations are always recorded.
"""

from collections.abc import Callable
from typing import Final, Protocol

from kube.cache.store import KubeObject
from kube.client.event_series import EventType, ObjectReference
from kube.client.resources import JOBS, Resource

MAX_REMEMBERED: Final = 16
"""Different findings remembered per object; past that, old ones may be repeated."""


class Recorder(Protocol):
    """What is needed of `kube.client.events.EventRecorder`."""

    def record(
        self,
        regarding: ObjectReference,
        *,
        reason: str,
        note: str,
        type: EventType = "Normal",  # noqa: A002 (the API's own name)
        action: str,
        related: ObjectReference | None = None,
    ) -> None:
        """Write this event some time soon.

        Args:
            regarding: the object it is about.
            reason: one word in CamelCase.
            note: a sentence for people.
            type: Normal or Warning.
            action: what was done or tried, in CamelCase.
            related: another object that has to do with it.
        """


class DedupEventRecorder:
    """Records events on objects of one kind, each Warning once for an object (client-go: EventRecorder, EventCorrelator)."""

    def __init__(
        self,
        recorder: Recorder,
        resource: Resource = JOBS,
        *,
        is_there: Callable[[KubeObject], bool] = lambda _: True,
        warned: Callable[[str, str], None] = lambda _kind, _reason: None,
    ) -> None:
        """Nothing is recorded yet.

        Args:
            recorder: writes events.
            resource: the kind of the objects.
            is_there: whether an object is still known: of one that left during a pass nothing is remembered.
            warned: called with kind and reason of each Warning that is recorded.
        """
        self._recorder = recorder
        self._is_there = is_there
        self._warned = warned
        self._resource = resource
        self._recorded: dict[str, dict[tuple[str, str], None]] = {}

    def normal(self, whose: KubeObject, *, reason: str, note: str, action: str) -> None:
        """Record a Normal event.

        Args:
            whose: the object it is about.
            reason: one word in CamelCase.
            note: a sentence for people.
            action: what was done or tried, in CamelCase.
        """
        self._recorder.record(self._reference(whose), reason=reason, note=note, action=action)

    def warn_once(self, whose: KubeObject, *, reason: str, note: str, action: str) -> None:
        """Record a Warning event, unless one of this reason and note was recorded about this object before.

        Args:
            whose: the object it is about.
            reason: one word in CamelCase.
            note: a sentence for people.
            action: what was done or tried, in CamelCase.
        """
        if (reason, note) in self._recorded.get(whose.metadata.uid, ()):
            return
        if self._is_there(whose):
            recorded = self._recorded.setdefault(whose.metadata.uid, {})
            recorded[reason, note] = None
            if len(recorded) > MAX_REMEMBERED:
                del recorded[next(iter(recorded))]
        self._warned(self._resource.kind, reason)
        self._recorder.record(self._reference(whose), reason=reason, note=note, type="Warning", action=action)

    def forget(self, whose: KubeObject) -> None:
        """The object is gone."""
        self._recorded.pop(whose.metadata.uid, None)

    def _reference(self, whose: KubeObject) -> ObjectReference:
        metadata, resource = whose.metadata, self._resource
        return ObjectReference(resource.api_version, resource.kind, metadata.namespace, metadata.name, metadata.uid)
