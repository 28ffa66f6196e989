"""Gangs and basic groups. Where ours is better than upstream's, the docstring says in what."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, MID, SOON_SECONDS, TOP
from tests.conformance.scenarios.scene import GATE, STAYS_SECONDS, TRUE, Scene
from verify.clusters.client import Object
from verify.clusters.eventually import eventually, throughout

VOLUME_SECONDS = 40
"""kube-controller-manager binds a volume at once, or when it looks at all of them again, which it does every 15 seconds."""


def test_a_gang_with_room_is_scheduled_whole(scene: Scene) -> None:
    scene.node(4)
    scene.gang("g", 3)
    scene.started("g", 3)


def test_a_gang_short_of_a_member_is_held_until_it_comes(scene: Scene) -> None:
    """Upstream says nothing of a held gang; ours says what it waits for."""
    scene.node(4)
    scene.group("g", 3)
    scene.members("g", 2)
    waits = scene.says_soon("g", "False", "WaitingForMembers")
    assert waits["message"] == "waiting for minCount (3) pods: 2 of them exist"
    assert scene.places("g") == {}
    scene.pod("g-2", priority=HIGH, group="g")
    scene.started("g", 3)


def test_pods_before_their_group_are_held_then_refused_then_bound(scene: Scene) -> None:
    node = scene.node(3)
    scene.pod("blocker", 3, priority=TOP, on=node)
    scene.members("g", 3)
    scene.nobody_starts("g")
    scene.group("g", 3)
    scene.refused("g", "minCount (3) cannot be satisfied")
    for number in range(3):
        scene.pod_refused(f"g-{number}")
    scene.end("blocker")
    scene.started("g", 3)


def test_a_member_beyond_the_minimum_waits_for_room(scene: Scene) -> None:
    """Upstream's condition may end False here (a race); ours stays True."""
    scene.pod("blocker", priority=TOP, on=scene.node(4))
    scene.gang("g", 4, need=3)
    scene.started("g", 3)
    (waiting,) = {f"g-{number}" for number in range(4)} - scene.places("g").keys()
    scene.pod_refused(waiting)
    throughout(lambda: scene.says("g") == TRUE, seconds=STAYS_SECONDS)
    scene.end("blocker")
    scene.runs("g", 4)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_of_two_gangs_that_fit_one_at_a_time_the_first_runs_whole(scene: Scene, order: str) -> None:
    scene.node(3)
    first, second = order[0], order[1]
    scene.gang(first, 3)
    scene.gang(second, 3)
    scene.started(first, 3)
    scene.refused(second)
    scene.stays(second, 0)


def test_interleaved_gangs_that_both_fit_both_run(scene: Scene) -> None:
    scene.node(6)
    for name in "ab":
        scene.group(name, 3)
    for number in range(3):
        for name in "ab":
            scene.pod(f"{name}-{number}", priority=HIGH, group=name)
    scene.started("a", 3)
    scene.started("b", 3)


def test_a_less_important_pod_in_the_way_is_evicted(scene: Scene) -> None:
    scene.pod("low-0", on=scene.node(3))
    scene.gang("g", 3)
    scene.started("g", 3)
    scene.preempted("low-0")


def test_more_important_pods_in_the_way_stay(scene: Scene) -> None:
    scene.pod("boss-0", priority=TOP, on=scene.node(3))
    scene.gang("g", 3)
    scene.refused("g")
    scene.stays("g", 0)
    assert scene.leaving() == set()


def test_only_the_least_important_leave_when_that_is_enough(scene: Scene) -> None:
    node = scene.node(4)
    for number in range(2):
        scene.pod(f"low-{number}", on=node)
        scene.pod(f"mid-{number}", priority=MID, on=node)
    scene.gang("g", 2)
    scene.started("g", 2)
    scene.preempted("low-0", "low-1")


def test_a_basic_group_runs_and_takes_later_pods(scene: Scene) -> None:
    scene.node(4)
    scene.group("g", None)
    scene.members("g", 3)
    scene.started("g", 3)
    scene.pod("g-3", priority=HIGH, group="g")
    scene.runs("g", 4)


