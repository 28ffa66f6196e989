"""NodeVolumeLimits: how many volumes a node can have attached."""

from typing import Any

from tests.placement.case import Machine, Object, Running
from tests.placement.storage import DYNAMIC, TWO, D, bound, claim, csi_node, driver, mounts, stored_case

NO_ROOM = "node(s) exceed max volume count"


def _attached(*numbers: int, **more: Any) -> tuple[Object, ...]:
    """Claims `c<n>` with volumes of driver `d`."""
    return tuple(
        one for number in numbers for one in bound(f"c{number}", f"@pv{number}", csi=(D, f"h{number}"), **more)
    )


LIMITS = (
    stored_case("room for one", (Machine(),), (DYNAMIC, csi_node(0, d=1), *_attached(1)), mounts("c1"), 0),
    stored_case(
        "no room",
        (Machine(),),
        (DYNAMIC, csi_node(0, d=1), *_attached(1, 2)),
        mounts("c2"),
        None,
        f"1 {NO_ROOM}",
        running=(Running(0, spec=mounts("c1")),),
    ),
    stored_case(
        "room on the other one",
        TWO,
        (DYNAMIC, csi_node(0, d=1), csi_node(1, d=1), *_attached(1, 2)),
        mounts("c2"),
        1,
        running=(Running(0, spec=mounts("c1")),),
    ),
    stored_case(
        "a volume that is there already",
        (Machine(),),
        (DYNAMIC, csi_node(0, d=1), *_attached(1)),
        mounts("c1"),
        0,
        running=(Running(0, spec=mounts("c1")),),
    ),
    stored_case(
        "two pods with one volume count once",
        (Machine(),),
        (DYNAMIC, csi_node(0, d=2), *_attached(1, 2)),
        mounts("c2"),
        0,
        running=(Running(0, spec=mounts("c1")), Running(0, spec=mounts("c1"))),
    ),
    stored_case(
        "two at once are too many",
        (Machine(),),
        (DYNAMIC, csi_node(0, d=1), *_attached(1, 2)),
        mounts("c1", "c2"),
        None,
        f"1 {NO_ROOM}",
    ),
    stored_case(
        "one of two is there already",
        (Machine(),),
        (DYNAMIC, csi_node(0, d=2), *_attached(1, 2)),
        mounts("c1", "c2"),
        0,
        running=(Running(0, spec=mounts("c1")),),
    ),
    stored_case(
        "no limit is stated",
        (Machine(),),
        (DYNAMIC, csi_node(0, d=None), *_attached(1, 2)),
        mounts("c2"),
        0,
        running=(Running(0, spec=mounts("c1")),),
    ),
    stored_case(
        "nothing is known of the node",
        (Machine(),),
        (DYNAMIC, *_attached(1, 2)),
        mounts("c2"),
        0,
        running=(Running(0, spec=mounts("c1")),),
    ),
    stored_case(
        "the limit of another driver", (Machine(),), (DYNAMIC, csi_node(0, e=0), *_attached(1)), mounts("c1"), 0
    ),
    stored_case(
        "drivers count apart",
        (Machine(),),
        (DYNAMIC, csi_node(0, d=1, e=1), *_attached(1), *bound("c2", "@pv2", csi=("@e.example", "h"))),
        mounts("c2"),
        0,
        running=(Running(0, spec=mounts("c1")),),
    ),
    stored_case("a limit of none", TWO, (DYNAMIC, csi_node(0, d=0), csi_node(1, d=1), *_attached(1)), mounts("c1"), 1),
    stored_case(
        "volumes that are yet to be made count",
        (Machine(),),
        (DYNAMIC, csi_node(0, d=1), *_attached(1), claim("c2")),
        mounts("c2"),
        None,
        f"1 {NO_ROOM}",
        running=(Running(0, spec=mounts("c1")),),
    ),
    stored_case(
        "attached without a pod",
        (Machine(),),
        (
            DYNAMIC,
            csi_node(0, d=1),
            *_attached(1, 2),
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "VolumeAttachment",
                "metadata": {"name": "@va"},
                "spec": {"attacher": D, "nodeName": "@n0", "source": {"persistentVolumeName": "@pv1"}},
            },
        ),
        mounts("c2"),
        None,
        f"1 {NO_ROOM}",
    ),
    stored_case(
        "a driver that must be installed",
        TWO,
        (DYNAMIC, driver(D, preventPodSchedulingIfMissing=True), csi_node(1, d=None), *_attached(1)),
        mounts("c1"),
        1,
    ),
    stored_case(
        "a driver that must be installed, and is nowhere",
        TWO,
        (DYNAMIC, driver(D, preventPodSchedulingIfMissing=True), csi_node(1, e=None), *_attached(1)),
        mounts("c1"),
        None,
        "2 @d.example CSI driver is not installed on the node",
    ),
    stored_case(
        "a driver that need not be installed",
        (Machine(),),
        (DYNAMIC, driver(D), csi_node(0, e=None), *_attached(1)),
        mounts("c1"),
        0,
    ),
)
