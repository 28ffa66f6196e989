"""Whether room by count is room for sure: only for pods that are alike, in no topology, and that do not care for each other."""

from typing import Any

import pytest

from scheduler.algorithm import node_fits
from scheduler.algorithm.node_fits import fits_of
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.queue.queueing_hints import QueueingHint, placeable, wakes_exactly
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

APART: dict[str, Any] = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "a"}}}
            ]
        }
    }
}


def world_of(*cpus: int, topology: str = "", **pod: Any) -> World:
    """A gang with a pod for each number of CPUs, and a node that is large enough for three of one CPU."""
    world = World()
    world.node("n0", cpu=3, labels={"rack": "r0", "kubernetes.io/hostname": "n0"})
    world.group("g", len(cpus), **({"topology": topology} if topology else {}))
    for number, cpu in enumerate(cpus):
        world.pod(f"g-{number}", group="g", cpu=cpu, **pod)
    return world


def is_exact(world: World) -> bool:
    members = world.state.item(group_key("g"))
    assert members is not None
    return wakes_exactly(world.state, members)


def count(world: World) -> int:
    members = world.state.item(group_key("g"))
    assert members is not None
    return placeable(world.state, members)


def test_pods_that_are_alike_fit_if_there_are_places_enough() -> None:
    assert is_exact(world_of(1, 1, 1, 1))
    assert count(world_of(1, 1, 1, 1)) == 3


def test_pods_of_two_sizes_may_stand_in_each_others_way() -> None:
    assert not is_exact(world_of(1, 2))


def test_one_rack_may_be_too_small_where_all_are_not() -> None:
    assert not is_exact(world_of(1, 1, topology="rack"))


def test_pods_that_care_for_each_other_may_not_fit_together() -> None:
    assert not is_exact(world_of(1, 1, labels={"app": "a"}, spec=APART))


@pytest.mark.parametrize("topology", ["", "rack"])
def test_those_that_want_the_same_are_looked_at_once(monkeypatch: pytest.MonkeyPatch, topology: str) -> None:
    looked = _looked_at(monkeypatch)
    world = world_of(1, 1, topology=topology)
    for name, cpu in (("alike", 1), ("larger", 2)):
        world.group(name, 2, **({"topology": topology} if topology else {}))
        world.pods(name, 2, cpu=cpu)
    assert _answers(world, "g", "alike", "larger") == {"g": True, "alike": True, "larger": False}
    assert looked == ["g", "larger"]


def test_members_that_run_make_a_difference_inside_a_topology_only(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = _looked_at(monkeypatch)
    world = World()
    world.node("n0", cpu=5, labels={"rack": "r0"})
    world.node("n1", cpu=3, labels={"rack": "r1"})
    for name, topology, on in (("a", "", "n0"), ("b", "", "n1"), ("c", "rack", "n0"), ("d", "rack", "n1")):
        world.group(name, 4, **({"topology": topology} if topology else {}))
        world.pods(name, 1, on=on)
        world.pods(name, 3, first=1)
    assert _answers(world, "a", "b", "c", "d") == {"a": True, "b": True, "c": True, "d": False}
    assert looked == ["a", "c", "d"]


def _looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The items for which room is really looked for, as they come."""
    looked: list[str] = []
    sound = QueueingHint._look

    def look(hint: QueueingHint, members: PodGroupState) -> bool:
        looked.append(members.key.name)
        return sound(hint, members)

    monkeypatch.setattr(QueueingHint, "_look", look)
    return looked


def _answers(world: World, *names: str) -> dict[str, bool]:
    hint = QueueingHint(world.state)
    items = {name: world.state.item(group_key(name)) for name in names}
    return {name: hint.fits(members) for name, members in items.items() if members is not None}


@pytest.mark.parametrize(
    ("need", "fits"),
    [(2, True), (3, True), (4, False)],
    ids=["the small ones", "and the large one", "one more than there are places"],
)
def test_members_of_several_sizes_have_as_many_places_as_there_are_for_each(need: int, fits: bool) -> None:
    world = World()
    world.node("n0", cpu=3)
    world.group("g", need)
    for number, cpu in enumerate((1, 1, 3, 4, 5)):
        world.pod(f"g-{number}", group="g", cpu=cpu)
    assert _answers(world, "g") == {"g": fits}


def test_to_see_that_there_are_too_few_places_drives_no_view_of_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_fits, "MOST_FITS", 1)
    world = world_of(1, 1)
    world.group("larger", 2)
    world.pods("larger", 2, cpu=2)
    members = world.state.item(group_key("g"))
    assert members is not None
    (signature,) = members.pending
    view = fits_of(world.state).of(signature)
    assert _answers(world, "larger") == {"larger": False}
    assert fits_of(world.state).of(signature) is view


def test_with_members_in_two_domains_nobody_can_be_placed() -> None:
    world = world_of(1, topology="rack")
    world.node("n1", cpu=3, labels={"rack": "r1"})
    for number, node in enumerate(("n0", "n1"), start=5):
        world.pod(f"g-{number}", group="g", on=node)
    assert count(world) == 0


@pytest.mark.parametrize(("running", "most"), [((), 3), (("a-0",), 1), (("b-0",), 3), (("a-0", "b-0"), 0)])
def test_a_gang_in_one_domain_may_have_the_room_where_it_runs(running: tuple[str, ...], most: int) -> None:
    world = World()
    for rack, cpu in (("a", 1), ("b", 3)):
        world.node(f"{rack}-0", cpu=cpu + (f"{rack}-0" in running), labels={"rack": rack})
    world.group("g", 2, topology="rack")
    for number, node in enumerate(running):
        world.pod(f"there-{number}", group="g", on=node)
    world.pods("g", 4)
    members = world.state.item(group_key("g"))
    assert members is not None
    assert placeable(world.state, members) == most
