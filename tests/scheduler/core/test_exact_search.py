"""Mixed gangs that no order places: all placements are searched, and a refusal says whether that came to an end.

`make bench ARGS=exact` goes through more of the gangs by chance.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest

from scheduler.algorithm.decision import Decision
from scheduler.algorithm.exact.fallback import SearchFallback
from scheduler.algorithm.exact.members import Found, SearchBudget, search_for_members, steps_to_keep
from scheduler.algorithm.exact.search import MOST_STEPS
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import MemberPartition, partition_by_signature
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.cache.steps import MOST_STEPS as STEPS_OF_A_DECISION
from scheduler.plugins.status import Certainty, PodGroupDiagnosis
from tests.placement.case import HOSTNAME, apart, even, near, selector, spread, term
from tests.placement.storage import DYNAMIC, claim, mounts
from tests.scheduler.core import build
from tests.scheduler.core.exact_cases import Gang, Oracle, TooLongError, can_have_come, drawn, world_of
from tests.scheduler.core.world import World

SEEDS_OF_A_PART = 100
FOO = {"app": "foo"}
IS_FOO = selector(app="foo")


def _mixed(world: World, sizes: Sequence[int | str], need: int | None = None) -> None:
    world.group("g", len(sizes) if need is None else need)
    for index, size in enumerate(sizes):
        world.pod(f"g-{index:03}", group="g", cpu=size)


def _diagnosis(decision: Decision) -> PodGroupDiagnosis:
    assert isinstance(decision.status.diagnosis, PodGroupDiagnosis)
    return decision.status.diagnosis


def _parts_and_snapshot(world: World) -> tuple[MemberPartition, SnapshotOverlay]:
    members = world.state.item(build.group_key("g"))
    assert members is not None
    parts = partition_by_signature(world.state, members)
    return parts, snapshot_for(world.state, members, None, "", parts.topology)


def _search(world: World, wanted: int) -> tuple[Found, SearchBudget, dict[int, int]]:
    """What the search alone says, whatever other ways would have found; members by index with the slot of their node."""
    (parts, snapshot), budget = _parts_and_snapshot(world), SearchBudget()
    found = search_for_members(snapshot, parts.pending, wanted, budget)
    nodes = {
        int(uid.rsplit("-", 1)[1]): slot
        for part in found.placed
        for uid, slot in zip(
            parts.uids[part.signature][: part.total], part.slots.repeat(part.counts).tolist(), strict=True
        )
    }
    return found, budget, nodes


# --- gangs by chance, and an oracle --------------------------------------------------------------------------------


def _has_place(gang: Gang) -> bool | None:
    try:
        return Oracle(gang).has_place
    except TooLongError:
        return None


def _seeds(part: int) -> Iterator[int]:
    return iter(range(part * SEEDS_OF_A_PART, (part + 1) * SEEDS_OF_A_PART))


@pytest.mark.parametrize("part", range(8))
def test_gangs_by_chance_are_placed_exactly_when_they_have_a_place(part: int) -> None:
    for seed in _seeds(part):
        gang = drawn(seed)
        world, has_place = world_of(gang), _has_place(gang)
        decision = decide(world.state, build.group_key("g"))
        nodes = {machine.name: index for index, machine in enumerate(gang.machines)}
        placed = {int(uid.rsplit("-", 1)[1]): nodes[node] for uid, node in decision.bindings}
        if decision.result == "scheduled":
            assert len(placed) == len(decision.bindings) >= gang.need, seed
            assert can_have_come(gang, placed), seed
        else:
            assert has_place is not True, seed


@pytest.mark.parametrize("part", range(8))
def test_what_the_search_alone_proves_is_so(part: int) -> None:
    for seed in _seeds(part):
        gang = drawn(seed)
        found, budget, placed = _search(world_of(gang), gang.need)
        assert budget.spent <= MOST_STEPS
        if found.placed:
            assert len(placed) >= gang.need, seed
            assert can_have_come(gang, placed), seed
        else:
            assert found.certainty in {Certainty.PROVED, Certainty.NOT_FOUND}, seed
            assert _has_place(gang) is not True, seed


@pytest.mark.parametrize("seed", [3749, 4345, 4521, 5001])
def test_gangs_whose_pods_seldom_have_an_order_are_searched_to_the_end_in_few_steps(seed: int) -> None:
    # All but 4521 ended with the budget when orders were gone through one by one; 3749 has a place.
    gang = drawn(seed)
    found, budget, placed = _search(world_of(gang), gang.need)
    assert found.certainty is Certainty.PROVED
    assert budget.spent < MOST_STEPS // 5
    assert bool(placed) == (seed == 3749)
    assert can_have_come(gang, placed)


# --- what it finds -------------------------------------------------------------------------------------------------


def test_a_gang_that_only_one_combination_places_starts() -> None:
    world = World()
    for name in ("n1", "n2", "n3"):
        world.node(name, cpu=10)
    _mixed(world, [5, 5, 4, 4, 3, 3, 2, 2, 2])
    (decision,) = world.run()
    assert decision.result == "scheduled"


def test_pods_that_need_each_other_and_keep_apart_get_the_only_nodes_that_do() -> None:
    world = World()
    for index, zone in enumerate("xxyy"):
        world.node(f"n{index}", cpu=4 if zone == "x" else 3, labels={"zone": zone})
    world.group("g", 4)
    world.pod("g-0", group="g", cpu=3, labels={"role": "leader"})
    world.pod("g-1", group="g", cpu=4, spec=near(term(selector(role="leader"))))
    world.pod("g-2", group="g", cpu=3, labels=FOO, spec=apart(term(selector(role="leader"))))
    world.pod("g-3", group="g", cpu=2, labels=FOO, spec=apart(term(IS_FOO, HOSTNAME)))
    (decision,) = world.run()
    assert decision.result == "scheduled"
    assert world.bound()["g-1"] in {"n0", "n1"}
    assert world.bound()["g-2"] in {"n2", "n3"}


@pytest.mark.parametrize("names", [("counted", "uncounted"), ("uncounted", "counted")])
def test_a_pod_that_a_spread_has_to_count_gets_a_node_on_which_it_is_counted(names: Sequence[str]) -> None:
    # The pods that are spread fit neither of the two, so that nothing but counting tells these apart.
    world = World()
    for name in names:
        world.node(name, cpu=1, labels={"zone": "x", "pool": "p" if name == "counted" else "q"})
    world.node("n2", cpu=8, labels={"zone": "y", "pool": "p"})
    world.group("g", 3)
    world.pods("g", 2, cpu=4, labels=FOO, spec={**spread(even(IS_FOO)), "nodeSelector": {"pool": "p"}})
    world.pod("g-2", group="g", cpu=1, labels=FOO)
    _, _, placed = _search(world, 3)
    assert placed == {0: 2, 1: 2, 2: names.index("counted")}


def test_a_resource_that_only_those_ask_for_who_may_be_left_out_is_in_nobodys_way() -> None:
    world = World()
    world.node("n0", cpu=4, memory="4Gi")
    world.group("g", 2)
    for index, requests in enumerate(
        ({"cpu": "2"}, {"cpu": "1"}, {"cpu": "1", "memory": "3Gi"}, {"cpu": "2", "memory": "3Gi"})
    ):
        world.pod(f"g-{index}", group="g", requests=requests)
    assert _search(world, 2)[0].placed


def test_pods_that_others_keep_away_for_two_reasons_get_the_nodes_that_are_left() -> None:
    world = World()
    world.node("n0", cpu=9, labels={"zone": "x"})
    world.node("n1", cpu=6, labels={"zone": "y"})
    world.group("g", 4)
    for index, cpu in enumerate((5, 3)):
        world.pod(f"g-{index}", group="g", cpu=cpu, spec=apart(term(IS_FOO), term(selector(tier="web"))))
    for index, cpu in enumerate((4, 2), 2):
        world.pod(f"g-{index}", group="g", cpu=cpu, labels={**FOO, "tier": "web"})
    assert _search(world, 4)[2] == {0: 0, 1: 0, 2: 1, 3: 1}


def test_pods_beyond_the_minimum_are_placed_too_where_there_is_room() -> None:
    world = World()
    world.node("n1", cpu=7)
    world.node("n2", cpu=7)
    _mixed(world, [4, 4, 3, 3, 1, 6], need=4)
    found, _, placed = _search(world, 4)
    assert found.certainty is Certainty.PROVED
    assert len(placed) >= 4


@pytest.mark.parametrize("seed", [645, 935, 4811, 5067])
def test_of_few_pods_that_affect_each_other_as_many_start_as_have_a_place(seed: int) -> None:
    # Orders alone started fewer.
    gang = drawn(seed)
    decision = decide(world_of(gang).state, build.group_key("g"))
    nodes = {machine.name: index for index, machine in enumerate(gang.machines)}
    placed = {int(uid.rsplit("-", 1)[1]): nodes[node] for uid, node in decision.bindings}
    assert can_have_come(gang, placed)
    assert gang.need < len(placed)
    assert len(placed) == len(gang.members) or _has_place(replace(gang, need=len(placed) + 1)) is False


def test_equal_pods_of_several_images_are_shared_out() -> None:
    world = World()
    world.node("n1", cpu=5)
    world.node("n2", cpu=5)
    world.group("g", 4)
    for index, cpu in enumerate((3, 3, 2, 2)):
        containers = [{"name": "main", "image": f"i{index % 2}", "resources": {"requests": {"cpu": str(cpu)}}}]
        world.pod(f"g-{index}", group="g", spec={"containers": containers})
    _, _, placed = _search(world, 4)
    assert sorted(placed) == [0, 1, 2, 3]


# --- what a refusal says -------------------------------------------------------------------------------------------


def test_what_was_searched_to_the_end_is_proved_impossible() -> None:
    world = World()
    world.node("n1", cpu=7)
    world.node("n2", cpu=7)
    _mixed(world, [4, 4, 3, 3, 1])
    (decision,) = world.run()
    assert _diagnosis(decision).certainty is Certainty.PROVED
    assert decision.condition_message == (
        "minCount (5) cannot be satisfied: 4 of 5 pods can be placed; 0/2 nodes are available for the rest: "
        "2 Insufficient cpu. Proved impossible: all placements were searched."
    )


def _hard(nodes: int) -> World:
    """Just the room for all in sum, three pods on each node, and nothing that is quick to see against it."""
    chance, world = Random(7), World()
    sizes = [chance.randint(2600, 4000) for _ in range(3 * nodes)]
    for index in range(nodes):
        world.node(f"n{index}", cpu=f"{(sum(sizes) + nodes) // nodes}m")
    _mixed(world, [f"{size}m" for size in sizes])
    return world


def test_a_search_that_ends_with_its_budget_says_after_how_many_steps() -> None:
    (decision,) = _hard(40).run()
    diagnosis = _diagnosis(decision)
    assert diagnosis.certainty is Certainty.NOT_FOUND
    assert f"not found within {diagnosis.search_steps} steps: the pods differ" in decision.condition_message


def test_the_same_gang_is_searched_with_the_same_steps() -> None:
    (one,), (other,) = _hard(40).run(), _hard(40).run()
    assert one == other
    assert _diagnosis(one).search_steps == _diagnosis(other).search_steps > 0


def test_a_gang_too_large_to_be_searched_does_not_say_how_many_steps() -> None:
    world = World()
    for index in range(900):
        world.node(f"n{index}", cpu=100)
    _mixed(world, [size for _ in range(900) for size in (34, 33, 34)])
    (decision,) = world.run()
    assert _diagnosis(decision).certainty is Certainty.NOT_SEARCHED
    assert "A placement may exist that was not found: the pods differ" in decision.condition_message


def test_counting_that_is_enough_is_not_followed_by_a_search() -> None:
    world = World()
    world.node("n1", cpu=2)
    _mixed(world, [1, 3])
    (decision,) = world.run()
    assert _diagnosis(decision).certainty is Certainty.COUNTED
    assert _diagnosis(decision).search_steps == 0


def test_rules_that_contradict_each_other_are_proved_impossible() -> None:
    world = World()
    for index, zone in enumerate("xy"):
        world.node(f"n{index}", labels={"zone": zone})
    world.group("g", 2)
    world.pod("g-0", group="g", labels={"role": "a"}, spec=near(term(selector(role="b"))))
    world.pod("g-1", group="g", labels={"role": "b"}, spec=near(term(selector(role="a"))))
    (decision,) = world.run()
    assert _diagnosis(decision).certainty is Certainty.PROVED


def test_more_pods_that_keep_apart_than_there_are_values_are_counted_and_not_tried() -> None:
    world = World()
    for index in range(4):
        world.node(f"n{index}", cpu=8, labels={"zone": "xy"[index % 2]})
    world.group("g", 3)
    for index in range(3):
        world.pod(f"g-{index}", group="g", cpu=index + 1, labels=FOO, spec=apart(term(IS_FOO)))
    found, budget, _ = _search(world, 3)
    assert (found.certainty, budget.spent) == (Certainty.PROVED, 0)
    assert len(_search(world, 2)[2]) == 2


def test_a_spread_that_could_only_be_met_in_no_order_is_proved_impossible() -> None:
    world = World()
    world.node("n0", cpu=1, labels={"zone": "x"})
    world.node("n1", cpu=8, labels={"zone": "y"})
    world.group("g", 4)
    world.pods("g", 4, labels=FOO, spec=spread(even(IS_FOO)))
    (decision,) = world.run()
    assert _diagnosis(decision).certainty is Certainty.PROVED


def test_what_the_fullest_zone_can_take_at_most_bounds_the_others_in_a_spread() -> None:
    world = World()
    world.node("n0", cpu=2, labels={"zone": "x"})
    world.node("n1", cpu=8, labels={"zone": "y"})
    world.group("g", 6)
    for index in range(6):
        memory = {"memory": "1Gi"} if index % 2 else {}
        rules = spread(even(IS_FOO, "zone"))
        world.pod(f"g-{index}", group="g", requests={"cpu": "1", **memory}, labels=FOO, spec=rules)
    found, budget, _ = _search(world, 6)
    # 19 steps when the pods that may still come are all thought to fit into the small zone.
    assert (found.certainty, budget.spent) == (Certainty.PROVED, 11)


def test_inside_a_topology_domain_every_domain_is_searched() -> None:
    world = World()
    for rack in range(3):
        for index in range(2):
            world.node(f"n{rack}{index}", cpu=7, labels={"rack": f"r{rack}"})
    world.group("g", 5, topology="rack")
    for index, size in enumerate([4, 4, 3, 3, 1]):
        world.pod(f"g-{index}", group="g", cpu=size)
    (decision,) = world.run()
    assert _diagnosis(decision).certainty is Certainty.PROVED
    assert "Proved impossible" in decision.condition_message


def test_a_kind_that_opens_a_second_zone_for_those_that_gather_is_counted() -> None:
    world = World()
    for index, zone in enumerate("xy"):
        world.node(f"n{index}", cpu=2, labels={"zone": zone})
    world.group("g", 4)
    world.pods("g", 3, labels=FOO, spec=near(term(IS_FOO)))
    world.pod("g-seed", group="g", labels=FOO)
    (decision,) = world.run()
    assert decision.result == "scheduled"


@pytest.mark.parametrize("most_steps", [12_000_000, 18_000_000, STEPS_OF_A_DECISION])
def test_the_orders_before_the_search_leave_it_the_steps_it_needs(most_steps: int) -> None:
    # Its ways took two thirds of the decision's steps, so the search was refused although a place exists.
    gang = drawn(3261)
    state = world_of(gang).state
    state.nodes.steps.most = most_steps
    decision = decide(state, build.group_key("g"))
    nodes = {machine.name: index for index, machine in enumerate(gang.machines)}
    placed = {int(uid.rsplit("-", 1)[1]): nodes[node] for uid, node in decision.bindings}
    assert len(placed) >= gang.need
    assert can_have_come(gang, placed)


def test_no_steps_are_kept_for_a_search_that_is_not_made() -> None:
    world = World()
    world.node("n0", cpu=4)
    _mixed(world, [1, 2])
    parts, snapshot = _parts_and_snapshot(world)
    fallback = SearchFallback(snapshot, parts.pending, 2, 2, "", None, lambda: snapshot, None)
    assert fallback.kept == 0


def test_no_steps_are_kept_where_fewer_are_left_than_the_search_may_take() -> None:
    world = World()
    world.node("n0", cpu=4)
    _mixed(world, [1, 2])
    parts, snapshot = _parts_and_snapshot(world)
    kept = steps_to_keep(snapshot, parts.pending, 2, SearchBudget())
    assert kept > 0
    snapshot.steps.limit = snapshot.steps.spent + kept
    assert steps_to_keep(snapshot, parts.pending, 2, SearchBudget()) == 0


def test_where_all_nodes_are_closed_nothing_is_placed() -> None:
    world = World()
    world.node("n0", cpu=4, unschedulable=True)
    _mixed(world, [1, 2])
    found, _, nodes = _search(world, 2)
    assert (found.certainty, nodes) == (Certainty.PROVED, {})


def test_no_steps_are_kept_for_a_search_that_knows_nothing_of_the_volumes_in_question() -> None:
    def kept(*, with_volumes: bool) -> int:
        world = World()
        world.node("@n0", cpu=4)
        world.stored(DYNAMIC)
        world.group("g", 2)
        for index in range(2):
            world.stored(claim(f"c{index}"))
            world.pod(f"g-{index}", group="g", spec=mounts(f"c{index}") if with_volumes else {})
        parts, snapshot = _parts_and_snapshot(world)
        return steps_to_keep(snapshot, parts.pending, 2, SearchBudget())

    assert kept(with_volumes=False) > 0
    assert kept(with_volumes=True) == 0
