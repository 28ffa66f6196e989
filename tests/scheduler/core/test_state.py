"""The state: events in any order, assumptions, identity by UID."""

import sys

import pytest

from api.pod import Pod
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.assumed_pods import RECHECK_SECONDS
from scheduler.cache.cluster import ClusterState, UnknownPod
from scheduler.cache.comparer import NodeDrift
from scheduler.cache.records import PodRecord
from tests.scheduler.core import build
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World


def _free(state: ClusterState, node: str, resource: str = "cpu") -> int:
    table = state.nodes
    return int(table.free[table.row_of[resource], table.slot_of[node]])


def _state() -> ClusterState:
    state = ClusterState(frozenset({"tutti"}))
    state.upsert_node(build.node("n1", cpu=4))
    return state


def test_every_pod_that_is_not_over_takes_its_room_whoever_bound_it() -> None:
    state = _state()
    state.upsert_pod(build.pod("a", cpu=1, on="n1", scheduler="other"))
    state.upsert_pod(build.pod("b", cpu=1, on="n1", deleted=True))
    state.upsert_pod(build.pod("c", cpu=1, on="n1", phase="Succeeded"))
    assert _free(state, "n1") == 2000
    assert _free(state, "n1", "pods") == 108
    state.upsert_pod(build.pod("a", cpu=1, on="n1", scheduler="other", phase="Failed"))
    assert _free(state, "n1") == 3000


def test_pods_on_unknown_nodes_are_counted_when_the_node_appears() -> None:
    state = _state()
    state.upsert_pod(build.pod("a", cpu=3, on="n2"))
    state.upsert_node(build.node("n2", cpu=4))
    assert _free(state, "n2") == 1000


def test_a_node_that_comes_back_finds_its_pods_counted() -> None:
    state = _state()
    state.upsert_pod(build.pod("a", cpu=3, on="n1"))
    state.remove_node("n1", "uid-of-n1")
    assert state.nodes_total == 0
    state.upsert_node(build.node("n1", cpu=4, uid="second"))
    assert _free(state, "n1") == 1000
    assert state.node_uid("n1") == "second"


def test_a_late_removal_of_a_predecessor_is_ignored() -> None:
    state = _state()
    state.upsert_node(build.node("n1", cpu=8, uid="second"))
    state.remove_node("n1", "uid-of-n1")
    assert _free(state, "n1") == 8000
    state.upsert_group(build.group("g", 2, uid="new"))
    assert not state.remove_group(build.NAMESPACE, "g", "old")
    assert state.group(group_key("g", "new")) is not None


def test_a_resource_offered_later_finds_the_pods_that_use_it() -> None:
    state = _state()
    state.upsert_node(build.node("n2"))
    state.upsert_pod(build.pod("a", requests={"example.com/fpga": "1"}, on="n1"))
    state.upsert_pod(build.pod("b", requests={"example.com/fpga": "1"}, on="n2"))
    state.upsert_node(build.node("n1", resources={"example.com/fpga": "4"}))
    assert _free(state, "n1", "example.com/fpga") == 3
    assert _free(state, "n2", "example.com/fpga") == -1
    state.upsert_pod(build.pod("c", requests={"example.com/late": "1"}, on="n3"))
    state.upsert_node(build.node("n3", resources={"example.com/late": "2"}))
    assert _free(state, "n3", "example.com/late") == 1
    assert not state.recount(pod for name in "abc" if (pod := state.pod(f"uid-of-{name}")))


def test_made_up_resources_of_pods_cost_no_row() -> None:
    state = _state()
    for index in range(50):
        state.upsert_pod(build.pod(f"p{index}", requests={f"example.com/r{index}": "1"}, on="n1"))
    assert len(state.nodes.resources) == 4


def test_heartbeats_and_status_updates_change_nothing() -> None:
    state = _state()
    state.upsert_pod(build.pod("a", on="n1"))
    assert not state.upsert_node(build.node("n1", cpu=4))
    assert not state.upsert_pod(build.pod("a", on="n1", phase="Running"))
    state.upsert_group(build.group("g", 2))
    assert not state.upsert_group(build.group("g", 2))


