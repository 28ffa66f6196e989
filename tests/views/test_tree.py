"""Job or LeaderWorkerSet, Workload, PodGroups, pods: what hangs together."""

import pytest

from tests.views.builders import build, cluster, group, job, pod, refused, scheduled, workload
from views.kubectl.table import tree
from views.model.records import Owner
from views.model.tree import kind_and_name, tree_of

JOB_TREE = """\
job/j
└─ workload/w
   └─ podgroup/g  waiting, 0 of 2 started; Unschedulable: no room
      ├─ pod/j-2  Pending, no node
      └─ pod/j-10  Pending, no node yet, n is kept for it"""
SET_TREE = """\
lws/serve
└─ workload/w  does not exist
   ├─ podgroup/r0  running, 1 of 1 started
   │  └─ pod/serve-0  Running, on n
   └─ podgroup/r1  held, 0 of 1 started"""


@pytest.mark.parametrize("start", ["job/j", "podgroup/g", "pod/j-2"])
def test_a_job_from_wherever_one_starts(start: str) -> None:
    pods = [pod("j-10", nominated="n", job="j"), pod("j-2", job="j")]
    objects = cluster([group("g", refused(), job="j", workload="w")], pods, [job()], workloads=[workload("w")])
    kind, name = kind_and_name(start) or ("", "")
    found = tree_of(kind, "ns", name, objects)
    assert found is not None
    pending = found.children[0].children[0].remark
    assert pending == "waiting, 0 of 2 started; Preempting: no room"
    assert tree(found) == JOB_TREE.replace("Unschedulable", "Preempting")


def test_replicas_stand_in_their_order() -> None:
    groups = [
        group("r1", lws="serve", replica="1", workload="w", need=1),
        group("r0", scheduled(), lws="serve", replica="0", workload="w", need=1),
    ]
    serve: Owner = build(Owner, {"metadata": {"name": "serve", "namespace": "ns", "uid": "u"}})
    pods = [pod("serve-0", "Running", node="n", group="r0", lws="serve")]
    found = tree_of("lws", "ns", "serve", cluster(groups, pods, sets=[serve]))
    assert found is not None
    assert tree(found) == SET_TREE


def test_an_ordinary_job_has_pods_and_no_gang() -> None:
    found = tree_of("job", "ns", "j", cluster([], [pod("j-0", "Running", node="n", group="", job="j")], [job()]))
    assert found is not None
    assert tree(found) == "job/j  no gang: nothing groups its pods\n└─ pod/j-0  Running, on n"


def test_what_is_not_there_has_no_tree() -> None:
    for kind in ("job", "lws", "podgroup", "pod"):
        assert tree_of(kind, "ns", "x", cluster([])) is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("job/a", ("job", "a")),
        ("jobs.batch/a", ("job", "a")),
        ("LeaderWorkerSet/a", ("lws", "a")),
        ("gang/a", ("podgroup", "a")),
        ("deployment/a", None),
        ("job", None),
        ("job/", None),
    ],
)
def test_kinds_go_by_the_names_that_kubectl_takes(text: str, meant: tuple[str, str] | None) -> None:
    assert kind_and_name(text) == meant
