"""VolumeRestrictions: disks in pods, and claims for one pod."""

from typing import Any

from tests.placement.case import Machine, Object, Running
from tests.placement.storage import TWO, bound, inline, mounts, storage_class, stored_case

NO_DISK = "node(s) had no available disk"
ONE_POD = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
GCE = {"gcePersistentDisk": {"pdName": "d"}}
GCE_READS = {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}
EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
EBS_READS = {"awsElasticBlockStore": {"volumeID": "vol-1", "readOnly": True}}


def _iscsi(iqn: str, *, reads: bool = False) -> Object:
    return {
        "iscsi": {"targetPortal": "10.0.0.1:3260", "iqn": f"iqn.2001-04.com.example:{iqn}", "lun": 0, "readOnly": reads}
    }


def _rbd(image: str, *monitors: str, pool: str = "p", reads: bool = False) -> Object:
    return {"rbd": {"monitors": list(monitors), "image": image, "pool": pool, "readOnly": reads}}


SINGLE: dict[str, Any] = {"modes": ["ReadWriteOncePod"]}
RESTRICTIONS = (
    stored_case("the same GCE disk", TWO, (), inline(**GCE), 1, running=(Running(0, spec=inline(**GCE)),)),
    stored_case(
        "the same GCE disk everywhere",
        (Machine(),),
        (),
        inline(**GCE),
        None,
        f"1 {NO_DISK}",
        running=(Running(0, spec=inline(**GCE)),),
    ),
    stored_case(
        "a GCE disk that all only read",
        (Machine(),),
        (),
        inline(**GCE_READS),
        0,
        running=(Running(0, spec=inline(**GCE_READS)),),
    ),
    stored_case(
        "a GCE disk that one writes",
        (Machine(),),
        (),
        inline(**GCE_READS),
        None,
        f"1 {NO_DISK}",
        running=(Running(0, spec=inline(**GCE)),),
    ),
    stored_case(
        "an EBS volume, read-only or not",
        (Machine(),),
        (),
        inline(**EBS_READS),
        None,
        f"1 {NO_DISK}",
        running=(Running(0, spec=inline(**EBS_READS)),),
    ),
    stored_case(
        "another EBS volume",
        (Machine(),),
        (),
        inline(awsElasticBlockStore={"volumeID": "vol-2"}),
        0,
        running=(Running(0, spec=inline(**EBS)),),
    ),
    stored_case(
        "the same iSCSI target", TWO, (), inline(**_iscsi("a")), 1, running=(Running(0, spec=inline(**_iscsi("a"))),)
    ),
    stored_case(
        "an iSCSI target that all only read",
        (Machine(),),
        (),
        inline(**_iscsi("a", reads=True)),
        0,
        running=(Running(0, spec=inline(**_iscsi("a", reads=True))),),
    ),
    stored_case(
        "another iSCSI target",
        (Machine(),),
        (),
        inline(**_iscsi("b")),
        0,
        running=(Running(0, spec=inline(**_iscsi("a"))),),
    ),
    stored_case(
        "the same RBD image by a shared monitor",
        (Machine(),),
        (),
        inline(**_rbd("i", "m1", "m2")),
        None,
        f"1 {NO_DISK}",
        running=(Running(0, spec=inline(**_rbd("i", "m2", "m3"))),),
    ),
    stored_case(
        "an RBD image of other monitors",
        (Machine(),),
        (),
        inline(**_rbd("i", "m1")),
        0,
        running=(Running(0, spec=inline(**_rbd("i", "m2"))),),
    ),
    stored_case(
        "an RBD image of another pool",
        (Machine(),),
        (),
        inline(**_rbd("i", "m1")),
        0,
        running=(Running(0, spec=inline(**_rbd("i", "m1", pool="q"))),),
    ),
    stored_case(
        "a disk of another kind", (Machine(),), (), inline(**EBS), 0, running=(Running(0, spec=inline(**GCE)),)
    ),
    stored_case(
        "a claim for one pod, in use",
        TWO,
        (storage_class(), *bound(**SINGLE)),
        mounts("c"),
        None,
        f"2 {ONE_POD}",
        running=(Running(0, spec=mounts("c")),),
    ),
    stored_case("a claim for one pod, free", TWO, (storage_class(), *bound(**SINGLE, on=(1,))), mounts("c"), 1),
    stored_case(
        "a claim for one node, in use",
        TWO,
        (storage_class(), *bound(on=(0,))),
        mounts("c"),
        0,
        running=(Running(0, spec=mounts("c")),),
    ),
    stored_case(
        "of two claims for one pod one is in use",
        TWO,
        (storage_class(), *bound(**SINGLE), *bound("d", "@pw", **SINGLE)),
        mounts("d", "c"),
        None,
        f"2 {ONE_POD}",
        running=(Running(0, spec=mounts("c")),),
    ),
    stored_case(
        "a disk and a claim",
        TWO,
        (storage_class(), *bound(**SINGLE)),
        {"volumes": [*mounts("c")["volumes"], {"name": "d", **GCE}]},
        None,
        f"1 {NO_DISK}, 1 {ONE_POD}",
        running=(Running(0, spec=inline(**GCE)), Running(1, spec=mounts("c"))),
    ),
    stored_case(
        "full nodes are told first",
        (Machine(cpu=1), Machine()),
        (),
        inline(**GCE),
        None,
        f"1 Insufficient cpu, 1 {NO_DISK}",
        running=(Running(1, spec=inline(**GCE)),),
        cpu=2,
    ),
)
