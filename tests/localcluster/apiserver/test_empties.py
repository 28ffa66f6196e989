"""What a real server would not write is not kept."""

from typing import Any

from localcluster.apiserver.kinds.empties import drop_empties
from localcluster.apiserver.kinds.kind import KindInfo
from localcluster.apiserver.kinds.plain import PlainStrategy

POD = KindInfo("", "v1", "Pod", "pods", PlainStrategy())
JOB = KindInfo("batch", "v1", "Job", "jobs", PlainStrategy())
TOY = KindInfo("example.org", "v1", "Toy", "toys", PlainStrategy(), definition={"spec": {}})


def kept(kind: KindInfo, **fields: Any) -> dict[str, Any]:
    """The object without what holds nothing."""
    obj = {"metadata": {"name": "x"}, **fields}
    drop_empties(kind, obj)
    return obj


def test_empty_lists_and_maps_go() -> None:
    obj = kept(
        POD, metadata={"name": "x", "labels": {}, "finalizers": []}, spec={"schedulingGates": [], "nodeSelector": {}}
    )
    assert obj == {"metadata": {"name": "x"}, "spec": {}}


def test_zeros_go_unless_they_are_values() -> None:
    spec = {"parallelism": 0, "suspend": False, "completions": 0}
    assert kept(JOB, spec=spec, status={"active": 0, "ready": 0, "succeeded": 2}) == {
        "metadata": {"name": "x"},
        "spec": spec,
        "status": {"ready": 0, "succeeded": 2},
    }


def test_empty_objects_stay() -> None:
    volumes = [{"name": "v", "emptyDir": {}}]
    containers = [{"name": "c", "resources": {}, "env": [], "ports": [{"containerPort": 80, "hostPort": 0}]}]
    assert kept(POD, spec={"volumes": volumes, "containers": containers})["spec"] == {
        "volumes": [{"name": "v", "emptyDir": {}}],
        "containers": [{"name": "c", "resources": {}, "ports": [{"containerPort": 80}]}],
    }


def test_times_that_are_not_known_stay() -> None:
    conditions = [{"type": "Ready", "status": "True", "lastProbeTime": None, "reason": ""}]
    assert kept(POD, status={"conditions": conditions})["status"]["conditions"] == [
        {"type": "Ready", "status": "True", "lastProbeTime": None}
    ]


def test_custom_resources_are_left_alone_but_for_their_metadata() -> None:
    obj = kept(TOY, metadata={"name": "x", "annotations": {}}, spec={"list": [], "zero": 0})
    assert obj == {"metadata": {"name": "x"}, "spec": {"list": [], "zero": 0}}
