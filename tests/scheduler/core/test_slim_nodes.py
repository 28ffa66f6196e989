"""What is kept of a node: all that scheduling reads, shared where nodes are alike, and nothing else."""

from typing import Any

import msgspec

from api.node import Node
from tests.scheduler.core.world import World

IMAGES = [{"names": ["registry.example/a:1", "registry.example/a@sha256:0"], "sizeBytes": 7}]


def _node(name: str, images: list[dict[str, Any]], version: str = "1") -> Node:
    manifest = {
        "metadata": {
            "name": name,
            "uid": f"uid-of-{name}",
            "resourceVersion": version,
            "labels": {"zone": "z1"},
            "annotations": {"example.com/long": "x" * 1000},
        },
        "spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": {"cpu": "4", "pods": "110"},
            "images": images,
            "declaredFeatures": ["Newer", "VolumeBindMountOptions"],
        },
    }
    return msgspec.json.decode(msgspec.json.encode(manifest), type=Node)


def test_all_that_scheduling_reads_stays_and_annotations_go() -> None:
    read = _node("n1", IMAGES)
    kept = World().state.slim_node(read)
    assert kept.metadata.key == read.metadata.key
    assert (kept.metadata.uid, kept.metadata.resource_version) == ("uid-of-n1", "1")
    assert (kept.metadata.labels, kept.spec, kept.status) == (read.metadata.labels, read.spec, read.status)
    assert kept.metadata.annotations is None


def test_equal_images_are_kept_once() -> None:
    state = World().state
    one, other = (state.slim_node(_node(name, IMAGES)) for name in ("n1", "n2"))
    assert one.status.images[0] is other.status.images[0]


def test_images_of_a_kept_node_come_and_go_with_its_events() -> None:
    state = World().state
    state.upsert_node(state.slim_node(_node("n1", IMAGES)))
    table = state.nodes.images
    version = table.version
    state.upsert_node(state.slim_node(_node("n1", IMAGES, "2")))
    assert (table.version, table.nodes_with("registry.example/a:1")) == (version, 1)
    state.upsert_node(state.slim_node(_node("n1", [], "3")))
    assert table.nodes_with("registry.example/a:1") == 0
