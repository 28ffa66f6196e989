"""Trees of groups on a whole server: the built-in kind with its gate on, or our own."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.lost_pods import dies
from tests.conformance.scenarios.preemption_stage import HIGH, LOW, MID, SOON_SECONDS, TOP
from tests.conformance.scenarios.scene import REFUSED, TRUE, Scene
from verify.clusters.client import ApiError, Object
from verify.clusters.eventually import eventually, throughout
from verify.clusters.groups import type_of
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, condition_entry
from verify.clusters.tutti_process import Tutti

REF = {"workloadName": "tree", "templateName": "t"}
KIND = "compositepodgroups"
STARTED = "CompositePodGroupInitiallyScheduled"
TIMED_OUT = "SchedulingTimedOut"
TIMEOUT = "tutti.scheduler/scheduling-timeout"
RACK = "example.com/rack"
ANEW: Any = {"annotations": {"tutti.scheduler/degraded": "restart", "tutti.scheduler/repair-timeout": "3s"}}
INSIDE_A_RACK: Object = {"schedulingConstraints": {"topology": [{"key": RACK}]}}


class Trees(Scene):
    """Scenes with CompositePodGroups."""

    def composite(self, name: str, need: int, **more: Any) -> None:
        """A CompositePodGroup of which so many children start together; `more` as for `create`."""
        eventually(lambda: self.create(name, need, **dict(more)), within_seconds=SOON_SECONDS)

    def create(self, name: str, need: int, *, priority: str = HIGH, **more: Any) -> Object:
        """Creates a CompositePodGroup at the first try; `more` are `annotations` and fields of `spec`."""
        metadata = {"name": name, "annotations": more.pop("annotations", {})}
        spec: Object = {
            "schedulingPolicy": {"gang": {"minGroupCount": need}},
            "workloadRef": REF,
            "priorityClassName": priority,
            **more,
        }
        return self.api.create(KIND, {**type_of(self.api, KIND), "metadata": metadata, "spec": spec}, self.namespace)

    def child(
        self, name: str, parent: str, pods: int, *, priority: str = HIGH, pod_priority: str = HIGH, **more: Any
    ) -> None:
        """A gang below a CompositePodGroup, with all its pods; `more` are fields of `spec`."""
        self.group(name, pods, priority, workloadRef=REF, parentCompositePodGroupName=parent, **more)
        self.members(name, pods, priority=pod_priority)

    def tree_says(self, name: str, status: str, reason: str, kind: str = STARTED) -> Object:
        """Waits until a condition of a CompositePodGroup is this; the condition."""

        def told() -> Object:
            tree = self.api.get(KIND, name, self.namespace)
            entry: Object = condition_entry(tree, kind) or {}
            assert (entry.get("status"), entry.get("reason")) == (status, reason), tree.get("status")
            return entry

        return eventually(told, within_seconds=SOON_SECONDS)

    def clear(self) -> None:
        """Ends everything."""
        super().clear()
        for tree in self.api.list(KIND, self.namespace):
            self.api.delete(KIND, tree["metadata"]["name"], self.namespace)


@pytest.fixture
def scene(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> Iterator[Trees]:
    made = Trees(jobs, nodes, tutti)
    yield made
    made.clear()


def test_two_levels_start_together_and_say_so(scene: Trees) -> None:
    scene.node(8)
    scene.composite("root", 1)
    scene.composite("inner", 2, parentCompositePodGroupName="root")
    for name in ("a", "b"):
        scene.child(name, "inner", 2)
    for name in ("a", "b"):
        scene.started(name, 2)
    scene.tree_says("inner", *TRUE)
    scene.tree_says("root", *TRUE)


def test_a_minimum_below_all_starts_without_the_rest_which_follows(scene: Trees) -> None:
    scene.node(5)
    scene.composite("tree", 2)
    for name in ("a", "b", "c"):
        scene.child(name, "tree", 2)
    scene.tree_says("tree", *TRUE)
    throughout(lambda: sum(len(scene.places(name)) for name in ("a", "b", "c")) == 4, seconds=0.5)
    scene.node(2)
    for name in ("a", "b", "c"):
        scene.started(name, 2)


def test_a_tree_without_room_starts_nothing_and_says_why_on_each_level(scene: Trees) -> None:
    scene.node(3)
    scene.composite("tree", 2)
    for name in ("a", "b"):
        scene.child(name, "tree", 2)
    entry = scene.tree_says("tree", *REFUSED)
    assert "minGroupCount (2) cannot be satisfied: 1 of 2 groups can start" in entry["message"]
    assert scene.says_soon("a", *REFUSED)["message"].startswith("composite pod group tree: minGroupCount (2)")
    scene.nobody_starts("a", "b")


def test_another_priority_below_a_root_is_an_error_on_each_level(scene: Trees) -> None:
    scene.node(8)
    scene.composite("tree", 1, priority=HIGH)
    scene.child("a", "tree", 2, priority=LOW, pod_priority=LOW)
    entry = scene.tree_says("tree", "False", "SchedulerError")
    assert "should have its priority, got 10 of pod group a and 100 of composite pod group tree" in entry["message"]
    scene.group_error("a", "should have its priority")
    scene.nobody_starts("a")


def test_of_four_trees_of_sixty_percent_each_one_runs(scene: Trees) -> None:
    scene.node(10)
    for tree in range(4):
        scene.composite(f"t{tree}", 3)
        for group in range(3):
            scene.child(f"t{tree}-{group}", f"t{tree}", 2)

    def running() -> list[int]:
        counts = [sum(len(scene.places(f"t{tree}-{group}")) for group in range(3)) for tree in range(4)]
        assert set(counts) <= {0, 6}
        return [tree for tree, count in enumerate(counts) if count]

    eventually(running, within_seconds=SOON_SECONDS)
    throughout(lambda: len(running()) == 1, seconds=1.0)


def test_a_tree_makes_room_for_itself(scene: Trees) -> None:
    node = scene.node(4)
    for index in range(4):
        scene.pod(f"low-{index}", priority=LOW, on=node)
    scene.composite("tree", 2)
    for name in ("a", "b"):
        scene.child(name, "tree", 2)

    eventually(lambda: all(f"low-{index}" not in scene.pods() for index in range(4)), within_seconds=SOON_SECONDS)
    for name in ("a", "b"):
        scene.started(name, 2)


def test_less_important_gangs_leave_the_racks_in_which_the_groups_of_a_tree_then_start(scene: Trees) -> None:
    for rack in ("r1", "r2", "r3"):
        scene.group(f"mid-{rack}", 2, MID, whole=True)
        for index in range(2):
            scene.pod(f"mid-{rack}-{index}", priority=MID, on=scene.labelled(1, {RACK: rack}), group=f"mid-{rack}")
    # Less important still, but of no use: beside somebody who stays there is no room for a whole group.
    for rack in ("r4", "r5"):
        scene.pod(f"low-{rack}", on=scene.labelled(1, {RACK: rack}))
        scene.pod(f"top-{rack}", priority=TOP, on=scene.labelled(1, {RACK: rack}))
    scene.composite("tree", 2)
    for name in ("a", "b"):
        scene.child(name, "tree", 2, **INSIDE_A_RACK)

    for name in ("a", "b"):
        scene.started(name, 2)
    scene.tree_says("tree", *TRUE)
    used = [scene.labels_of(name, RACK) for name in ("a", "b")]
    assert [len(racks) for racks in used] == [1, 1]
    left = {f"mid-{rack}-{index}" for rack in set.union(*used) for index in range(2)}
    assert len(left) == 4
    scene.preempted(*left)


def test_room_for_the_lost_members_of_a_trees_groups_is_not_for_a_younger_gang(scene: Trees) -> None:
    for rack in ("r1", "r2"):
        for _ in range(3):
            scene.labelled(1, {RACK: rack})
    scene.composite("tree", 2)
    for name in ("a", "b"):
        scene.child(name, "tree", 2, **INSIDE_A_RACK)
    for name in ("a", "b"):
        scene.started(name, 2)
    racks = {name: scene.labels_of(name, RACK) for name in ("a", "b")}
    survivors = {name: scene.places(name)[f"{name}-1"] for name in ("a", "b")}
    for name in ("a", "b"):
        dies(scene.api, scene.places(name)[f"{name}-0"], scene.namespace)
        scene.end(f"{name}-0")

    # A node of each rack is free: as many as the tree has lost, and as many as the younger gang needs.
    scene.gang("young", 2)
    scene.refused("young")
    scene.nobody_starts("young")
    for name in ("a", "b"):
        scene.pod(f"{name}-0", priority=HIGH, group=name)
    for name in ("a", "b"):
        scene.runs(name, 2)
        assert scene.places(name)[f"{name}-1"] == survivors[name]
        assert scene.labels_of(name, RACK) == racks[name]
    scene.stays("young", 0)
    for _ in range(2):
        scene.node(1)
    scene.started("young", 2)


def _loses_a_node_for_good(scene: Trees, mode: str) -> dict[str, dict[str, str]]:
    """A tree of two gangs of two has started on four nodes, and that of the member a-0 is gone; where they run."""
    for _ in range(4):
        scene.node(1)
    scene.composite("tree", 2, disruptionMode={mode: {}})
    for name in ("a", "b"):
        scene.child(name, "tree", 2, **ANEW)
    for name in ("a", "b"):
        scene.started(name, 2)
    places = {name: scene.places(name) for name in ("a", "b")}
    dies(scene.api, places["a"]["a-0"], scene.namespace)
    scene.end("a-0")
    return places


def _restarted(scene: Trees) -> set[str]:
    """Who has an event that says that it starts anew."""
    events = [event for event in scene.api.list("events", scene.namespace) if event["reason"] == "GangRestarted"]
    return {event["regarding"]["name"] for event in events}


def test_a_group_of_a_tree_that_cannot_be_repaired_in_time_starts_anew_beside_its_siblings(scene: Trees) -> None:
    before = _loses_a_node_for_good(scene, "single")
    eventually(lambda: not scene.places("a"), within_seconds=SOON_SECONDS)
    assert scene.places("b") == before["b"]
    eventually(lambda: _restarted(scene) == {"a"}, within_seconds=SOON_SECONDS)
    scene.members("a", 2)
    scene.stays("a", 0)
    scene.node(1)
    scene.runs("a", 2)
    assert scene.places("b") == before["b"]


def test_a_tree_whose_groups_leave_together_starts_anew_whole(scene: Trees) -> None:
    _loses_a_node_for_good(scene, "all")
    eventually(lambda: not scene.places("a") and not scene.places("b"), within_seconds=SOON_SECONDS)
    eventually(lambda: _restarted(scene) == {"a", "b", "tree"}, within_seconds=SOON_SECONDS)
    for name in ("a", "b"):
        scene.members(name, 2)
    scene.nobody_starts("a", "b")
    scene.node(1)
    for name in ("a", "b"):
        scene.runs(name, 2)


def test_a_tree_that_gives_up_stays_says_so_on_each_level_and_starts_when_its_limit_is_taken_off(scene: Trees) -> None:
    scene.node(3)
    scene.composite("tree", 2, annotations={TIMEOUT: "3s"})
    for name in ("a", "b"):
        scene.child(name, "tree", 2)
    scene.tree_says("tree", "True", "SchedulingTimeout", TIMED_OUT)
    told = scene.tree_says("tree", "False", "SchedulingTimeout")
    assert told["message"].startswith(
        "gave up after 3 s: minGroupCount (2) cannot be satisfied: 1 of 2 groups can start"
    )
    for name in ("a", "b"):
        assert (
            scene.says_soon(name, "False", "SchedulingTimeout")["message"]
            == f"composite pod group tree: {told['message']}"
        )

    def heard() -> list[str]:
        events = [
            event for event in scene.api.list("events", scene.namespace) if event["reason"] == "SchedulingTimeout"
        ]
        return [event["regarding"]["name"] for event in events]

    eventually(lambda: heard() == ["tree"], within_seconds=SOON_SECONDS)
    scene.node(1)
    scene.nobody_starts("a", "b")
    scene.api.patch(KIND, "tree", {"metadata": {"annotations": {TIMEOUT: None}}}, scene.namespace)
    for name in ("a", "b"):
        scene.started(name, 2)
    scene.tree_says("tree", "False", "WaitsAgain", TIMED_OUT)
    scene.tree_says("tree", *TRUE)


def test_an_unusable_limit_of_a_tree_is_refused(scene: Trees) -> None:
    with pytest.raises(ApiError, match="must be a duration above zero, such as 10m or 1h30m"):
        scene.create("tree", 2, annotations={TIMEOUT: "soon"})


def test_spare_room_of_a_tree_is_not_for_a_younger_gang_and_takes_the_replacement_of_a_lost_member(
    scene: Trees,
) -> None:
    for _ in range(4):
        scene.node(1)
    spare: Any = {"annotations": {"tutti.scheduler/spare-nodes": "1"}}
    scene.composite("tree", 2)
    scene.child("a", "tree", 2, **spare)
    scene.child("b", "tree", 2)
    for name in ("a", "b"):
        scene.started(name, 2)
    before = {name: scene.places(name) for name in ("a", "b")}
    spare_node = scene.node(1)
    scene.gang("young", 1)
    scene.refused("young", "Some room is kept for other groups")
    scene.nobody_starts("young")
    dies(scene.api, before["a"]["a-0"], scene.namespace)
    scene.end("a-0")
    scene.nobody_starts("young")
    scene.pod("a-0", priority=HIGH, group="a")
    scene.runs("a", 2)
    assert scene.places("a") == {"a-0": spare_node, "a-1": before["a"]["a-1"]}
    assert scene.places("b") == before["b"]
    scene.stays("young", 0)
    scene.node(2)
    scene.started("young", 1)
