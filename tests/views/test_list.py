"""The table, the names and the document of `kubectl gang list`."""

from datetime import UTC, datetime

import pytest

from kube.groups.group_api import BUILT_IN, OWN
from tests.views.builders import gang, group, job, pod, refused, scheduled
from views.kubectl.ages import age
from views.kubectl.table import document, names, table
from views.model.queue import with_places

NOW = datetime(2020, 1, 1, 0, 3, 12, tzinfo=UTC)
WAITS = gang(group("w", refused(), job="big", priority=5), pod("a", group="w"), pod("b", group="w"))
RUNS = gang(group("r", scheduled(), job="j"), *[pod(n, "Running", node=n, group="r") for n in "abcde"], job=job())
GANGS = with_places([WAITS, RUNS])

USUAL = """\
GANG      STATE     WAITING   PLACE   REASON          PODS    NODES   AGE
job/big   waiting   3m12s     1       Unschedulable   0/2/2   -       3m12s
job/j     running   -         -       -               5/2/5   5       3m12s"""


def test_the_table_has_a_line_for_each_gang() -> None:
    assert table(GANGS, NOW, with_namespace=False, is_wide=False) == USUAL


def test_wide_adds_what_is_long() -> None:
    heading, waits, runs = table(GANGS, NOW, with_namespace=True, is_wide=True).splitlines()
    assert heading.split() == [
        *("NAMESPACE", "GANG", "STATE", "WAITING", "PLACE", "REASON", "PODS", "NODES", "AGE"),
        *("PRIORITY", "PODGROUP", "TREE", "ON", "MESSAGE"),
    ]
    assert waits.startswith("ns ")
    assert waits.endswith("no room")
    assert "a,b,c and 2 more" in runs


def test_names_are_those_that_kubectl_takes() -> None:
    assert names(GANGS, OWN.pod_groups) == "podgroup.tutti.scheduler/w\npodgroup.tutti.scheduler/r"
    assert names(GANGS[:1], BUILT_IN.pod_groups) == "podgroup.scheduling.k8s.io/w"


def test_the_document_leaves_out_what_is_empty() -> None:
    found = document(GANGS)
    assert (found["apiVersion"], found["kind"]) == ("views.tutti.scheduler/v1", "GangList")
    waits, runs = found["items"]
    assert waits == {
        "namespace": "ns",
        "podGroup": "w",
        "uid": "uid-w",
        "owner": "job/big",
        "state": "waiting",
        "reason": "Unschedulable",
        "message": "no room",
        "created": "2020-01-01T00:00:00Z",
        "waitingSince": "2020-01-01T00:00:00Z",
        "place": 1,
        "priority": 5,
        "minCount": 2,
        "pods": {"pending": 2, "bound": 0, "running": 0, "succeeded": 0, "failed": 0, "started": 0, "all": 2},
    }
    assert "place" not in runs
    assert runs["nodes"] == list("abcde")


@pytest.mark.parametrize(
    ("since", "written"),
    [("", "-"), ("soon", "-"), ("2026-01-01T00:00:00Z", "4h5m"), ("2026-01-02T00:00:00Z", "0s")],
)
def test_ages_are_short(since: str, written: str) -> None:
    assert age(since, datetime(2026, 1, 1, 4, 5, tzinfo=UTC)) == written
