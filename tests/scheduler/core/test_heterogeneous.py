"""Many members that differ: placed together, they go where they would have gone one by one."""

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.algorithm import heterogeneous_in_order
from scheduler.algorithm.heterogeneous import HeterogeneousMembers, are_heterogeneous, node_classes
from scheduler.algorithm.heterogeneous_in_order import place_in_order
from scheduler.algorithm.node_fits import fits_of
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.cache.pod_signature import PodSignature
from tests.scheduler.core import build
from tests.scheduler.core.world import World

NODE = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 6), st.booleans())
REQUEST = st.tuples(st.integers(0, 30), st.integers(0, 30))
IMAGES = [{"names": ["registry.example/large:1"], "sizeBytes": 900 * 2**20}]


def _world(nodes: list[tuple[int, int, int, bool]], used: list[tuple[int, int]], with_images: bool) -> World:
    world = World()
    for index, (cpu, memory, pods, is_first) in enumerate(nodes):
        images = IMAGES if with_images and index % 3 == 0 else []
        labels = {"half": "first" if is_first else "second"}
        world.node(f"n{index}", cpu=cpu, memory=f"{memory}Gi", pods=pods, images=images, labels=labels)
    for index, (cpu, memory) in enumerate(used):
        requests = {"cpu": f"{cpu * 100}m", "memory": f"{memory * 100}Mi"}
        world.pod(f"used-{index}", on=f"n{index % max(len(nodes), 1)}", requests=requests, scheduler="other")
    return world


def _members(
    world: World, requests: list[tuple[int, int]], *, with_images: bool, with_selectors: bool
) -> list[PodSignature]:
    """Pods that all differ; some want an image that some nodes have, some only one half of the nodes."""
    shapes = []
    for index, (cpu, memory) in enumerate(requests):
        amounts = {"cpu": f"{cpu * 100 + index}m", "memory": f"{memory * 100}Mi"}
        image = "registry.example/large:1" if with_images and index % 2 else "registry.example/small:1"
        spec: dict[str, Any] = {"containers": [{"name": "main", "image": image, "resources": {"requests": amounts}}]}
        if with_selectors and index % 3 == 0:
            spec["nodeSelector"] = {"half": "first"}
        pod = world.state.slim_pod(build.pod(f"p{index}", spec=spec))
        assert pod.signature is not None
        shapes.append(pod.signature)
    return shapes


@settings(max_examples=120, deadline=None)
@given(
    nodes=st.lists(NODE, max_size=8),
    copies=st.integers(1, 6),
    used=st.lists(REQUEST, max_size=6),
    requests=st.lists(REQUEST, min_size=8, max_size=50),
    with_images=st.booleans(),
    with_selectors=st.booleans(),
    pack=st.booleans(),
    many=st.sampled_from([4, 512]),
    most_warm=st.sampled_from([1, 3, 8]),
)
def test_they_go_where_they_would_have_gone_one_by_one(
    nodes: list[tuple[int, int, int, bool]],
    copies: int,
    used: list[tuple[int, int]],
    requests: list[tuple[int, int]],
    with_images: bool,
    with_selectors: bool,
    pack: bool,
    many: int,
    most_warm: int,
) -> None:
    world = _world(nodes * copies, used, with_images)
    state = world.state
    shapes = _members(world, requests, with_images=with_images, with_selectors=with_selectors)
    snapshot = SnapshotOverlay(state.nodes, state.ports, fits_of(state))
    assert are_heterogeneous(snapshot, dict.fromkeys(shapes, 1))
    with patch.multiple(heterogeneous_in_order, _MANY=many, _BEST_FEW=2, _MOST_CHANGED=most_warm):
        together = place_in_order(HeterogeneousMembers(snapshot, shapes), range(len(shapes)), pack=pack)
    one_by_one = [snapshot.place(shape, 1, pack=pack).slots.tolist() for shape in shapes]
    assert together == [slots[0] if slots else -1 for slots in one_by_one]


@settings(max_examples=60, deadline=None)
@given(
    nodes=st.lists(NODE, max_size=8),
    used=st.lists(REQUEST, max_size=6),
    requests=st.lists(REQUEST, min_size=8, max_size=20),
    with_selectors=st.booleans(),
)
def test_how_hard_they_are_is_what_each_alone_would_find(
    nodes: list[tuple[int, int, int, bool]],
    used: list[tuple[int, int]],
    requests: list[tuple[int, int]],
    with_selectors: bool,
) -> None:
    world = _world(nodes, used, with_images=False)
    shapes = _members(world, requests, with_images=False, with_selectors=with_selectors)
    snapshot = SnapshotOverlay(world.state.nodes, world.state.ports, fits_of(world.state))
    pods, hosts = HeterogeneousMembers(snapshot, shapes).room()
    rooms = [snapshot.room(shape) for shape in shapes]
    assert pods == [int(room.sum()) for room in rooms]
    assert hosts == [int((room > 0).sum()) for room in rooms]


@settings(max_examples=50, deadline=None)
@given(
    columns=st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2**50), st.integers(0, 1)), min_size=1, max_size=30)
)
def test_columns_are_of_one_kind_exactly_when_they_are_equal(columns: list[tuple[int, int, int]]) -> None:
    found = node_classes(np.array(columns, dtype=np.int64).T)
    assert sorted(member for part in found.members for member in part) == list(range(len(columns)))
    for first, part in zip(found.first.tolist(), found.members, strict=True):
        assert part == [index for index, column in enumerate(columns) if column == columns[first]]


def test_columns_that_differ_are_told_apart_although_one_number_stands_for_both() -> None:
    # The weight of the second row is 27 times that of the first.
    found = node_classes(np.array([[27, 0], [0, 1], [27, 0], [0, 1], [1, 1]], dtype=np.int64).T)
    assert sorted(found.members) == [[0, 2], [1, 3], [4]]
    assert [part[0] for part in found.members] == found.first.tolist()


def test_a_gang_of_hundreds_that_all_differ_is_placed_whole_or_not_at_all() -> None:
    world = World()
    for index in range(40):
        world.node(f"n{index}", cpu=10, memory="64Gi")
    world.group("g", 300)
    for index in range(300):
        world.pod(f"g-{index:03}", group="g", requests={"cpu": f"{1000 + index}m"})
    decision = decide(world.state, build.group_key("g"))
    assert decision.result == "scheduled"
    assert len(decision.bindings) == 300
    used: dict[str, int] = {}
    for uid, node in decision.bindings:
        used[node] = used.get(node, 0) + 1000 + int(uid[-3:])
    assert max(used.values()) <= 10_000


def test_a_resource_that_no_node_has_keeps_only_those_away_that_ask_for_it() -> None:
    world = World()
    world.node("n0", cpu=64)
    world.group("g", 9)
    for index in range(10):
        requests = {"cpu": f"{100 + index}m", **({"example.com/none": "1"} if index == 4 else {})}
        world.pod(f"g-{index}", group="g", requests=requests)
    decision = decide(world.state, build.group_key("g"))
    assert decision.result == "scheduled"
    assert [uid for uid, _ in decision.failures] == ["uid-of-g-4"]
