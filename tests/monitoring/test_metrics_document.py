"""docs/metrics.md says of every metric what it is, in what unit, with which labels, and what to do about it."""

import re

from api import constants
from hack.metrics.document import FILE, rendered
from hack.metrics.notes import NOTES
from hack.metrics.served import Metric, metrics, registries

SERVED: list[tuple[str, Metric]] = [
    (name, each) for name, registry in registries().items() for each in metrics(registry)
]
UNBOUNDED = {"namespace", "pod", "node", "job", "uid", "user", "queue_name"}


def test_the_document_is_current() -> None:
    assert FILE.read_text() == rendered(), "run `make metrics-docs`"


def test_every_metric_has_a_note_and_every_note_a_metric() -> None:
    assert NOTES.keys() == {metric.shown_name for _, metric in SERVED}


def test_every_label_is_explained_and_none_is_made_up() -> None:
    for _, metric in SERVED:
        assert NOTES[metric.shown_name].labels.keys() == set(metric.labels), metric.name


def test_no_label_is_a_name_that_users_choose() -> None:
    assert not [metric.name for _, metric in SERVED if UNBOUNDED & set(metric.labels)]


def test_names_are_those_of_the_constants_and_all_of_them_are_served() -> None:
    declared = {value for name, value in vars(constants).items() if name.startswith("METRIC_")}
    assert declared == {metric.shown_name for _, metric in SERVED}


def test_a_metric_of_two_processes_means_the_same_in_both() -> None:
    kinds: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
    for _, metric in SERVED:
        kinds.setdefault(metric.name, set()).add((metric.kind, metric.labels))
    assert not {name for name, found in kinds.items() if len(found) > 1}


def test_units_are_told_by_names_as_prometheus_has_it() -> None:
    for _, metric in SERVED:
        if NOTES[metric.shown_name].unit.startswith("seconds"):
            assert re.search(r"_seconds$", metric.name), metric.name