def test_the_table_grows_and_reuses_slots() -> None:
    state = ClusterState(frozenset({"tutti"}))
    for index in range(200):
        state.upsert_node(build.node(f"n{index}", cpu=1, labels={"odd": str(index % 2)}))
    state.upsert_pod(build.pod("a", spec={"nodeSelector": {"odd": "1"}}))
    for index in range(199):
        state.remove_node(f"n{index}", f"uid-of-n{index}")
    for index in range(199):
        state.upsert_node(build.node(f"m{index}", cpu=1, labels={"odd": "2"}))
    assert state.nodes.slots == 256
    assert decide(state, pod_key("a")).bindings == (("uid-of-a", "n199"),)


def test_an_assumed_pod_takes_room_until_it_is_forgotten() -> None:
    state = _state()
    state.upsert_pod(build.pod("a", cpu=3))
    state.assume("uid-of-a", "n1", 60)
    assert _free(state, "n1") == 1000
    change = state.forget("uid-of-a")
    assert change.freed == (state.nodes.slot_of["n1"],)
    assert change.items == (pod_key("a"),)
    assert _free(state, "n1") == 4000
    assert not state.forget("uid-of-a")


def test_the_watch_confirms_an_assumption_without_waking_anybody() -> None:
    state = _state()
    state.upsert_group(build.group("g", 1))
    state.upsert_pod(build.pod("g-0", group="g", cpu=3))
    state.assume("uid-of-g-0", "n1", 60)
    assert state.entities.counts(group_key("g")).assumed == 1
    change = state.upsert_pod(build.pod("g-0", group="g", cpu=3, on="n1"))
    assert (change.items, change.freed, change.bound) == ((), (), (group_key("g"),))
    assert state.assumption("uid-of-g-0") is None
    assert state.entities.counts(group_key("g")).confirmed == 1
    assert _free(state, "n1") == 1000


def test_a_pod_bound_elsewhere_by_somebody_else_frees_what_was_assumed() -> None:
    state = _state()
    state.upsert_node(build.node("n2", cpu=4))
    state.upsert_group(build.group("g", 2))
    state.upsert_pod(build.pod("g-0", group="g"))
    state.assume("uid-of-g-0", "n1", 60)
    change = state.upsert_pod(build.pod("g-0", group="g", on="n2"))
    assert change.freed == (state.nodes.slot_of["n1"],)
    assert change.items == (group_key("g"),)
    assert (_free(state, "n1"), _free(state, "n2")) == (4000, 3000)
    assert state.assumed_pods.bind_obstacle("uid-of-g-0") == "the pod is bound to n2 already"


def test_a_pod_deleted_while_assumed_gives_its_room_back() -> None:
    state = _state()
    state.upsert_pod(build.pod("a"))
    state.assume("uid-of-a", "n1", 60)
    state.upsert_pod(build.pod("a", deleted=True))
    assert _free(state, "n1") == 3000
    assert state.assumed_pods.bind_obstacle("uid-of-a") == "the pod is being deleted"
    assert state.remove_pod(build.NAMESPACE, "a", "uid-of-a").freed == (state.nodes.slot_of["n1"],)
    assert _free(state, "n1") == 4000
    assert state.assumed_pods.bind_obstacle("uid-of-a") == "the pod is gone"


def test_a_bind_is_stopped_when_its_node_went_or_was_replaced() -> None:
    state = _state()
    state.upsert_pod(build.pod("a"))
    assert state.assumed_pods.bind_obstacle("uid-of-a") == "the pod is not assumed on any node"
    state.assume("uid-of-a", "n1", 60)
    assert state.assumed_pods.bind_obstacle("uid-of-a") is None
    state.remove_node("n1")
    assert state.assumed_pods.bind_obstacle("uid-of-a") == "node n1 is gone"
    state.upsert_node(build.node("n1", uid="second"))
    assert state.assumed_pods.bind_obstacle("uid-of-a") == "node n1 was replaced by another of the same name"
    assert _free(state, "n1") == 3000
    state.forget("uid-of-a")
    assert _free(state, "n1") == 4000


def test_an_assumption_that_ran_out_is_reported_and_keeps_its_room() -> None:
    state = _state()
    state.upsert_pod(build.pod("a"))
    state.assume("uid-of-a", "n1", 60)
    assert state.assumed_pods.expire(59) == []
    assert state.assumed_pods.expire(60) == ["uid-of-a"]
    assert state.assumed_pods.expire(61) == []
    assert state.assumed_pods.expire(60 + RECHECK_SECONDS) == ["uid-of-a"]
    assert _free(state, "n1") == 3000


def test_only_known_unbound_pods_can_be_assumed() -> None:
    state = _state()
    with pytest.raises(UnknownPod):
        state.assume("nobody", "n1", 60)
    state.upsert_pod(build.pod("a", on="n1"))
    with pytest.raises(UnknownPod):
        state.assume("uid-of-a", "n1", 60)


