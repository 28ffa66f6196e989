"""Events: two forms of one object, and the rules of each."""

from typing import Any

import pytest

from localcluster.apiserver.discovery.event_kinds import core_events, new_events
from localcluster.apiserver.discovery.events import core_view, new_view
from localcluster.apiserver.kinds.wiretypes import WrongType, check_types
from localcluster.apiserver.status import StatusError
from tests.localcluster.discovery.kinds import Object, metadata, row

WHEN = "2027-01-15T07:59:10.000000Z"
POD = {"kind": "Pod", "namespace": "ns", "name": "p", "apiVersion": "v1"}


def core(**more: Any) -> Object:
    """An event as kubelets and kopf write it."""
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata("e"), "involvedObject": POD, **more}


def new(**more: Any) -> Object:
    """An event as schedulers write it."""
    whole = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": metadata("e"),
        "regarding": POD,
        "reason": "Scheduled",
        "action": "Binding",
        "note": "said",
        "type": "Normal",
        "eventTime": WHEN,
        "reportingController": "example.org/it",
        "reportingInstance": "it-0",
    }
    return {key: value for key, value in (whole | more).items() if value is not None}


def test_what_the_old_form_wrote_is_read_through_the_new_one() -> None:
    old = core(
        message="said", reason="R", source={"component": "kubelet"}, count=3, firstTimestamp="t1", lastTimestamp="t2"
    )
    read = new_view(old)
    assert read["apiVersion"] == "events.k8s.io/v1"
    assert (read["regarding"], read["note"], read["reason"]) == (POD, "said", "R")
    assert (read["deprecatedSource"], read["deprecatedCount"]) == ({"component": "kubelet"}, 3)
    assert (read["deprecatedFirstTimestamp"], read["deprecatedLastTimestamp"], read["eventTime"]) == ("t1", "t2", None)
    assert not {"involvedObject", "message", "source", "count", "firstTimestamp", "reportingController"} & set(read)


def test_what_the_new_form_wrote_is_read_through_the_old_one() -> None:
    read = core_view(new(series={"count": 2, "lastObservedTime": WHEN}))
    assert (read["apiVersion"], read["involvedObject"], read["message"]) == ("v1", POD, "said")
    assert (read["reportingComponent"], read["reportingInstance"], read["eventTime"]) == (
        "example.org/it",
        "it-0",
        WHEN,
    )
    assert (read["source"], read["firstTimestamp"], read["lastTimestamp"]) == ({}, None, None)
    assert read["series"]["count"] == 2
    assert not {"regarding", "note", "reportingController"} & set(read)


@pytest.mark.parametrize("event", [core(message="m", count=2), new()])
def test_going_there_and_back_loses_nothing(event: Object) -> None:
    assert core_view(new_view(event)) == core_view(event)
    assert new_view(core_view(event)) == new_view(event)


def problems(event: Object, old: Object | None = None) -> list[str]:
    """The complaints about an event in its own form."""
    kind = new_events() if event["apiVersion"] != "v1" else core_events()
    made = dict(event)
    kind.strategy.default(made)
    try:
        return [str(error) for error in kind.strategy.validate(made, old, "")]
    except StatusError as refusal:
        return [f"{cause['field']}: {cause['message']}" for cause in refusal.details["causes"]]


@pytest.mark.parametrize("fine", [core(), core(type="Odd", message="x" * 2000), new()])
def test_good_events_pass(fine: Object) -> None:
    assert problems(fine) == []


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (core(involvedObject={}), 'involvedObject.namespace: Invalid value: "": does not match event.namespace'),
        (
            core(involvedObject={"namespace": "x"}),
            'involvedObject.namespace: Invalid value: "x": does not match event.namespace',
        ),
        (core(eventTime=WHEN), "action: Required value"),
        (new(eventTime=None), "eventTime: Required value"),
        (new(type="Odd"), 'type: Invalid value: "": has invalid value: Odd'),
        (new(action=None), "action: Required value"),
        (new(reason="r" * 129), 'reason: Invalid value: "": can have at most 128 characters'),
        (new(note="n" * 1025), 'message: Invalid value: "": can have at most 1024 characters'),
        (new(reportingController=None), "reportingController: Required value"),
        (new(series={"count": 1, "lastObservedTime": WHEN}), 'series.count: Invalid value: "": should be at least 2'),
        (new(series={"count": 2}), "series.lastObservedTime: Required value"),
        (new(deprecatedCount=3), 'count: Invalid value: "": needs to be unset'),
    ],
)
def test_bad_events_are_told_by_the_names_of_the_core_form(bad: Object, told: str) -> None:
    assert told in problems(bad)


def test_only_the_series_of_a_new_event_may_change() -> None:
    old = new_view(new())
    assert problems(new(series={"count": 2, "lastObservedTime": WHEN}), old) == []
    assert problems(new(note="other"), old) == ['message: Invalid value: "other": field is immutable']


@pytest.mark.parametrize(
    ("time", "told"),
    [("2027-01-15T07:59:10Z", 'cannot parse "Z" as ".000000"'), ("yesterday", 'cannot parse "yesterday" as "2006"')],
)
def test_the_time_of_an_event_has_six_digits(time: str, told: str) -> None:
    with pytest.raises(WrongType) as refused:
        check_types(new_events(), new(eventTime=time))
    assert told in str(refused.value)


def test_fields_of_the_other_form_are_unknown() -> None:
    event = new(message="x")
    assert new_events().strategy.decode(event) == ['unknown field "message"']
    assert "message" not in event


def test_both_kinds_are_kept_in_one_place() -> None:
    assert core_events().resource == new_events().resource


def test_selecting_by_the_object_works_in_both_forms() -> None:
    assert core_events().fields["involvedObject.name"](core_view(new())) == "p"
    assert new_events().fields["regarding.name"](new_view(core())) == "p"
    assert core_events().fields["source"](core_view(new())) == "example.org/it"


def test_rows_are_the_same_in_both_forms() -> None:
    event = core(
        reason="R",
        type="Normal",
        message=" said\n",
        count=3,
        source={"component": "c", "host": "h"},
        lastTimestamp="2027-01-15T07:59:50Z",
        firstTimestamp="2027-01-15T07:59:30Z",
    )
    cells = row(core_events(), event)
    assert row(new_events(), new_view(event)) == cells
    assert [cells[key] for key in ("Last Seen", "First Seen", "Count", "Object", "Source", "Message")] == [
        "10s",
        "30s",
        3,
        "pod/p",
        "c, h",
        "said",
    ]


def test_a_series_says_how_often_and_when_last() -> None:
    cells = row(new_events(), new(series={"count": 4, "lastObservedTime": "2027-01-15T07:59:50.000000Z"}))
    assert [cells[key] for key in ("Last Seen", "First Seen", "Count", "Source")] == [
        "10s",
        "50s",
        4,
        "example.org/it, it-0",
    ]
