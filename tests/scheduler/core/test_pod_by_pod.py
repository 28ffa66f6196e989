"""Pods of which each value of a label takes one: the shorter way, and when it may be taken."""

from typing import Any

import numpy as np
import pytest

from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import partition_by_signature
from scheduler.algorithm.pod_by_pod import OUT, PodByPod, all_labelled, one_per_value, take_one_each
from scheduler.cache.node_columns import Slots
from scheduler.cache.steps import Steps
from tests.placement.case import HOSTNAME, ZONE, apart, even, likes, near, selector, spread, term
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World

LABELS: dict[str, Any] = {"labels": {"app": "x"}}
OWN = selector(app="x")


def codes(*values: int) -> Slots:
    return np.array(values, dtype=np.intp)


def taken(rank: list[int], *values: Slots, count: int = 9) -> list[int]:
    return take_one_each(np.array(rank, dtype=np.int64), list(values), count, Steps())


def test_the_best_nodes_are_taken_in_turn_one_of_each_value() -> None:
    assert taken([5, 9, 7, 9, 1], codes(1, 2, 2, 3, 1)) == [1, 3, 0]


def test_no_more_than_are_wanted_are_taken() -> None:
    assert taken([5, 9, 7], codes(1, 2, 3), count=2) == [1, 2]
    assert taken([5, 9, 7], codes(1, 2, 3), count=0) == []


def test_nodes_that_are_out_are_not_taken() -> None:
    assert taken([OUT, 3, OUT], codes(1, 2, 3)) == [1]
    assert taken([OUT], codes(1)) == []


def test_each_rule_takes_nodes_out_and_none_does_without_its_label() -> None:
    assert taken([9, 8, 7, 6], codes(1, 1, 2, 3), codes(1, 2, 0, 0)) == [0, 2, 3]
    assert taken([9, 8, 7], codes(0, 0, 1), codes(1, 2, 2)) == [0, 1]


def test_the_shorter_way_needs_a_label_of_one_rule_on_all_nodes_in_question() -> None:
    some, others = codes(1, 0, 2), codes(0, 3, 4)
    assert all_labelled([some], np.array([True, False, True]))
    assert not all_labelled([some], np.array([True, True, True]))
    assert not all_labelled([some, others], np.array([True, True, True]))
    assert all_labelled([some, others], np.array([False, True, True]))
    assert not all_labelled([], np.array([True]))


def by_pod(world: World, count: int, *, pack: bool = False, **pod: Any) -> tuple[PodByPod, Any, Any]:
    world.group("g", count)
    world.pods("g", count, **pod)
    members = world.state.item(group_key("g"))
    assert members is not None
    found = partition_by_signature(world.state, members)
    snapshot = snapshot_for(world.state, members, topology=found.topology)
    (signature,) = found.uids
    return PodByPod(snapshot, pack=pack, confined={}), signature, snapshot


def zoned(*cpus: int) -> World:
    world = World()
    for index, cpu in enumerate(cpus):
        world.node(f"n{index}", cpu=cpu, labels={ZONE: f"z{index % 2}"})
    return world


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        (apart(term(OWN, HOSTNAME)), 1),
        (apart(term(OWN, HOSTNAME), term(OWN, ZONE)), 2),
        (apart(term(OWN, HOSTNAME)) | spread(even(OWN, ZONE)), 0),
        (apart(term(OWN, HOSTNAME)) | spread(even(OWN, ZONE, hard=False)), 0),
        (apart(term(selector(app="y"), HOSTNAME)), 0),
        (near(term(OWN, ZONE)), 0),
        (likes((1, term(OWN, ZONE))), 0),
    ],
    ids=["apart", "twice apart", "and evenly", "and softly so", "from others", "near", "rather near"],
)
def test_the_shorter_way_is_for_pods_that_keep_apart_and_want_nothing_else(spec: dict[str, Any], rules: int) -> None:
    _, signature, snapshot = by_pod(zoned(4, 4, 4), 2, spec=spec, **LABELS)
    assert len(one_per_value(snapshot.topology_state, signature)) == rules


def test_rules_that_mean_the_same_on_these_nodes_count_once() -> None:
    spec = apart(term(OWN, HOSTNAME), term(OWN, ZONE))
    _, signature, snapshot = by_pod(zoned(4, 4), 2, spec=spec, **LABELS)
    assert len(one_per_value(snapshot.topology_state, signature)) == 1


