"""What it takes to decide, in steps: so many suffice, and with one less the gang is told that it takes too long.

Whoever is refused for want of steps is refused on every machine. The figures are those of the code as it is, on clusters that
nothing was computed for before. Where a way of placing works otherwise or is charged for otherwise, they change, and are written
down anew: the message of the test tells the new one.
"""

from collections.abc import Callable
from typing import Any

import pytest

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.plugins.status import Certainty, PodGroupDiagnosis
from tests.devices.build import device, resource_slice
from tests.devices.cluster import Cluster, gpu_template
from tests.placement.case import HOSTNAME, ZONE, apart, even, likes, near, prefers, selector, spread, term
from tests.placement.storage import SC, bound, claim, csi_node, inline, mounts, volume
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.costs import steps_of, within
from tests.scheduler.core.world import World

PORT = [{"hostPort": 80, "containerPort": 80}]
IN_Z0 = {"topology.kubernetes.io/zone": "z0"}
LABELLED: dict[str, Any] = {"labels": {"app": "x"}}


def _world(nodes: int = 6, cpu: int = 4) -> World:
    """Nodes in two zones, half of them with one pod of the label `app: x`."""
    world = World()
    for node in range(nodes):
        world.node(f"n{node}", cpu=cpu, labels={ZONE: f"z{node % 2}", HOSTNAME: f"n{node}"})
        if node % 2:
            world.pod(f"there-{node}", on=f"n{node}", scheduler="other", **LABELLED)
    return world


def _gang(world: World, *sizes: int | str, specs: tuple[dict[str, Any], ...] = ({},), **more: Any) -> World:
    """A gang with a pod of each size; its pods take the specs in turn."""
    group = {"topology": more.pop("topology")} if "topology" in more else {}
    world.group("g", len(sizes), **group)
    for number, size in enumerate(sizes):
        world.pod(f"g-{number}", cpu=size, group="g", spec=specs[number % len(specs)], **more)
    return world


def a_pod() -> World:
    world = _world()
    world.pod("g")
    return world


def equal_pods() -> World:
    return _gang(_world(), 1, 1, 1, 1)


def more_equal_pods_than_the_best_nodes_are_asked_for() -> World:
    return _gang(_world(6, 20), *[1] * 70)


