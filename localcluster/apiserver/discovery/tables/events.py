"""Rows of events, written in either of their two forms."""

from localcluster.apiserver.discovery.events import core_view
from localcluster.apiserver.discovery.tables.age import UNKNOWN, age
from localcluster.apiserver.discovery.tables.cells import Cell, Column, Object, Printer, name_of, part, text

COLUMNS = (
    text("Last Seen", "The time since it last happened."),
    text("Type", "Normal or Warning."),
    text("Reason", "Why, in one word."),
    text("Object", "What it happened to."),
    text("Subobject", "Which part of the object, if not the whole.", wide=True),
    text("Source", "Who says so.", wide=True),
    text("Message", "What happened, in words."),
    text("First Seen", "The time since it first happened.", wide=True),
    text("Count", "How often it happened.", wide=True),
    Column("Name", format="name", priority=1, description="The name of the event."),
)


def _source(event: Object) -> str:
    source = part(event, "source")
    component, host = source.get("component", ""), source.get("host", "")
    if not component and not host:
        component, host = event.get("reportingComponent", ""), event.get("reportingInstance", "")
    return f"{component}, {host}" if host else str(component)


def _target(event: Object) -> str:
    about = part(event, "involvedObject")
    kind, name = str(about.get("kind", "")).lower(), about.get("name")
    return f"{kind}/{name}" if name else kind


def event_cells(event: Object, now: float) -> list[Cell]:
    """One row of an event, in whichever form it comes."""
    event = core_view(event)
    first = age(event.get("firstTimestamp") or event.get("eventTime"), now)
    last, count = age(event.get("lastTimestamp"), now), event.get("count") or 1
    if last == UNKNOWN:
        last = first
    if series := event.get("series"):
        last, count = age(series.get("lastObservedTime"), now), series.get("count", 0)
    return [
        last,
        event.get("type", ""),
        event.get("reason", ""),
        _target(event),
        part(event, "involvedObject").get("fieldPath", ""),
        _source(event),
        str(event.get("message", "")).strip(),
        first,
        count,
        name_of(event),
    ]


EVENT = Printer(COLUMNS, event_cells)