@pytest.mark.parametrize(("pack", "first"), [(False, "n3"), (True, "n0")])
def test_the_emptiest_nodes_are_taken_first_and_the_fullest_to_pack(pack: bool, first: str) -> None:
    world = zoned(2, 4, 8, 16)
    way, signature, _ = by_pod(world, 2, pack=pack, spec=apart(term(OWN, HOSTNAME)), **LABELS)
    (placed,) = way.place([(signature, 1)])
    assert [world.state.nodes.names[slot] for slot in placed.slots.tolist()] == [first]


def test_as_many_find_a_node_as_there_are_values_and_the_snapshot_knows_of_them() -> None:
    world = zoned(4, 4, 4)
    way, signature, snapshot = by_pod(world, 5, spec=apart(term(OWN, ZONE)), **LABELS)
    (placed,) = way.place([(signature, 5)])
    assert placed.total == 2
    assert int(snapshot.capacity(signature).sum()) == 0
    cpu = world.state.nodes.row_of["cpu"]
    assert int((world.state.nodes.free[cpu] - snapshot.free[cpu]).sum()) == 2000


def test_a_pod_that_finds_no_node_is_tried_again_once_others_have_theirs() -> None:
    world = zoned(4, 4)
    world.group("g", 2)
    world.pod("g-later", group="g", labels={"app": "later"}, spec=near(term(selector(app="first"), HOSTNAME)))
    world.pod("g-first", group="g", labels={"app": "first"})
    members = world.state.item(group_key("g"))
    assert members is not None
    found = partition_by_signature(world.state, members)
    snapshot = snapshot_for(world.state, members, topology=found.topology)
    placed = PodByPod(snapshot, pack=False, confined={}).place([(each, 1) for each in found.uids])
    assert sum(one.total for one in placed) == 2
    assert len({slot for one in placed for slot in one.slots.tolist()}) == 1


@pytest.mark.parametrize("more", [{}, {"ports": [{"hostPort": 80, "containerPort": 80}]}, {"cpu": 0}])
def test_one_node_is_judged_like_all_of_them_at_once_while_it_fills(more: dict[str, Any]) -> None:
    world = zoned(0, 2, 3, 8)
    world.node("tainted", cpu=8, taints=[{"key": "a", "effect": "NoSchedule"}])
    _, signature, snapshot = by_pod(world, 4, spec=apart(term(OWN, ZONE)), **{**LABELS, **more})
    slots = np.flatnonzero(world.state.nodes.alive)
    for _ in range(4):
        one_by_one = [snapshot.room_and_score_on(signature, slot, {}) for slot in slots.tolist()]
        room, score = snapshot.room_on(signature, slots), snapshot.scores_on(signature, slots, 1)[:, 0]
        assert one_by_one == list(zip(room.tolist(), score.tolist(), strict=True))
        for slot in slots.tolist():
            snapshot.assume_pod(signature, slot)


def test_members_that_do_not_affect_each_other_are_no_matter_for_it() -> None:
    with pytest.raises(ValueError, match="placed at once"):
        by_pod(zoned(4), 2)


@pytest.mark.parametrize("spec", [near(term(OWN, ZONE)), apart(term(OWN, HOSTNAME))], ids=["near", "apart"])
def test_others_see_what_pods_that_were_placed_one_by_one_have_taken(spec: dict[str, Any]) -> None:
    world = zoned(4)
    world.pod("other", cpu=2)
    other = world.state.item(pod_key("other"))
    assert other is not None
    (plain,) = other.pending
    way, signature, snapshot = by_pod(world, 1, spec=spec, **LABELS)
    slot = world.state.nodes.slot_of["n0"]
    assert int(snapshot.room(plain)[slot]) == 2
    way.place([(signature, 1)])
    assert int(snapshot.room(plain)[slot]) == 1
    assert snapshot.score(plain)[slot] == snapshot.scores_on(plain, np.array([slot]), 1)[0, 0]


@pytest.mark.parametrize("count", [1, 2])
def test_a_try_leaves_the_numbers_that_other_tries_start_from_as_they_are(count: int) -> None:
    way, signature, snapshot = by_pod(zoned(4, 4, 4), 2, spec=apart(term(OWN, HOSTNAME)), **LABELS)
    before = [group.counts.tolist() for group in snapshot.topology_state.topology.groups]
    (placed,) = way.place([(signature, count)])
    assert placed.total == count
    assert [group.counts.tolist() for group in snapshot.topology_state.topology.groups] == before