def equal_pods_with_wishes_for_nodes() -> World:
    wish = prefers((10, {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z1"]}]}))
    return _gang(_world(), 1, 1, 1, specs=(wish,))


def equal_pods_in_a_zone() -> World:
    return _gang(_world(), 2, 2, 2, topology=ZONE)


def equal_pods_with_a_host_port() -> World:
    return _gang(_world(), 1, 1, 1, ports=PORT)


def pods_of_two_sizes() -> World:
    return _gang(_world(), 3, 1, 3, 1)


def pods_of_two_sizes_that_leave_nothing_over() -> World:
    return _gang(_world(2, 7), *(4, 4), *(3, 2))


def pods_of_many_sizes() -> World:
    return _gang(_world(6, 8), *(f"{1000 + 100 * number}m" for number in range(20)))


def pods_of_many_sizes_with_selectors_and_wishes() -> World:
    wish = prefers((10, {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z1"]}]}))
    return _gang(
        _world(6, 8),
        *(f"{1000 + 100 * number}m" for number in range(16)),
        specs=({}, {"nodeSelector": {ZONE: "z0"}}, wish),
    )


def pods_of_many_sizes_on_many_kinds_of_nodes() -> World:
    world = World()
    for node in range(600):
        world.node(f"n{node}", cpu=f"{4000 + node}m")
    return _gang(world, *(f"{1000 + 100 * number}m" for number in range(10)))


def pods_that_keep_apart() -> World:
    return _gang(_world(), 1, 1, 1, specs=(apart(term(selector(app="x"), HOSTNAME)),), **LABELLED)


def pods_that_stay_near() -> World:
    return _gang(_world(), 1, 1, 1, specs=(near(term(selector(app="x"), ZONE)),), **LABELLED)


def pods_that_gather_where_nobody_is() -> World:
    labels = {"labels": {"app": "y"}}
    return _gang(_world(), 1, 1, 1, specs=(near(term(selector(app="y"), ZONE)),), **labels)


def pods_that_spread() -> World:
    rules = (even(selector(app="x"), ZONE), even(selector(app="x"), HOSTNAME, skew=2))
    return _gang(_world(), 1, 1, 1, 1, specs=(spread(*rules),), **LABELLED)


def pods_that_would_rather_spread_and_be_near() -> World:
    rules = spread(even(selector(app="x"), ZONE, hard=False)) | likes((5, term(selector(app="x"), ZONE)))
    return _gang(_world(), 1, 1, 1, specs=(rules,), **LABELLED)


def pods_of_which_some_keep_apart_and_some_stay_near() -> World:
    specs = (apart(term(selector(app="x"), HOSTNAME)), near(term(selector(app="x"), ZONE)))
    return _gang(_world(), 2, 1, 2, 1, specs=specs, **LABELLED)


def pods_of_which_others_keep_away() -> World:
    world = _world()
    world.pod("alone", on="n0", scheduler="other", spec=apart(term(selector(app="x"), HOSTNAME)))
    return _gang(world, 1, 1, 1, **LABELLED)


def pods_with_volumes() -> World:
    world = World()
    for node in range(3):
        world.node(f"@n{node}", cpu=4)
    world.stored(SC)
    for number in range(3):
        world.stored(volume(f"@pv{number}", on=(number,)))
        world.stored(claim(f"c{number}"))
    return _gang(world, 1, 1, 1, specs=tuple(mounts(f"c{number}") for number in range(3)))


def a_pod_for_which_a_node_was_cleared() -> World:
    world = _world()
    world.pod("g", cpu=2, priority=5)
    _nominate(world, "g", "n1")
    return world


def a_pod_beside_room_that_is_kept_for_others() -> World:
    world = _world(3, 2)
    world.pod("other", cpu=2, priority=5)
    _nominate(world, "other", "n0")
    world.pod("g", cpu=2)
    return world


def _nominate(world: World, name: str, node: str) -> None:
    record = world.state.pod(f"uid-of-{name}")
    assert record is not None
    places = {record.uid: (node, record.demand)}
    world.state.nominator.nominate(pod_key(name), 5, places, frozenset(), 1e9)


def pods_with_devices() -> Cluster:
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.node(name)
        cluster.offer(resource_slice(f"s-{name}", [device("g0"), device("g1")], node=name))
    cluster.gang("g", 3, gpu_template())
    return cluster


def pods_with_volumes_of_a_driver() -> World:
    world = World()
    for node in range(3):
        world.node(f"@n{node}", cpu=4)
        world.stored(csi_node(node, d=4))
    world.stored(SC)
    for number in range(4):
        for manifest in bound(f"c{number}", f"@pv{number}", csi=("@d.example", f"handle-{number}")):
            world.stored(manifest)
    world.pod("there", on="@n0", scheduler="other", spec=mounts("c3"))
    return _gang(world, 1, 1, 1, specs=tuple(mounts(f"c{number}") for number in range(3)))


def pods_with_disks_of_their_own() -> World:
    specs = tuple(inline(gcePersistentDisk={"pdName": f"d{number}"}) for number in range(3))
    return _gang(_world(), 1, 1, 1, specs=specs)


def pods_with_volumes_that_are_there_and_volumes_that_are_to_come() -> World:
    world = pods_with_volumes_of_a_driver()
    for node in range(3):
        world.node(f"@n{node}", cpu=4, labels=IN_Z0)
    for number in range(2):
        for manifest in bound(f"c{number}", f"@pv{number}", csi=("@d.example", f"h-{number}"), labels=IN_Z0):
            world.stored(manifest)
        world.stored(volume(f"@free{number}", on=(number,)))
        world.stored(claim(f"new{number}"))
    world.pod_gone("g-2")
    world.group("g", 2)
    for number in range(2):
        world.pod(f"g-{number}", group="g", spec=mounts(f"c{number}", f"new{number}"))
    return world


def more_equal_pods_than_fit() -> World:
    return _gang(_world(2), 3, 3, 3)


def more_pods_of_two_sizes_than_fit() -> World:
    return _gang(_world(2), 3, 3, 2, 2)


def more_pods_than_there_are_nodes_to_keep_apart() -> World:
    return _gang(_world(3), 1, 1, 1, 1, specs=(apart(term(selector(app="x"), HOSTNAME)),), **LABELLED)


def more_pods_in_a_zone_than_fit() -> World:
    return _gang(_world(4), *[2] * 5, topology=ZONE)


def more_pods_that_gather_than_one_zone_takes() -> World:
    world = World()
    for node, (zone, cpu) in enumerate((("a", 4), ("b", 4), ("c", 3), ("d", 1))):
        world.node(f"n{node}", cpu=cpu, labels={ZONE: zone, HOSTNAME: f"n{node}"})
    world.group("g", 4)
    for number, app in enumerate("yyzz"):
        rule = near(term(selector(app=app), ZONE)) if app == "y" else apart(term(selector(app="y"), ZONE))
        world.pod(f"g-{number}", cpu=2, group="g", labels={"app": app}, spec=rule)
    world.pod("there", cpu=4, on="n1", scheduler="other")
    return world


def more_pods_than_volumes() -> World:
    world = World()
    world.node("@n0", cpu=4)
    world.stored(SC)
    world.stored(volume("@pv0", on=(0,)))
    for number in range(2):
        world.stored(claim(f"c{number}"))
    return _gang(world, 1, 1, specs=tuple(mounts(f"c{number}") for number in range(2)))


def found(state: ClusterState) -> Decision:
    return decide(state, group_key("g") if state.item(group_key("g")) is not None else pod_key("g"))


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (a_pod, 219_480),
        (equal_pods, 297_200),
        (more_equal_pods_than_the_best_nodes_are_asked_for, 663_504),
        (equal_pods_with_wishes_for_nodes, 365_676),
        (equal_pods_in_a_zone, 331_928),
        (equal_pods_with_a_host_port, 232_040),
        (pods_of_two_sizes, 617_476),
        (pods_of_two_sizes_that_leave_nothing_over, 1_174_888),
        (pods_of_many_sizes, 1_026_808),
        (pods_of_many_sizes_with_selectors_and_wishes, 6_007_582),
        (pods_of_many_sizes_on_many_kinds_of_nodes, 1_210_988),
        (pods_that_keep_apart, 569_867),
        (pods_that_stay_near, 613_915),
        (pods_that_gather_where_nobody_is, 613_915),
        (pods_that_spread, 806_852),
        (pods_that_would_rather_spread_and_be_near, 763_790),
        (pods_of_which_some_keep_apart_and_some_stay_near, 1_256_204),
        (pods_of_which_others_keep_away, 359_018),
        (pods_with_volumes, 1_106_083),
        (pods_with_volumes_of_a_driver, 1_094_083),
        (pods_with_disks_of_their_own, 912_130),
        (pods_with_volumes_that_are_there_and_volumes_that_are_to_come, 986_222),
        (a_pod_for_which_a_node_was_cleared, 313_224),
        (a_pod_beside_room_that_is_kept_for_others, 279_500),
        (pods_with_devices, 351_864),
    ],
)
def test_so_many_steps_suffice_and_with_one_less_it_takes_too_long(
    case: Callable[[], World | Cluster], steps: int
) -> None:
    state = case().state
    assert steps_of(state, lambda: found(state)) == steps
    state = case().state
    assert within(state, steps, lambda: found(state)).result == "scheduled"
    state = case().state
    assert within(state, steps - 1, lambda: found(state)).is_over_budget


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (more_equal_pods_than_fit, 356_504),
        (more_pods_than_there_are_nodes_to_keep_apart, 767_893),
        (more_pods_in_a_zone_than_fit, 371_648),
    ],
)
def test_so_many_steps_suffice_to_say_why_not_and_with_one_less_nobody_knows(
    case: Callable[[], World], steps: int
) -> None:
    state = case().state
    assert steps_of(state, lambda: found(state)) == steps
    state = case().state
    assert within(state, steps, lambda: found(state)).result == "unschedulable"
    state = case().state
    assert within(state, steps - 1, lambda: found(state)).is_over_budget


@pytest.mark.parametrize(
    ("case", "certainty", "steps"),
    [
        (more_pods_of_two_sizes_than_fit, Certainty.PROVED, 1_142_256),
        (more_pods_that_gather_than_one_zone_takes, Certainty.PROVED, 3_669_160),
        (more_pods_than_volumes, Certainty.NOT_SEARCHED, 1_965_764),
    ],
)
def test_so_much_a_refusal_costs_that_says_whether_there_is_another_placement(
    case: Callable[[], World], certainty: Certainty, steps: int
) -> None:
    state = case().state
    assert steps_of(state, lambda: found(state)) == steps
    diagnosis = found(state).status.diagnosis
    assert isinstance(diagnosis, PodGroupDiagnosis)
    assert diagnosis.certainty is certainty
