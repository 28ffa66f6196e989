"""Job or LeaderWorkerSet, Workload, PodGroups, pods: what hangs together."""

from datetime import UTC, datetime

import msgspec
import pytest

from api.meta import OwnerReference
from tests.views.builders import build, cluster, group, job, pod, refused, scheduled, workload
from views.kubectl.table import tree
from views.model.records import Owner
from views.model.tree import kind_and_name, tree_of

NOW = datetime(2020, 1, 1, 0, 3, 12, tzinfo=UTC)
JOB_TREE = """\
job/j
└─ workload/w
   └─ podgroup/g  waiting for 3m12s, 0 of 2 started; Unschedulable: no room
      ├─ pod/j-2  Pending, no node
      └─ pod/j-10  Pending, no node yet, n is kept for it"""
SET_TREE = """\
lws/serve
└─ workload/w  does not exist
   ├─ podgroup/r0  running, 1 of 1 started
   │  └─ pod/serve-0  Running, on n
   └─ podgroup/r1  held for 3m12s, 0 of 1 started"""


@pytest.mark.parametrize("start", ["job/j", "podgroup/g", "pod/j-2"])
def test_a_job_from_wherever_one_starts(start: str) -> None:
    pods = [pod("j-10", nominated="n", job="j"), pod("j-2", job="j")]
    objects = cluster([group("g", refused(), job="j", workload="w")], pods, [job()], workloads=[workload("w")])
    kind, name = kind_and_name(start) or ("", "")
    found = tree_of(kind, "ns", name, objects)
    assert found is not None
    pending = found.children[0].children[0].remark
    assert pending == "waiting, 0 of 2 started; Preempting: no room"
    assert tree(found, NOW) == JOB_TREE.replace("Unschedulable", "Preempting")


def test_replicas_stand_in_their_order() -> None:
    groups = [
        group("r1", lws="serve", replica="1", workload="w", need=1),
        group("r0", scheduled(), lws="serve", replica="0", workload="w", need=1),
    ]
    serve: Owner = build(Owner, {"metadata": {"name": "serve", "namespace": "ns", "uid": "u"}})
    pods = [pod("serve-0", "Running", node="n", group="r0", lws="serve")]
    found = tree_of("lws", "ns", "serve", cluster(groups, pods, sets=[serve]))
    assert found is not None
    assert tree(found, NOW) == SET_TREE


JOB_SET_TREE = """\
jobset/pair
└─ workload/w  does not exist
   └─ podgroup/g  running, 2 of 2 started
      ├─ pod/pair-left-0-0  Running, on n
      └─ pod/pair-right-0-0  Running, on n"""


@pytest.mark.parametrize("start", ["jobset/pair", "job/pair-left-0", "podgroup/g", "pod/pair-right-0-0"])
def test_a_whole_job_set_stands_above_its_group_wherever_one_starts(start: str) -> None:
    parent = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "name": "pair",
        "uid": "uid-set",
        "controller": True,
    }
    labels = {"jobset.sigs.k8s.io/jobset-name": "pair", "jobset.sigs.k8s.io/jobset-uid": "uid-set"}
    made = group("g", scheduled(), workload="w")
    metadata = msgspec.structs.replace(made.metadata, labels=labels, owner_references=(build(OwnerReference, parent),))
    pods = [
        msgspec.structs.replace(
            pod(f"pair-{name}-0-0", "Running", node="n", group="g", job=f"pair-{name}-0"), jobset="pair"
        )
        for name in ("left", "right")
    ]
    child: Owner = build(
        Owner,
        {"metadata": {"name": "pair-left-0", "namespace": "ns", "uid": "uid-child", "ownerReferences": [parent]}},
    )
    objects = cluster([msgspec.structs.replace(made, metadata=metadata)], pods, [child])
    objects.jobsets.put(build(Owner, {"metadata": {"name": "pair", "namespace": "ns", "uid": "uid-set"}}))
    kind, name = kind_and_name(start) or ("", "")
    found = tree_of(kind, "ns", name, objects)
    assert found is not None
    assert tree(found, NOW) == JOB_SET_TREE


def test_an_ordinary_job_has_pods_and_no_gang() -> None:
    found = tree_of("job", "ns", "j", cluster([], [pod("j-0", "Running", node="n", group="", job="j")], [job()]))
    assert found is not None
    assert tree(found, NOW) == "job/j  no gang: nothing groups its pods\n└─ pod/j-0  Running, on n"


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
        ("gangtree/a", ("compositepodgroup", "a")),
        ("deployment/a", None),
        ("job", None),
        ("job/", None),
    ],
)
def test_kinds_go_by_the_names_that_kubectl_takes(text: str, meant: tuple[str, str] | None) -> None:
    assert kind_and_name(text) == meant