def test_assuming_again_elsewhere_moves_the_room() -> None:
    state = _state()
    state.upsert_node(build.node("n2", cpu=4))
    state.upsert_pod(build.pod("a"))
    state.assume("uid-of-a", "n1", 60)
    state.assume("uid-of-a", "n2", 60)
    assert (_free(state, "n1"), _free(state, "n2")) == (4000, 3000)


def test_a_recount_finds_drift_missing_and_extra_pods() -> None:
    state = _state()
    for name in ("a", "b"):
        state.upsert_pod(build.pod(name, cpu=1, on="n1"))
    pods = [record for name in ("a", "b") if (record := state.pod(f"uid-of-{name}"))]
    assert not state.recount(pods)
    state.nodes.free[0, state.nodes.slot_of["n1"]] -= 500
    drift = state.recount([*pods[:1], state.slim_pod(build.pod("c", cpu=2, on="n1"))])
    assert (drift.missing, drift.extra) == (("uid-of-c",), ("uid-of-b",))
    assert drift.nodes == (NodeDrift("n1", "cpu", 2500, 3000),)


def test_an_in_place_resize_is_followed() -> None:
    state = _state()
    state.upsert_pod(build.pod("a", cpu=3, on="n1"))
    change = state.upsert_pod(build.pod("a", cpu=1, on="n1"))
    assert _free(state, "n1") == 3000
    assert change.freed == (state.nodes.slot_of["n1"],)


def test_items_come_and_go_with_their_pods() -> None:
    state = _state()
    assert list(state.entities) == []
    assert state.upsert_pod(build.pod("a")).items == (pod_key("a"),)
    assert state.item_of("uid-of-a") == pod_key("a")
    assert state.upsert_pod(build.pod("a", group="g")).gone == (pod_key("a"),)
    assert list(state.entities) == [group_key("g", "")]
    assert state.upsert_group(build.group("g", 1)).gone == (group_key("g", ""),)
    assert [pod.name for pod in state.entities.waiting(group_key("g"))] == ["a"]
    state.upsert_group(build.group("g", 1, uid="second"))
    assert state.entities.waiting(group_key("g")) == []
    assert [pod.name for pod in state.entities.waiting(group_key("g", "second"))] == ["a"]
    assert state.remove_group(build.NAMESPACE, "g", "second").items == (group_key("g", ""),)
    assert state.remove_pod(build.NAMESPACE, "a", "uid-of-a").gone == (group_key("g", ""),)
    assert list(state.entities) == []
    assert state.item_of("uid-of-a") is None


def test_equal_pods_share_shape_and_strings() -> None:
    state = _state()
    one, other = (state.slim_pod(build.pod(f"g-{index}", group="g")) for index in range(2))
    assert one.signature is other.signature
    assert one.demand is other.demand
    assert one.namespace is other.namespace
    assert one.profile is other.profile
    assert state.slim_pod(build.pod("h", cpu=2)).signature is not one.signature
    assert state.slim_pod(build.pod("i", spec={"nodeSelector": {"a": "b"}})).demand is one.demand


def test_a_record_takes_less_than_half_a_kibibyte() -> None:
    state = _state()
    record = state.slim_pod(build.pod("a-job-with-a-name-3-abcde", group="g", on="n1"))
    shared = {
        "namespace",
        "group",
        "node_name",
        "phase",
        "owner",
        "profile",
        "demand",
        "signature",
        "nominated_node",
        "labels",
        "affinity_terms",
        "claims",
        "foreign_group",
        "rules",
    }
    values = [getattr(record, name) for name in PodRecord.__struct_fields__ if name not in shared]
    # There is one True, one False and one None for all records.
    own = sum(sys.getsizeof(value) for value in values if value is not None and not isinstance(value, bool))
    assert sys.getsizeof(record) + own <= 420


def test_a_record_can_be_given_instead_of_a_pod() -> None:
    world = World()
    world.node("n1")
    record = world.state.slim_pod(build.pod("a"))
    assert (record.key, record.created_seconds) == ((build.NAMESPACE, "a"), 1767225600.0)
    world.apply(world.state.upsert_pod(record))
    assert world.state.pod("uid-of-a") is record


def test_an_empty_pod_is_no_problem() -> None:
    state = _state()
    assert not state.upsert_pod(Pod())
