"""Gangs whose members tie themselves to each other and to others: order, second tries, honest refusals, waking."""

from collections import Counter

import msgspec
import numpy as np
import pytest

from api.meta import Metadata
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.partition import partition_by_signature
from tests.placement.case import HOSTNAME, ZONE, apart, avoids, even, labelled, likes, near, selector, spread, term
from tests.scheduler.core import build
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World

FOO = {"app": "foo"}
IS_FOO = selector(app="foo")
PROVED = "Proved impossible: all placements were searched."


def _zones(world: World, *zones: str, cpu: int = 4) -> None:
    for index, zone in enumerate(zones):
        world.node(f"n{index}", cpu=cpu, labels={"zone": zone} if zone else {})


def _case_18(world: World) -> None:
    world.group("g", 2)
    pinned = {**apart(term(IS_FOO, HOSTNAME)), "nodeSelector": {HOSTNAME: "n0"}}
    world.pod("g-0", group="g", spec=pinned)
    world.pod("g-1", group="g", labels=FOO)


def test_18_a_member_sees_where_the_members_before_it_went() -> None:
    world = World()
    _zones(world, "", "")
    _case_18(world)
    world.run()
    assert world.bound() == {"g-0": "n0", "g-1": "n1"}


def test_18_on_one_node_nobody_is_bound() -> None:
    world = World()
    _zones(world, "")
    _case_18(world)
    (decision,) = world.run()
    assert world.bound() == {}
    assert decision.result == "unschedulable"
    world.node("n1")
    world.run()
    assert world.bound() == {"g-0": "n0", "g-1": "n1"}


def test_members_that_are_put_on_a_snapshot_all_at_once_count_for_the_others() -> None:
    world = World()
    _zones(world, "", "")
    world.group("g", 2)
    world.pod("g-0", group="g", cpu=1, labels=FOO)
    world.pod("g-1", group="g", cpu=2, spec=apart(term(IS_FOO, HOSTNAME)))
    members = world.state.item(group_key("g"))
    assert members is not None
    found = partition_by_signature(world.state, members)
    liked, apart_from_it = sorted(found.pending, key=lambda signature: signature.demand.amounts["cpu"])
    snapshot = snapshot_for(world.state, members, topology=found.topology)
    slot = world.state.nodes.slot_of["n0"]
    snapshot.assume_all([Placed(liked, np.array([slot]), np.array([1]))])
    capacity = snapshot.capacity(apart_from_it)
    assert not capacity[slot]
    assert capacity[world.state.nodes.slot_of["n1"]] > 0


def test_members_that_repel_each_other_take_a_node_each() -> None:
    world = World()
    _zones(world, *[""] * 5)
    world.group("g", 5)
    world.pods("g", 5, labels=FOO, spec=apart(term(IS_FOO, HOSTNAME)))
    world.run()
    assert sorted(world.bound().values()) == [f"n{index}" for index in range(5)]


def test_a_refusal_that_counting_proves_does_not_hedge() -> None:
    world = World()
    _zones(world, *[""] * 4)
    world.group("g", 5)
    world.pods("g", 5, labels=FOO, spec=apart(term(IS_FOO, HOSTNAME)))
    (decision,) = world.run()
    assert decision.condition_message == (
        "minCount (5) cannot be satisfied: 4 of 5 pods can be placed; 0/4 nodes are available for the rest: "
        "4 node(s) didn't match pod anti-affinity rules."
    )


def test_a_refusal_that_only_a_search_proves_says_so() -> None:
    world = World()
    _zones(world, "x", "y", cpu=4)
    world.group("g", 3)
    world.pods("g", 2, spec=near(term(selector(role="leader"))))
    world.pod("g-leader", group="g", labels={"role": "leader"}, cpu=4)
    (decision,) = world.run()
    assert world.bound() == {}
    assert decision.condition_message == (
        "minCount (3) cannot be satisfied: 1 of 3 pods can be placed; 0/2 nodes are available for the rest: "
        f"1 Insufficient cpu, 1 node(s) didn't match pod affinity rules. {PROVED}"
    )


@pytest.mark.parametrize("room_first", [False, True])
def test_members_that_must_be_together_start_where_there_is_room_for_all(room_first: bool) -> None:
    world = World()
    zones = ("large", "large", "small") if room_first else ("small", "large", "large")
    for index, zone in enumerate(zones):
        world.node(f"n{index}", cpu=10 if zone == "small" else 4, labels={"zone": zone})
    world.pod("hog", cpu=8, on=f"n{zones.index('small')}", scheduler="other")
    world.group("g", 6)
    world.pods("g", 6, labels=FOO, spec=near(term(IS_FOO)))
    world.run()
    bound = Counter(world.bound("g").values())
    assert sum(bound.values()) == 6
    assert f"n{zones.index('small')}" not in bound