def test_a_basic_group_places_what_fits(scene: Scene) -> None:
    scene.node(2)
    scene.members("g", 3)
    scene.nobody_starts("g")
    scene.group("g", None)
    scene.started("g", 2)
    (waiting,) = {f"g-{number}" for number in range(3)} - scene.places("g").keys()
    assert scene.pod_refused(waiting).startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert scene.says("g") == TRUE


def test_a_basic_group_evicts_as_many_as_it_needs(scene: Scene) -> None:
    node = scene.node(3)
    for number in range(3):
        scene.pod(f"low-{number}", on=node)
    scene.group("g", None)
    scene.members("g", 2)
    scene.started("g", 2)
    eventually(lambda: len(scene.staying()) == 3, within_seconds=SOON_SECONDS)


def test_a_gang_that_starts_with_one_of_four_evicts_for_all_of_them(scene: Scene) -> None:
    """The last victim is asked to leave when the first member runs already."""
    node = scene.node(4)
    for number in range(4):
        scene.pod(f"low-{number}", on=node)
    scene.members("g", 4)
    scene.group("g", 1)
    scene.started("g", 4)
    eventually(lambda: len(scene.staying()) == 4, within_seconds=SOON_SECONDS)


def test_gangs_written_by_several_at_once_all_run(scene: Scene) -> None:
    scene.node(6)
    with ThreadPoolExecutor(max_workers=3) as writers:
        list(writers.map(lambda name: scene.gang(name, 2), ["a", "b", "c"]))
    for name in "abc":
        scene.started(name, 2)


def test_interleaved_gangs_stay_apart(scene: Scene) -> None:
    scene.node(8)
    for name in ("one", "two"):
        scene.group(name, 3)
    for number in range(2):
        for name in ("one", "two"):
            scene.pod(f"{name}-{number}", priority=HIGH, group=name)
    scene.nobody_starts("one", "two")
    scene.pod("one-2", priority=HIGH, group="one")
    scene.started("one", 3)
    scene.stays("two", 0)
    scene.pod("two-2", priority=HIGH, group="two")
    scene.started("two", 3)


def test_one_pod_of_a_gang_waits_for_the_other(scene: Scene) -> None:
    node = scene.node(2)
    scene.group("g", 2)
    scene.members("g", 1)
    scene.nobody_starts("g")
    assert scene.pods()["g-0"]["status"]["phase"] == "Pending"
    scene.pod("g-1", priority=HIGH, group="g")
    scene.started("g", 2)
    assert set(scene.places("g").values()) == {node}


def test_a_pod_whose_group_is_missing_waits_for_it(scene: Scene) -> None:
    scene.node(2)
    scene.members("g", 1)
    scene.nobody_starts("g")
    scene.group("g", 1)
    scene.started("g", 1)


def test_a_lower_minimum_starts_a_held_gang(scene: Scene) -> None:
    scene.node(4)
    scene.group("g", 3)
    scene.members("g", 2)
    scene.nobody_starts("g")
    scene.minimum("g", 2)
    scene.started("g", 2)


def test_a_lower_minimum_starts_a_refused_gang_at_once(scene: Scene) -> None:
    """Upstream's waits for its next retry."""
    scene.node(2)
    scene.gang("g", 3)
    scene.refused("g")
    scene.minimum("g", 2)
    scene.started("g", 2)


def test_a_higher_minimum_holds_a_refused_gang(scene: Scene) -> None:
    """Upstream says SchedulerError here, by mistake."""
    scene.node(2)
    scene.gang("g", 3)
    scene.refused("g")
    scene.minimum("g", 4)
    assert "3 of them exist" in scene.says_soon("g", "False", "WaitingForMembers")["message"]
    scene.node(2)
    scene.nobody_starts("g")
    scene.pod("g-3", priority=HIGH, group="g")
    scene.started("g", 4)


def test_a_group_goes_with_its_owner(scene: Scene) -> None:
    owner = scene.api.create("configmaps", {"metadata": {"name": "owner"}}, scene.namespace)["metadata"]
    scene.group("g", 2)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
    scene.api.patch("podgroups", "g", {"metadata": {"ownerReferences": [reference]}}, scene.namespace)
    scene.api.delete("configmaps", "owner", scene.namespace)
    eventually(lambda: scene.api.find("podgroups", "g", scene.namespace) is None, within_seconds=SOON_SECONDS)


