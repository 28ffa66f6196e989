"""Volumes of gangs: every member's are looked at on one snapshot, and no volume is given away twice."""

from typing import Any

import pytest

from scheduler.algorithm.decision import Decision
from scheduler.plugins.status import Code, Status
from tests.placement.case import Object
from tests.placement.storage import (
    DYNAMIC,
    SC,
    bound,
    capacity,
    claim,
    csi_node,
    driver,
    inline,
    mounts,
    storage_class,
    volume,
)
from tests.scheduler.core.build import NAMESPACE, group_key, pod_key
from tests.scheduler.core.world import World

EPHEMERAL: Object = {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim()["spec"]}}}]}


def world_of(nodes: int, *objects: Object, cpu: int = 4) -> World:
    world = World()
    for index in range(nodes):
        world.node(f"@n{index}", cpu=cpu)
    for manifest in objects:
        world.stored(manifest)
    return world


def gang(world: World, count: int, *specs: Object, need: int | None = None) -> None:
    """A gang with one pod per spec, or `count` pods of one spec, each with its ephemeral claim where it has one."""
    world.group("g", count if need is None else need)
    for index in range(count):
        spec = specs[index % len(specs)]
        if spec is EPHEMERAL:
            world.stored(claim(f"g-{index}-v", owner=f"g-{index}"))
        world.pod(f"g-{index}", group="g", spec=spec)


def message(world: World) -> str:
    return world.held(group_key("g"))[1]


def only(decisions: list[Decision]) -> Decision:
    (decision,) = decisions
    return decision


def test_each_member_gets_a_volume_of_its_own() -> None:
    world = world_of(3, SC, *(volume(f"@pv{index}", on=(index,)) for index in range(3)))
    gang(world, 3, EPHEMERAL)
    decision = only(world.run())
    assert sorted(world.bound().values()) == ["@n0", "@n1", "@n2"]
    assert sorted(name for _, name in decision.volumes) == ["@pv0", "@pv1", "@pv2"]


def test_a_gang_with_a_volume_too_few_takes_none() -> None:
    world = world_of(3, SC, volume("@pv0", on=(0,)), volume("@pv1", on=(1,)))
    gang(world, 3, EPHEMERAL)
    assert only(world.run()).bindings == ()
    assert "2 of 3 pods can be placed" in message(world)
    assert "didn't find available persistent volumes to bind" in message(world)
    assert len(list(world.state.storage.free_volumes("@sc"))) == 2


def test_a_new_volume_starts_the_gang_that_waits_for_it() -> None:
    world = world_of(3, SC, volume("@pv0", on=(0,)), volume("@pv1", on=(1,)))
    gang(world, 3, EPHEMERAL)
    world.run()
    world.stored(volume("@pv2", on=(2,)))
    world.run()
    assert len(world.bound("g")) == 3


def test_a_volume_of_another_class_wakes_nobody() -> None:
    world = world_of(1, SC, storage_class("@other"))
    gang(world, 1, EPHEMERAL)
    world.run()
    world.stored(volume(storage_class="@other"))
    assert world.run() == []


@pytest.mark.parametrize("sizes", [(5, 15), (15, 5)])
def test_small_claims_leave_large_volumes_to_large_ones(sizes: tuple[int, int]) -> None:
    world = world_of(1, SC, volume("@small", size=6), volume("@large", size=20))
    world.group("g", 2)
    for index, size in enumerate(sizes):
        world.stored(claim(f"c{index}", size=size))
        world.pod(f"g-{index}", group="g", spec=mounts(f"c{index}"))
    decision = only(world.run())
    given = dict(decision.volumes)
    assert given[NAMESPACE, f"c{sizes.index(5)}"] == "@small"
    assert given[NAMESPACE, f"c{sizes.index(15)}"] == "@large"


@pytest.mark.parametrize("on", [(0,), None], ids=["on one node", "anywhere"])
def test_claims_of_one_pod_get_a_volume_each(on: tuple[int, ...] | None) -> None:
    world = world_of(2, SC, volume("@pv0", on=on), claim("c0"), claim("c1"))
    world.pod("p", spec=mounts("c0", "c1"))
    world.run()
    assert world.bound() == {}
    world.stored(volume("@pv1", on=on))
    decision = only(world.run())
    assert sorted(name for _, name in decision.volumes) == ["@pv0", "@pv1"]