def test_no_zone_with_room_for_all_is_a_proven_refusal() -> None:
    world = World()
    _zones(world, "x", "y", "z", cpu=4)
    world.group("g", 5)
    world.pods("g", 5, labels=FOO, spec=near(term(IS_FOO)))
    (decision,) = world.run()
    assert decision.result == "unschedulable"
    assert PROVED not in decision.condition_message


def test_a_member_that_needs_another_one_waits_for_it_within_the_same_attempt() -> None:
    world = World()
    _zones(world, "x", "y")
    world.group("g", 3)
    world.pods("g", 2, labels={"app": "worker"}, spec=near(term(selector(role="leader"))))
    world.pod("g-leader", group="g", labels={"role": "leader"}, cpu=2)
    world.run()
    assert len(set(world.bound().values())) == 1
    assert len(world.bound()) == 3


def test_members_spread_evenly_and_the_next_pair_still_does() -> None:
    world = World()
    _zones(world, "x", "x", "y", "z", cpu=8)
    world.group("g", 9)
    world.pods("g", 9, labels=FOO, spec=spread(even(IS_FOO)))
    world.run()
    zone_of = {"n0": "x", "n1": "x", "n2": "y", "n3": "z"}
    assert Counter(zone_of[node] for node in world.bound().values()) == {"x": 3, "y": 3, "z": 3}


def test_a_running_pod_of_somebody_else_keeps_a_whole_gang_away_from_its_zone() -> None:
    world = World()
    _zones(world, "x", "y", cpu=8)
    world.pod("guard", on="n0", scheduler="other", spec=apart(term(IS_FOO)))
    world.group("g", 4)
    world.pods("g", 4, labels=FOO)
    world.run()
    assert set(world.bound("g").values()) == {"n1"}


def test_a_gang_that_nobody_minds_is_not_slowed_by_rules_about_others() -> None:
    world = World()
    _zones(world, "x", "y", cpu=8)
    world.pod("guard", on="n0", scheduler="other", spec=apart(term(IS_FOO)))
    world.group("g", 8)
    world.pods("g", 8, labels={"app": "bar"})
    world.run()
    assert Counter(world.bound("g").values()) == {"n0": 4, "n1": 4}


def test_an_assumed_pod_counts_like_one_that_runs() -> None:
    world = World()
    _zones(world, "", "")
    world.pod("a", labels=FOO, spec=apart(term(IS_FOO, HOSTNAME)))
    world.pod("b", labels=FOO)
    world.step()
    world.step()
    assert len(set(world.bound().values())) == 2


def test_a_pod_that_somebody_waits_for_wakes_the_waiting_one() -> None:
    world = World()
    _zones(world, "x", "y")
    world.pod("p", spec=near(term(IS_FOO)))
    world.run()
    assert world.held(pod_key("p"))[1] == "0/2 nodes are available: 2 node(s) didn't match pod affinity rules."
    world.pod("friend", labels=FOO, on="n1", scheduler="other")
    world.run()
    assert world.bound()["p"] == "n1"


def test_labels_that_change_on_a_running_pod_count() -> None:
    world = World()
    _zones(world, "x")
    world.pod("enemy", labels=FOO, on="n0", scheduler="other")
    world.pod("p", spec=apart(term(IS_FOO)))
    world.run()
    assert "p" not in world.bound()
    world.pod("enemy", labels={"app": "bar"}, on="n0", scheduler="other")
    world.run()
    assert world.bound()["p"] == "n0"


def test_labels_of_a_namespace_that_change_wake_whom_they_concern() -> None:
    world = World()
    _zones(world, "x")
    world.pod("friend", labels=FOO, on="n0", scheduler="other", namespace="elsewhere")
    world.pod("p", spec=near(term(IS_FOO, namespaceSelector=selector(team="red"))))
    world.run()
    assert "p" not in world.bound()
    world.apply(world.state.upsert_namespace("elsewhere", {"team": "red"}))
    world.run()
    assert world.bound()["p"] == "n0"


def test_a_node_that_comes_back_brings_its_pods_into_the_count() -> None:
    world = World()
    _zones(world, "x", "y")
    world.pod("enemy", labels=FOO, on="n0", scheduler="other")
    world.node_gone("n0")
    world.pod("probe", cpu=9, spec=apart(term(IS_FOO)))
    world.run()
    world.node("n0", cpu=16, labels={"zone": "x"})
    world.run()
    assert world.held(pod_key("probe"))[1] == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod anti-affinity rules."
    )


