"""Groups that must stay inside one value of a node label."""

import pytest

from scheduler.algorithm.attempt import Attempt
from scheduler.algorithm.attempts import PODS_DIFFER, PODS_LIMIT_EACH_OTHER
from scheduler.algorithm.exact.members import SearchBudget
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.algorithm.topology_domains import DomainTable, best_domain
from scheduler.plugins.status import Certainty
from tests.placement.case import HOSTNAME, apart, selector, term
from tests.placement.storage import SC, bound, mounts
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World


def _racks(world: World, **cpus: list[int]) -> None:
    for rack, sizes in cpus.items():
        for index, cpu in enumerate(sizes):
            world.node(f"{rack}-{index}", cpu=cpu, labels={"rack": rack})


def _racks_of(world: World, group: str) -> set[str]:
    return {node.partition("-")[0] for node in world.bound(group).values()}


def _gang_of_sizes(world: World, *cpus: int) -> None:
    world.group("g", len(cpus), topology="rack")
    for index, cpu in enumerate(cpus):
        world.pod(f"g-{index}", group="g", cpu=cpu)


def test_the_one_domain_that_fits_is_found() -> None:
    world = World()
    _racks(world, r1=[1, 1], r2=[2, 1], r3=[1])
    world.node("none", cpu=9)
    world.group("g", 3, topology="rack")
    world.pods("g", 3)
    world.run()
    assert _racks_of(world, "g") == {"r2"}
    assert len(world.bound()) == 3


def test_room_over_all_domains_is_not_enough_until_one_has_it() -> None:
    world = World()
    _racks(world, r1=[2], r2=[2])
    world.pod("blocker", on="r2-0", scheduler="other")
    world.group("g", 3, topology="rack")
    world.pods("g", 3)
    (decision,) = world.run()
    assert decision.result == "unschedulable"
    assert decision.condition_message == (
        "minCount (3) cannot be satisfied: 2 of 3 pods can be placed inside one rack (best: r1); "
        "0/2 nodes are available for the rest: 1 Insufficient cpu, 1 node(s) were in another rack."
    )
    world.node("r2-1", cpu=2, labels={"rack": "r2"})
    world.run()
    assert _racks_of(world, "g") == {"r2"}


def test_of_two_domains_that_fit_the_fuller_one_is_taken() -> None:
    world = World()
    _racks(world, r1=[4], r2=[4], r3=[4])
    world.pod("a", on="r2-0", scheduler="other")
    world.group("g", 2, topology="rack")
    world.pods("g", 2)
    world.run()
    assert _racks_of(world, "g") == {"r2"}


def test_members_that_run_pin_the_domain() -> None:
    world = World()
    _racks(world, r1=[3], r2=[9])
    world.pod("filler", on="r1-0", scheduler="other")
    world.group("g", 1, topology="rack")
    world.pod("g-0", group="g", on="r1-0")
    world.pods("g", 2, first=1)
    world.run()
    assert world.bound("g") == {"g-0": "r1-0", "g-1": "r1-0"}


def test_room_in_the_domain_of_those_that_run_starts_the_one_that_waits_and_room_elsewhere_does_not() -> None:
    world = World()
    _racks(world, r1=[1], r2=[1])
    world.group("g", 1, topology="rack")
    world.pod("g-0", group="g", on="r1-0")
    world.pods("g", 1, first=1)
    world.run()
    world.node("r2-1", cpu=9, labels={"rack": "r2"})
    assert world.run() == []
    world.node("r1-1", cpu=1, labels={"rack": "r1"})
    world.run()
    assert world.bound("g") == {"g-0": "r1-0", "g-1": "r1-1"}


def test_members_in_two_domains_are_an_error() -> None:
    world = World()
    _racks(world, r1=[3], r2=[3])
    world.group("g", 1, topology="rack")
    world.pod("g-0", group="g", on="r1-0")
    world.pod("g-1", group="g", on="r2-0")
    world.pods("g", 1, first=2)
    (decision,) = world.run()
    assert (decision.result, decision.condition_message) == (
        "error",
        "members already run in more than one rack: r1, r2",
    )


def test_mixed_members_stay_inside_one_domain_too() -> None:
    world = World()
    _racks(world, r1=[3, 1], r2=[2, 2])
    world.group("g", 3, topology="rack")
    world.pod("g-0", group="g", cpu=2)
    world.pod("g-1", group="g", cpu=1)
    world.pod("g-2", group="g", cpu=1)
    world.run()
    assert len(_racks_of(world, "g")) == 1
    assert len(world.bound()) == 3


def test_a_label_that_no_node_has_is_named() -> None:
    world = World()
    world.node("n1")
    world.group("g", 1, topology="rack")
    world.pods("g", 1)
    world.run()
    assert world.held(group_key("g")) == ("Unschedulable", "no node has the label rack")
    world.node("n1", labels={"rack": "r1"})
    world.run()
    assert world.bound() == {"g-0": "n1"}
    assert decide(world.state, group_key("g")).result == "nothing"


