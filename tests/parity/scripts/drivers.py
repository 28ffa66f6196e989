"""What storage drivers tell: about themselves, their nodes, their room, and which volume is where."""

from typing import Any

from tests.parity.scripts.objects import Object, of
from tests.parity.scripts.storage import GROUP, given
from tests.parity.steps import Script, delete, patch, post, put, table

DRIVERS = "/apis/storage.k8s.io/v1/csidrivers"
NODES = "/apis/storage.k8s.io/v1/csinodes"
CAPACITIES = "/apis/storage.k8s.io/v1/namespaces/{ns}/csistoragecapacities"
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"


def node(*drivers: Object) -> Object:
    """What the drivers of a node tell."""
    return of(GROUP, "CSINode", "parity-node", spec={"drivers": list(drivers)})


def attachment(**spec: Any) -> Object:
    """A volume on a node."""
    usual = {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    return of(GROUP, "VolumeAttachment", "parity-attachment", spec=given(usual | spec))


KNOWN = {"name": "a", "nodeID": "i"}
DRIVERS_SCRIPT = Script(
    "drivers",
    [
        post("a driver with the defaults", DRIVERS, of(GROUP, "CSIDriver", "parity-driver", spec={})),
        post(
            "a driver of an unknown mode", DRIVERS, of(GROUP, "CSIDriver", "bad", spec={"volumeLifecycleModes": ["X"]})
        ),
        post(
            "a driver of an unknown group policy", DRIVERS, of(GROUP, "CSIDriver", "bad", spec={"fsGroupPolicy": "X"})
        ),
        patch("change whether it attaches", f"{DRIVERS}/parity-driver", {"spec": {"attachRequired": False}}),
        patch("it tells its room", f"{DRIVERS}/parity-driver", {"spec": {"storageCapacity": True}}),
        table("drivers", f"{DRIVERS}/parity-driver"),
        delete("drop the driver", f"{DRIVERS}/parity-driver"),
        post("a node with one driver twice", NODES, node(KNOWN, KNOWN)),
        post("a node with a driver that does not know it", NODES, node({"name": "a"})),
        post("a node with a driver of no name", NODES, node({"nodeID": "i"})),
        post("a node of no driver", NODES, of(GROUP, "CSINode", "parity-empty", spec={})),
        post("a node with less than no room", NODES, node({**KNOWN, "allocatable": {"count": -1}})),
        post("a node with an empty key", NODES, node({**KNOWN, "topologyKeys": [""]})),
        post("a node", NODES, node(KNOWN)),
        patch("its driver changes its mind", f"{NODES}/parity-node", {"spec": {"drivers": [{**KNOWN, "nodeID": "j"}]}}),
        patch("another driver", f"{NODES}/parity-node", {"spec": {"drivers": [KNOWN, {**KNOWN, "name": "b"}]}}),
        table("nodes", f"{NODES}/parity-node"),
        delete("drop the node", f"{NODES}/parity-node"),
        delete("drop the empty one", f"{NODES}/parity-empty"),
        post("room of no class", CAPACITIES, of(GROUP, "CSIStorageCapacity", "bad", capacity="1Gi")),
        post(
            "less than no room",
            CAPACITIES,
            of(GROUP, "CSIStorageCapacity", "bad", storageClassName="c", capacity="-1Gi"),
        ),
        post(
            "room",
            CAPACITIES,
            of(
                GROUP,
                "CSIStorageCapacity",
                "one",
                storageClassName="c",
                capacity="1Gi",
                maximumVolumeSize="500Mi",
                nodeTopology={"matchLabels": {"zone": "a"}},
            ),
        ),
        patch("room elsewhere", f"{CAPACITIES}/one", {"nodeTopology": {"matchLabels": {"zone": "b"}}}),
        patch("room of another class", f"{CAPACITIES}/one", {"storageClassName": "d"}),
        table("rooms", CAPACITIES),
        *(
            post(f"an attachment with {what}", ATTACHMENTS, attachment(**spec))
            for what, spec in (
                ("no attacher", {"attacher": None}),
                ("no node", {"nodeName": None}),
                ("no source", {"source": {}}),
            )
        ),
        post("an attachment", ATTACHMENTS, attachment()),
        patch("to another node", f"{ATTACHMENTS}/parity-attachment", {"spec": {"nodeName": "m"}}),
        patch("it is there", f"{ATTACHMENTS}/parity-attachment/status", {"status": {"attached": True}}),
        table("attachments", f"{ATTACHMENTS}/parity-attachment"),
        put("put it elsewhere", f"{ATTACHMENTS}/parity-attachment", attachment(nodeName="m")),
        delete("drop the attachment", f"{ATTACHMENTS}/parity-attachment"),
    ],
)

SCRIPTS = [DRIVERS_SCRIPT]
