"""Events on Jobs, told only when they are news.

A pass repeats its findings every time it runs; a user wants to read each of them once. What was said about an object is
therefore remembered for as long as the object is. Creations are always news.
"""

from typing import Final, Protocol

from api.job import Job
from kube.client.event_series import EventType, ObjectReference
from kube.client.resources import JOBS

MAX_REMEMBERED: Final = 16
"""Different findings remembered per object; past that, old ones may be repeated."""


class Recorder(Protocol):
    """What the announcer needs of `kube.client.events.EventRecorder`."""

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
        """Write this event some time soon."""


class Announcer:
    """Says things about Jobs by events."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._said: dict[str, dict[tuple[str, str], None]] = {}

    def tell(self, job: Job, *, reason: str, note: str, action: str) -> None:
        """A Normal event."""
        self._recorder.record(_reference(job), reason=reason, note=note, action=action)

    def warn_once(self, job: Job, *, reason: str, note: str, action: str) -> None:
        """A Warning event, unless the same was said about this Job before."""
        said = self._said.setdefault(job.metadata.uid, {})
        if (reason, note) in said:
            return
        said[reason, note] = None
        if len(said) > MAX_REMEMBERED:
            del said[next(iter(said))]
        self._recorder.record(_reference(job), reason=reason, note=note, type="Warning", action=action)

    def forget(self, job: Job) -> None:
        """The Job is gone."""
        self._said.pop(job.metadata.uid, None)


def _reference(job: Job) -> ObjectReference:
    metadata = job.metadata
    return ObjectReference(JOBS.api_version, JOBS.kind, metadata.namespace, metadata.name, metadata.uid)