def test_a_domain_whose_last_node_has_gone_is_none() -> None:
    world = World()
    _racks(world, r1=[1])
    world.node("other")
    world.group("g", 2, topology="rack")
    world.pods("g", 2)
    world.run()
    assert "inside one rack (best: r1)" in world.held(group_key("g"))[1]
    world.node_gone("r1-0")
    assert decide(world.state, group_key("g")).condition_message == "no node has the label rack"


def test_the_number_of_pods_on_a_node_makes_no_domain_fuller() -> None:
    world = World()
    world.node("r1-0", cpu=8, pods=3, labels={"rack": "r1"})
    world.node("r2-0", cpu=6, pods=110, labels={"rack": "r2"})
    world.group("g", 2, topology="rack")
    world.pods("g", 2)
    world.run()
    assert _racks_of(world, "g") == {"r2"}


def test_sums_are_counted_anew_only_when_something_changed() -> None:
    world = World()
    _racks(world, r1=[4], r2=[4])
    table = DomainTable(world.state.nodes)
    before = table.of("rack").free
    assert table.of("rack").free is before
    world.pod("there", cpu=1, on="r1-0", scheduler="other")
    assert table.of("rack").free is before
    world.node("r2-0", cpu=5, labels={"rack": "r2"})
    assert table.of("rack").free is not before


def test_a_domain_without_room_is_a_domain_in_which_nothing_fits() -> None:
    world = World()
    _racks(world, r1=[1])
    world.pod("blocker", on="r1-0", scheduler="other")
    world.group("g", 2, topology="rack")
    world.pods("g", 2)
    (decision,) = world.run()
    assert decision.condition_message.startswith(
        "minCount (2) cannot be satisfied: 0 of 2 pods can be placed inside one rack (best: r1)"
    )


def test_after_a_domain_that_took_too_few_one_is_tried_that_may_take_just_enough() -> None:
    world = World()
    _racks(world, r1=[4], r2=[3, 4])
    _gang_of_sizes(world, 3, 2, 2)
    world.run()
    assert world.bound() == {"g-0": "r2-0", "g-1": "r2-1", "g-2": "r2-1"}


def test_of_two_domains_that_take_as_many_but_too_few_the_first_is_named() -> None:
    world = World()
    _racks(world, r1=[4], r2=[4])
    _gang_of_sizes(world, 3, 2, 2)
    (decision,) = world.run()
    assert "2 of 3 pods can be placed inside one rack (best: r1)" in decision.condition_message


def test_a_domain_whose_only_device_is_taken_is_as_full_as_it_can_be() -> None:
    world = World()
    for rack, gpus in (("r1", 4), ("r2", 1)):
        world.node(f"{rack}-0", cpu=8, labels={"rack": rack}, resources={"example.com/gpu": str(gpus)})
    world.pod("there", on="r1-0", scheduler="other", requests={"example.com/gpu": "2"})
    world.group("g", 1, topology="rack")
    world.pod("g-0", group="g", requests={"example.com/gpu": "1"})
    world.run()
    assert world.bound("g") == {"g-0": "r2-0"}


# --- how sure a refusal is -----------------------------------------------------------------------------------------


def _best(world: World, search: SearchBudget, pinned: str | None = None) -> Attempt:
    members = world.state.item(group_key("g"))
    assert members is not None
    found = partition_by_signature(world.state, members)
    wanted = members.pending_count
    best = best_domain(
        "rack",
        pinned,
        found.pending,
        wanted,
        world.state,
        lambda allowed, outside: snapshot_for(world.state, members, allowed, outside, found.topology),
        search,
    )
    assert best is not None
    return best


@pytest.mark.parametrize("reason", [PODS_DIFFER, PODS_LIMIT_EACH_OTHER])
def test_a_refusal_is_as_unsure_as_the_domain_of_which_least_is_known(reason: str) -> None:
    world = World()
    _racks(world, r1=[88, 88, 88], r2=[88, 90, 90])
    _gang_of_sizes(world, 30, 27, 37, 32, 33, 28, 27, 27, 26)
    if reason == PODS_LIMIT_EACH_OTHER:
        world.pod("g-0", group="g", cpu=30, spec=apart(term(selector(app="x"), HOSTNAME)))
        world.pod("g-1", group="g", cpu=27, labels={"app": "x"})
    assert _best(world, SearchBudget(9), pinned="r1").certainty is Certainty.PROVED
    best = _best(world, SearchBudget(9))
    assert (best.domain, best.certainty, best.incomplete_reason) == ("r1", Certainty.NOT_FOUND, reason)


def test_where_pods_differ_in_their_volumes_alone_counting_is_not_enough_to_be_sure() -> None:
    world = World()
    for index in range(2):
        world.node(f"@n{index}", cpu=1, labels={"rack": "r1"})
    for manifest in (SC, *bound("a", "@a", on=(0,)), *bound("b", "@b", on=(0,))):
        world.stored(manifest)
    world.group("g", 2, topology="rack")
    for index, name in enumerate("ab"):
        world.pod(f"g-{index}", group="g", spec=mounts(name))
    best = _best(world, SearchBudget())
    assert (best.certainty, best.incomplete_reason) == (Certainty.NOT_SEARCHED, PODS_DIFFER)