def test_two_decisions_do_not_give_away_one_volume() -> None:
    world = world_of(2, SC, volume())
    for name in ("a", "b"):
        world.stored(claim(f"c-{name}"))
        world.pod(name, spec=mounts(f"c-{name}"))
    first = world.queue.pop(world.state)
    assert first is not None
    world.state.storage.give({(NAMESPACE, "c-a"): "@pv"}, {})
    world.queue.done(first, Decision(first, Status(Code.SKIP)), world.state)
    world.run()
    assert "b" not in world.bound()


def test_an_assumed_volume_is_free_again_when_its_pod_is_given_back() -> None:
    world = world_of(1, SC, volume(), claim())
    world.state.storage.give({(NAMESPACE, "c"): "@pv"}, {})
    assert list(world.state.storage.free_volumes("@sc")) == []
    world.state.storage.take_back([(NAMESPACE, "c")])
    assert [one.metadata.name for one in world.state.storage.free_volumes("@sc")] == ["@pv"]


def test_a_volume_reserved_for_the_claim_is_preferred_to_a_smaller_one() -> None:
    world = world_of(2, SC, volume("@mine", on=(1,), claim="c", size=50), volume("@small", on=(0,), size=5), claim())
    world.stored({**volume("@mine", on=(1,), size=50), "spec": _reserved("c")})
    world.pod("p", spec=mounts("c"))
    decision = only(world.run())
    assert (world.bound()["p"], dict(decision.volumes)) == ("@n1", {(NAMESPACE, "c"): "@mine"})


def _reserved(name: str) -> Object:
    spec: Object = dict(volume("@mine", on=(1,), size=50)["spec"])
    return {**spec, "claimRef": {"namespace": NAMESPACE, "name": name}}


def test_members_that_share_a_waiting_claim_for_one_node_go_where_it_will_be() -> None:
    world = world_of(3, DYNAMIC, claim())
    gang(world, 3, mounts("c"))
    world.run()
    assert len(set(world.bound("g").values())) == 1


def test_members_that_share_a_waiting_claim_for_many_nodes_may_be_apart() -> None:
    world = world_of(3, DYNAMIC, claim(modes=["ReadWriteMany"]), cpu=1)
    gang(world, 3, mounts("c"))
    world.run()
    assert len(set(world.bound("g").values())) == 3


def test_members_that_share_a_waiting_claim_share_its_volume() -> None:
    world = world_of(2, SC, volume(on=(1,)), volume("@other", on=(0,)), claim())
    gang(world, 2, mounts("c"))
    decision = only(world.run())
    assert len(set(world.bound("g").values())) == 1
    assert len(decision.volumes) == 1


def test_a_bound_claim_that_all_members_share_limits_all_alike() -> None:
    world = world_of(4, SC, *bound(on=(1, 2), modes=["ReadWriteMany"]))
    gang(world, 6, mounts("c"))
    world.run()
    assert set(world.bound("g").values()) == {"@n1", "@n2"}


def test_a_claim_for_one_pod_cannot_serve_two_members() -> None:
    world = world_of(2, SC, *bound(modes=["ReadWriteOncePod"]))
    gang(world, 2, mounts("c"))
    assert only(world.run()).bindings == ()
    assert "1 of 2 pods can be placed" in message(world)


def test_a_claim_for_one_pod_is_free_when_that_pod_ends() -> None:
    world = world_of(2, SC, *bound(modes=["ReadWriteOncePod"]))
    world.pod("first", spec=mounts("c"), on="@n0")
    world.pod("second", spec=mounts("c"))
    world.run()
    assert "ReadWriteOncePod" in world.held(pod_key("second"))[1]
    world.pod("first", spec=mounts("c"), on="@n0", phase="Succeeded")
    world.run()
    assert "second" in world.bound()


def test_members_with_one_disk_go_to_different_nodes() -> None:
    world = world_of(2)
    gang(world, 2, inline(gcePersistentDisk={"pdName": "d"}))
    world.run()
    assert sorted(world.bound("g").values()) == ["@n0", "@n1"]