@pytest.mark.parametrize("count", [2, 1])
def test_members_that_exclude_each_other_see_each_other(scene: Scene, count: int) -> None:
    first, *others = [scene.node(4) for _ in range(count)]
    term = {"labelSelector": {"matchLabels": {"app": "foo"}}, "topologyKey": "kubernetes.io/hostname"}
    scene.group("g", 2)
    scene.pod(
        "g-a",
        priority=HIGH,
        group="g",
        nodeSelector={"kubernetes.io/hostname": first},
        affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    )
    scene.pod("g-b", priority=HIGH, group="g", labels={"app": "foo"})
    if others:
        scene.started("g", 2)
        assert scene.places("g") == {"g-a": first, "g-b": others[0]}
    else:
        scene.refused("g", "minCount (2) cannot be satisfied")
        scene.stays("g", 0)


@pytest.fixture
def claim(scene: Scene) -> Iterator[Callable[[str], None]]:
    """Makes a ReadWriteOncePod claim with its volume, bound by whoever binds volumes in this cluster."""
    made: list[str] = []
    common: Object = {"accessModes": ["ReadWriteOncePod"], "storageClassName": ""}

    def create(name: str) -> None:
        volume = f"{scene.namespace}-{name}"
        reference = {"namespace": scene.namespace, "name": name}
        spec = {**common, "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/nowhere"}, "claimRef": reference}
        scene.api.create("persistentvolumes", {"metadata": {"name": volume}, "spec": spec})
        made.append(volume)
        wants = {**common, "volumeName": volume, "resources": {"requests": {"storage": "1Gi"}}}
        scene.api.create("persistentvolumeclaims", {"metadata": {"name": name}, "spec": wants}, scene.namespace)
        eventually(
            lambda: scene.api.get("persistentvolumeclaims", name, scene.namespace)["status"].get("phase") == "Bound",
            within_seconds=VOLUME_SECONDS,
        )

    yield create
    for volume in made:
        scene.api.delete("persistentvolumes", volume)


@pytest.mark.parametrize("shared", [True, False])
def test_a_volume_for_one_pod_is_not_shared_by_two(scene: Scene, claim: Callable[[str], None], shared: bool) -> None:
    scene.node(4)
    volumes = ["one", "one"] if shared else ["one", "two"]
    for name in sorted(set(volumes)):
        claim(name)
    scene.group("g", 2)
    for number, name in enumerate(volumes):
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": name}}
        scene.pod(f"g-{number}", priority=HIGH, group="g", volumes=[volume])
    if shared:
        scene.says_soon("g", "False", "Unschedulable")
        scene.stays("g", 0)
    else:
        scene.started("g", 2)


def test_members_of_two_sizes_are_fitted_together(scene: Scene) -> None:
    """Upstream asks for its batch cache here; ours takes the members by signature."""
    for _ in range(3):
        scene.node(4)
    scene.group("g", 3)
    for number, cpu in enumerate((3, 4, 3)):
        scene.pod(f"g-{number}", cpu, priority=HIGH, group="g")
    scene.started("g", 3)
    assert len(set(scene.places("g").values())) == 3


def test_a_gated_member_that_is_changed_is_fitted_as_it_is_then(scene: Scene) -> None:
    for number in range(3):
        node = scene.node(4)
        if number == 0:
            taint = {"key": "example.com/only", "value": "late", "effect": "NoSchedule"}
            scene.api.patch("nodes", node, {"spec": {"taints": [taint]}})
            late = node
    scene.group("g", 3)
    for number, cpu in enumerate((3, 4)):
        scene.pod(f"g-{number}", cpu, priority=HIGH, group="g")
    scene.pod("g-2", 3, priority=HIGH, group="g", **GATE)
    scene.nobody_starts("g")
    given = scene.pods()["g-2"]["spec"].get("tolerations") or []
    scene.ungate("g-2", tolerations=[*given, {"key": "example.com/only", "operator": "Exists"}])
    scene.started("g", 3)
    assert scene.places("g")["g-2"] == late
