"""Events have two forms, core/v1 and events.k8s.io/v1: one stored object, two names for most of its fields.

Pure. The store keeps the core form, so that field selectors, tables and `kubectl describe` need one form only; whoever
writes or reads events.k8s.io/v1 passes through `core_view` and `new_view`. Both directions lose nothing, and both write
the fields that a real server always writes, empty ones included.
"""

from collections.abc import Mapping
from typing import Any

CORE = "v1"
NEW = "events.k8s.io/v1"

NEW_TO_CORE = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
CORE_TO_NEW = {core: new for new, core in NEW_TO_CORE.items()}

ALWAYS_IN_CORE: Mapping[str, Any] = {
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "",
    "reportingInstance": "",
}
ALWAYS_IN_NEW: Mapping[str, Any] = {
    "eventTime": None,
    "regarding": {},
    "deprecatedSource": {},
    "deprecatedFirstTimestamp": None,
    "deprecatedLastTimestamp": None,
}
ABSENT_WHEN_EMPTY = ("reportingController", "reportingInstance")


def core_view(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event as core/v1 writes it, from either form."""
    if event.get("apiVersion") != NEW:
        return {**event, **{key: empty for key, empty in ALWAYS_IN_CORE.items() if key not in event}}
    renamed = {NEW_TO_CORE.get(key, key): value for key, value in event.items()}
    return {**ALWAYS_IN_CORE, **renamed, "apiVersion": CORE}


def new_view(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event as events.k8s.io/v1 writes it, from either form."""
    if event.get("apiVersion") == NEW:
        return {**event, **{key: empty for key, empty in ALWAYS_IN_NEW.items() if key not in event}}
    renamed = {CORE_TO_NEW.get(key, key): value for key, value in event.items()}
    kept = {key: value for key, value in renamed.items() if value or key not in ABSENT_WHEN_EMPTY}
    return {**ALWAYS_IN_NEW, **kept, "apiVersion": NEW}