def test_members_with_one_disk_do_not_share_the_only_node() -> None:
    world = world_of(1)
    gang(world, 2, inline(gcePersistentDisk={"pdName": "d"}))
    assert only(world.run()).bindings == ()
    assert "1 of 2 pods can be placed" in message(world)


def test_volumes_of_members_count_against_the_limit_of_their_node() -> None:
    claims = [one for index in range(4) for one in bound(f"c{index}", f"@pv{index}", csi=("@d.example", f"h{index}"))]
    world = world_of(2, DYNAMIC, csi_node(0, d=2), csi_node(1, d=2), *claims)
    gang(world, 4, *(mounts(f"c{index}") for index in range(4)))
    world.run()
    assert sorted(world.bound("g").values()) == ["@n0", "@n0", "@n1", "@n1"]


def test_a_limit_that_is_too_low_for_the_gang_holds_all_of_it() -> None:
    claims = [one for index in range(3) for one in bound(f"c{index}", f"@pv{index}", csi=("@d.example", f"h{index}"))]
    world = world_of(1, DYNAMIC, csi_node(0, d=2), *claims)
    gang(world, 3, *(mounts(f"c{index}") for index in range(3)))
    assert only(world.run()).bindings == ()
    assert "1 node(s) exceed max volume count" in message(world)
    world.stored(csi_node(0, d=3))
    world.run()
    assert len(world.bound("g")) == 3


def test_claims_that_are_alike_are_placed_as_one() -> None:
    world = world_of(3, DYNAMIC, cpu=100)
    gang(world, 200, EPHEMERAL)
    assert len(only(world.run()).bindings) == 200


def test_a_member_whose_claim_is_missing_says_so_and_waits_for_it() -> None:
    world = world_of(2, *bound("a", "@a"), SC)
    world.group("g", 2)
    world.pod("g-0", group="g", spec=mounts("a"))
    world.pod("g-1", group="g", spec=mounts("b"))
    world.run()
    assert '0/2 nodes are available for the rest: persistentvolumeclaim "b" not found.' in message(world)
    for manifest in bound("b", "@b"):
        world.stored(manifest)
    world.run()
    assert len(world.bound("g")) == 2


@pytest.mark.parametrize(
    "news",
    [
        pytest.param(storage_class(provisioner="@d.example"), id="a storage class"),
        pytest.param(volume(), id="a volume"),
    ],
)
def test_what_a_waiting_pod_lacks_wakes_it(news: Object) -> None:
    lacks_class = news["kind"] == "StorageClass"
    world = world_of(1, *(() if lacks_class else (SC,)), claim())
    world.pod("p", spec=mounts("c"))
    world.run()
    assert world.bound() == {}
    world.stored(news)
    world.run()
    assert "p" in world.bound()


def test_more_capacity_wakes_a_waiting_pod_and_less_does_not() -> None:
    tracked = driver("@d.example", storageCapacity=True)
    world = world_of(1, DYNAMIC, tracked, capacity("a", 2, 0), claim())
    world.pod("p", spec=mounts("c"))
    world.run()
    world.stored(capacity("a", 1, 0))
    assert world.run() == []
    world.stored(capacity("a", 20, 0))
    world.run()
    assert "p" in world.bound()


def test_pods_without_volumes_never_ask_about_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: Any) -> None:
        raise AssertionError("storage was asked about")

    monkeypatch.setattr("scheduler.algorithm.partition.volume_claims_of_pod", asked)
    world = world_of(3, SC, volume(), claim())
    world.group("g", 5)
    world.pods("g", 5, spec={"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "x"}}]})
    world.run()
    assert len(world.bound("g")) == 5


def test_what_a_stranger_wrote_into_volumes_refuses_that_pod_only() -> None:
    world = world_of(1, SC, volume(spec={"capacity": {"storage": "many"}}), claim(selector={"a": "b"}))
    world.pod("odd", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": 7}}]})
    world.pod("even")
    world.run()
    assert set(world.bound()) == {"even"}
    assert "volumes cannot be read" in world.held(pod_key("odd"))[1]
