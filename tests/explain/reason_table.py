"""One scene for each class of reason that a decision knows, with the hint that is told."""

from typing import Any, Final

from api.constants import SCHEDULING_TIMEOUT, SLICE_SIZE, SLICE_TOPOLOGY
from explain.hint import HintKind
from explain.reasons import Reason
from tests.explain.scenes import Scene
from tests.placement.declared_features import RESTARTING

ZONE: Final = "zone"
HOSTNAME: Final = "kubernetes.io/hostname"


def _nodes(count: int, *, first: int = 0, zone: str = "a", **more: Any) -> dict[str, dict[str, Any]]:
    return {f"n{number}": {"labels": {ZONE: zone}, **more} for number in range(first, first + count)}


def _spread() -> dict[str, Any]:
    return {
        "topologySpreadConstraints": [
            {
                "topologyKey": ZONE,
                "maxSkew": 1,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "w"}},
            }
        ]
    }


def _apart(key: str = HOSTNAME) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "w"}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


_LABELS: Final = {"labels": {"app": "w"}}
_TAINT: Final[dict[str, Any]] = {"taints": [{"key": "team", "value": "b", "effect": "NoSchedule"}]}

SCENES: Final[dict[str, tuple[Reason, HintKind | None, Scene]]] = {
    "no PodGroup": (Reason.POD_GROUP, None, Scene(nodes=_nodes(2), has_group=False)),
    "gated pods": (Reason.GATES, HintKind.REMOVE_GATES, Scene(nodes=_nodes(2), pod={"gates": ["wait"]})),
    "a member is missing": (Reason.MEMBERS, HintKind.LOWER_MIN_COUNT, Scene(nodes=_nodes(2), exists=1)),
    "it gave up": (
        Reason.TIMED_OUT,
        HintKind.REMOVE_TIMEOUT,
        Scene(nodes=_nodes(2), has_given_up=True, group={"annotations": {SCHEDULING_TIMEOUT: "10s"}}),
    ),
    "it contradicts itself": (
        Reason.INVALID,
        None,
        Scene(nodes=_nodes(2), pod={"spec": {"resourceClaims": [{"name": "x"}]}}),
    ),
    "no node": (Reason.NO_NODES, None, Scene()),
    "cordoned": (Reason.CORDONED, HintKind.RESTORE_NODES, Scene(nodes=_nodes(2, unschedulable=True))),
    "tainted": (Reason.TAINTS, HintKind.TOLERATE, Scene(nodes=_nodes(2, **_TAINT))),
    "nodes are not ready": (
        Reason.TAINTS,
        HintKind.RESTORE_NODES,
        Scene(nodes=_nodes(2, taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])),
    ),
    "selected zone": (
        Reason.NODE_AFFINITY,
        HintKind.REMOVE_NODE_SELECTOR,
        Scene(nodes=_nodes(2, zone="b"), pod={"spec": {"nodeSelector": {ZONE: "a"}}}),
    ),
    "features": (
        Reason.FEATURES,
        None,
        Scene(nodes=_nodes(2), pod={"spec": RESTARTING}),
    ),
    "topology": (
        Reason.TOPOLOGY,
        HintKind.REMOVE_TOPOLOGY,
        Scene(nodes=_nodes(1) | _nodes(1, first=1, zone="b"), group={"topology": ZONE}, pod={"cpu": 4}),
    ),
    "slices": (
        Reason.TOPOLOGY,
        HintKind.REMOVE_TOPOLOGY,
        Scene(
            nodes=_nodes(1) | _nodes(1, first=1, zone="b"),
            group={"annotations": {SLICE_SIZE: "2", SLICE_TOPOLOGY: ZONE}},
            pod={"cpu": 4},
            has_ranks=True,
        ),
    ),
    "spread": (
        Reason.SPREAD,
        HintKind.PREFER_SPREAD,
        Scene(
            nodes=_nodes(2) | _nodes(1, first=2, zone="b", cpu=0), size=3, need=3, pod={**_LABELS, "spec": _spread()}
        ),
    ),
    "anti-affinity": (
        Reason.POD_AFFINITY,
        HintKind.REMOVE_POD_AFFINITY,
        Scene(nodes=_nodes(1), pod={**_LABELS, "spec": _apart()}),
    ),
    "anti-affinity of others": (
        Reason.POD_AFFINITY,
        HintKind.WAIT_FOR,
        Scene(
            nodes=_nodes(1),
            residents={"r": {"on": "n0", "cpu": 0, "scheduler": "another", **_LABELS, "spec": _apart()}},
            pod=_LABELS,
        ),
    ),
    "a claim that does not exist": (
        Reason.VOLUMES,
        None,
        Scene(
            nodes=_nodes(2),
            pod={"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}]}},
        ),
    ),
    "ports": (
        Reason.PORTS,
        HintKind.REMOVE_PORTS,
        Scene(nodes=_nodes(1), pod={"ports": [{"hostPort": 80, "containerPort": 80}]}),
    ),
    "room is kept": (
        Reason.RESERVED,
        HintKind.HOLDER_GONE,
        Scene(
            nodes=_nodes(1),
            residents={"vip": {"cpu": 4, "priority": 5_000_000}},
            nominated={"vip": "n0"},
            priority=0,
        ),
    ),
    "a little room": (Reason.ROOM, HintKind.LOWER_REQUEST, Scene(nodes=_nodes(2, cpu=7), pod={"cpu": 8})),
    "room for some": (
        Reason.ROOM,
        HintKind.LOWER_MIN_COUNT,
        Scene(
            nodes={f"n{number}": {"resources": {"example.com/gpu": "1"}} for number in range(3)},
            size=4,
            need=4,
            pod={"requests": {"example.com/gpu": "1"}},
        ),
    ),
    "room taken by a gang": (
        Reason.ROOM,
        HintKind.WAIT_FOR,
        Scene(
            nodes={f"n{number}": {"resources": {"example.com/gpu": "1"}} for number in range(4)},
            groups={"running": {"need": 3}},
            residents={
                f"running-{number}": {
                    "on": f"n{number}",
                    "group": "running",
                    "requests": {"example.com/gpu": "1"},
                }
                for number in range(3)
            },
            size=4,
            need=4,
            pod={"requests": {"example.com/gpu": "1"}},
        ),
    ),
    "more nodes": (
        Reason.ROOM,
        HintKind.ADD_NODES,
        Scene(
            nodes={"n0": {"resources": {"example.com/gpu": "1"}}},
            size=4,
            need=4,
            pod={"requests": {"example.com/gpu": "1"}},
        ),
    ),
    "a claim that nobody has made yet": (
        Reason.CLAIMS,
        None,
        Scene(nodes=_nodes(2, devices=2), pod={"devices": 1, "claim": False}),
    ),
    "a device class that does not exist": (
        Reason.CLAIMS,
        None,
        Scene(nodes=_nodes(2, devices=2), pod={"devices": 1, "class_name": "missing"}),
    ),
    "fewer devices for each pod": (
        Reason.DEVICES,
        HintKind.LOWER_DEVICES,
        Scene(nodes=_nodes(2, devices=3), pod={"devices": 4}),
    ),
    "devices for some": (
        Reason.DEVICES,
        HintKind.LOWER_MIN_COUNT,
        Scene(nodes=_nodes(3, devices=1), size=4, need=4, pod={"devices": 1}),
    ),
    "devices that a gang has": (
        Reason.DEVICES,
        HintKind.WAIT_FOR,
        Scene(
            nodes=_nodes(3, devices=2),
            groups={"running": {"need": 2}},
            residents={
                f"running-{number}": {"on": f"n{number}", "group": "running", "devices": ["g0", "g1"]}
                for number in range(2)
            }
            | {"small": {"on": "n2", "devices": ["g0"]}},
            size=5,
            need=5,
            pod={"devices": 1},
        ),
    ),
    "more nodes with devices": (
        Reason.DEVICES,
        HintKind.ADD_NODES,
        Scene(nodes=_nodes(1, devices=2) | _nodes(6, first=1), size=8, need=8, pod={"devices": 1}),
    ),
    "devices and room on nodes that are full": (
        Reason.DEVICES,
        HintKind.WAIT_FOR,
        Scene(
            nodes=_nodes(1, devices=2),
            residents={"big": {"on": "n0", "cpu": 4, "devices": ["g0", "g1"]}},
            size=1,
            need=1,
            pod={"devices": 1, "cpu": 2},
        ),
    ),
    "priority": (
        Reason.ROOM,
        HintKind.WAIT_FOR,
        Scene(nodes=_nodes(1), residents={"r": {"on": "n0", "cpu": 3, "priority": 20}}, size=1, need=1, pod={"cpu": 4}),
    ),
}
