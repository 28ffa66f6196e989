"""The rules for events, which differ by the form that a client writes.

Pure. Through core/v1 almost anything goes, as it always did; an event with an `eventTime`, and every event written through
events.k8s.io/v1, must say who did what. Messages name the fields of the core form in both cases, as the real server's do.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from localcluster.apiserver.discovery.events import CORE_TO_NEW, NEW_TO_CORE, core_view, new_view
from localcluster.apiserver.fielderrors import FieldError, invalid_value, required
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.kinds.names import qualified_name_problems
from localcluster.apiserver.kinds.plain import PlainStrategy
from localcluster.apiserver.status import invalid

IMMUTABLE = "field is immutable"
LONGEST_WORD = 128
LONGEST_NOTE = 1024
LEAST_SERIES = 2
TYPES = ("Normal", "Warning")
NOT_NAMESPACED = ("default", "kube-system")

_SHARED = {
    "apiVersion",
    "kind",
    "metadata",
    "action",
    "eventTime",
    "reason",
    "related",
    "reportingInstance",
    "series",
    "type",
}
_CORE_FIELDS = _SHARED | set(CORE_TO_NEW)
_NEW_FIELDS = _SHARED | set(NEW_TO_CORE)
_FIXED: Mapping[str, Any] = {
    "involvedObject": {},
    "reason": "",
    "message": "",
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "count": 0,
    "type": "",
    "eventTime": None,
    "action": "",
    "related": None,
    "reportingComponent": "",
    "reportingInstance": "",
}
"""What an update through the new form may not change, with the values that count as absent; only the series may."""


class EventStrategy(PlainStrategy):
    """Events in one of their two forms."""

    def __init__(self, *, new_form: bool) -> None:
        """`new_form`: as events.k8s.io/v1 writes them."""
        super().__init__()
        self._new_form = new_form

    def decode(self, obj: Object) -> list[str]:
        """Fields of the other form are unknown."""
        known = _NEW_FIELDS if self._new_form else _CORE_FIELDS
        unknown = [key for key in obj if key not in known]
        for key in unknown:
            del obj[key]
        return [f'unknown field "{key}"' for key in sorted(unknown)]

    def default(self, obj: Object) -> None:
        """The fields that are always written, empty or not."""
        obj.update(new_view(obj) if self._new_form else core_view(obj))

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """What is wrong with the event, or with the change.

        Raises:
            StatusError: the same, for the new form: the real server calls such an event by its core name in its refusals.
        """
        event = core_view(new)
        if not self._new_form:
            return _core_errors(event, "reportingComponent")
        errors = _new_errors(event) if old is None else _change_errors(event, core_view(old)) + _series_errors(event)
        if errors:
            core = KindInfo("", "v1", "Event", "events", self)
            raise invalid(core, event["metadata"].get("name") or "", errors)
        return []


def _core_errors(event: Object, controller: str) -> list[FieldError]:
    """The rules that hold in both forms; `controller` is how the form calls the reporting controller."""
    about, own = (event.get("involvedObject") or {}).get("namespace") or "", event["metadata"].get("namespace") or ""
    told = invalid_value("involvedObject.namespace", about, "does not match event.namespace")
    if not event.get("eventTime"):
        matches = own == about if about else own in {"", "default"}
        return [] if matches else [told]
    errors = [] if about or own in NOT_NAMESPACED else [told]
    errors += _controller_errors(event.get("reportingComponent") or "", controller)
    for key in ("reportingInstance", "action", "reason"):
        errors += _word_errors(key, event.get(key) or "")
    if len(event.get("message") or "") > LONGEST_NOTE:
        errors.append(invalid_value("message", "", f"can have at most {LONGEST_NOTE} characters"))
    return errors


def _controller_errors(name: str, field: str) -> Iterable[FieldError]:
    missing = [] if name else [required(field)]
    return [*missing, *(invalid_value(field, name, problem) for problem in qualified_name_problems(name))]


def _word_errors(field: str, value: str) -> Iterable[FieldError]:
    if not value:
        return [required(field)]
    if len(value) > LONGEST_WORD:
        return [invalid_value(field, "", f"can have at most {LONGEST_WORD} characters")]
    return []


def _new_errors(event: Object) -> list[FieldError]:
    """The rules for a new event in the new form."""
    errors = _core_errors(event, "reportingController")
    if not event.get("eventTime"):
        errors.append(required("eventTime"))
    errors += _series_errors(event)
    if event.get("type") not in TYPES:
        errors.append(invalid_value("type", "", f"has invalid value: {event.get('type') or ''}"))
    for key in ("firstTimestamp", "lastTimestamp", "count", "source"):
        if event.get(key):
            errors.append(invalid_value(key, "", "needs to be unset"))
    return errors


def _change_errors(event: Object, before: Object) -> list[FieldError]:
    """Complaints about changes; the new form calls the reporting component a controller."""
    return [
        invalid_value("reportingController" if key == "reportingComponent" else key, event.get(key) or empty, IMMUTABLE)
        for key, empty in _FIXED.items()
        if (event.get(key) or empty) != (before.get(key) or empty)
    ]


def _series_errors(event: Object) -> list[FieldError]:
    series = event.get("series")
    if series is None:
        return []
    errors = []
    if (series.get("count") or 0) < LEAST_SERIES:
        errors.append(invalid_value("series.count", "", f"should be at least {LEAST_SERIES}"))
    if not series.get("lastObservedTime"):
        errors.append(required("series.lastObservedTime"))
    return errors