def test_members_of_one_rack_repel_each_other_within_it() -> None:
    world = World()
    for index in range(6):
        world.node(f"n{index}", labels={"rack": f"r{index // 3}"})
    world.pod("hog", cpu=4, on="n0", scheduler="other")
    world.group("g", 3, topology="rack")
    world.pods("g", 3, labels=FOO, spec=apart(term(IS_FOO, HOSTNAME)))
    world.run()
    assert sorted(world.bound("g").values()) == ["n3", "n4", "n5"]


def test_labels_that_differ_from_member_to_member_matter_when_a_rule_looks_at_them() -> None:
    world = World()
    _zones(world, "", "", "")
    own = "batch.kubernetes.io/job-completion-index"
    for group in ("g", "h"):
        world.group(group, 3)
        for index in range(3):
            same = {"labelSelector": {**labelled(own, "In", str(index))}, "topologyKey": HOSTNAME}
            world.pod(f"{group}-{index}", group=group, labels={own: str(index)}, spec=apart(same))
    world.run()
    bound = world.bound()
    assert len(bound) == 6
    assert all(bound[f"g-{index}"] != bound[f"h-{index}"] for index in range(3))


def test_rules_that_cannot_be_read_are_refused_by_name() -> None:
    world = World()
    world.node("n0")
    broken = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Wat"}]}, "topologyKey": "zone"}
    world.pod("p", spec=apart(broken))
    (decision,) = world.run()
    assert decision.result == "error"
    assert "label selectors have no operator 'Wat'" in decision.condition_message


def test_rules_of_a_stranger_that_cannot_be_read_bother_nobody() -> None:
    world = World()
    world.node("n0")
    world.pod("stranger", on="n0", scheduler="other", spec={"affinity": {"podAffinity": {"x": 1}}})
    world.pod("stranger-2", on="n0", scheduler="other", spec={"affinity": {"podAntiAffinity": 7}})
    world.pod("p")
    world.run()
    assert world.bound()["p"] == "n0"


def test_members_beyond_the_minimum_that_find_no_place_say_why() -> None:
    world = World()
    _zones(world, "", "")
    world.group("g", 2)
    world.pods("g", 3, labels=FOO, spec=apart(term(IS_FOO, HOSTNAME)))
    (decision,) = [one for one in world.run() if one.result == "scheduled"]
    assert len(decision.bindings) == 2
    ((_, message),) = decision.pod_messages
    assert message == "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."
    assert world.state.entities.counts(group_key("g")).pending == 1


def test_pods_on_a_node_without_a_host_name_crowd_no_other_node() -> None:
    world = World()
    for name in ("n0", "n1"):
        world.node(name, cpu=8)
    bare = msgspec.structs.replace(build.node("bare", cpu=8), metadata=Metadata(name="bare", uid="uid-of-bare"))
    world.apply(world.state.upsert_node(bare))
    for number in range(3):
        world.pod(f"there-{number}", on="bare", cpu=0, labels={"app": "a"}, scheduler="other")
    rule = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
    rule |= {"labelSelector": {"matchLabels": {"app": "a"}}}
    world.pod("p", labels={"app": "a"}, spec={"topologySpreadConstraints": [rule]})
    world.run()
    assert world.bound()["p"] == "n0"


def test_terms_by_a_label_that_no_node_has_leave_the_other_terms_in_force() -> None:
    world = World()
    for name, zone in (("n1", "z1"), ("n2", "z2")):
        world.node(name, cpu=9, labels={ZONE: zone})
    other = selector(app="x")
    there = apart(term(other, "example.com/nowhere"), term(other, ZONE))
    there["affinity"]["podAntiAffinity"] |= avoids((50, term(other, "example.com/nowhere")))["affinity"][
        "podAntiAffinity"
    ]
    world.pod("there", cpu=0, on="n1", scheduler="other", spec=there)
    world.group("g", 2)
    world.pods("g", 2, labels={"app": "x"})
    world.run()
    assert set(world.bound("g").values()) == {"n2"}


def test_wishes_by_a_label_that_no_node_has_leave_the_other_wishes() -> None:
    world = World()
    for name, zone in (("n1", "z1"), ("n2", "z2")):
        world.node(name, cpu=9, labels={ZONE: zone})
    world.pod("there", cpu=8, on="n2", scheduler="other", labels={"app": "y"})
    y = selector(app="y")
    world.group("g", 1)
    world.pods("g", 1, spec=likes((100, term(y, "example.com/nowhere")), (100, term(y, ZONE))))
    world.run()
    assert set(world.bound("g").values()) == {"n2"}
