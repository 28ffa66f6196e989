"""Events as kinds: core/v1 and events.k8s.io/v1 over one storage, which keeps the core form."""

from collections.abc import Callable

from localcluster.apiserver.discovery.event_rules import EventStrategy
from localcluster.apiserver.discovery.events import core_view, new_view
from localcluster.apiserver.kinds.kind import KindInfo, Object

Read = Callable[[Object], str]

STORAGE = ("", "events")
_OBJECT_FIELDS = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def core_events() -> KindInfo:
    """Events as core/v1 writes them, and as they are stored."""
    fields = _object_fields("involvedObject") | {key: _field(key) for key in ("reason", "reportingComponent", "type")}
    return KindInfo(
        "",
        "v1",
        "Event",
        "events",
        EventStrategy(new_form=False),
        short_names=("ev",),
        fields=fields | {"source": _source},
        create_on_update=True,
    )


def new_events() -> KindInfo:
    """Events as events.k8s.io/v1 writes them."""
    fields = _object_fields("regarding") | {key: _field(key) for key in ("reason", "reportingController", "type")}
    return KindInfo(
        "events.k8s.io",
        "v1",
        "Event",
        "events",
        EventStrategy(new_form=True),
        short_names=("ev",),
        storage=STORAGE,
        from_storage=new_view,
        to_storage=core_view,
        fields=fields,
        create_on_update=True,
    )


def _object_fields(key: str) -> dict[str, Read]:
    return {f"{key}.{part}": _part(key, part) for part in _OBJECT_FIELDS}


def _part(key: str, part: str) -> Read:
    return lambda event: str((event.get(key) or {}).get(part) or "")


def _field(key: str) -> Read:
    return lambda event: str(event.get(key) or "")


def _source(event: Object) -> str:
    """Who says so, by whichever field tells it."""
    return str((event.get("source") or {}).get("component") or event.get("reportingComponent") or "")
