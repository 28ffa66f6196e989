"""A leader whose workers will have claims: placed only where their devices are, too, and these are kept until they come."""

import pytest

from scheduler.cache.records import EntityKey
from tests.devices.build import claim, device, request, resource_slice
from tests.devices.cluster import given, gpu_template, places
from tests.devices.replicas import KEEP_SECONDS, Replicas
from tests.scheduler.core import build

NUMA = [{"requests": ["r"], "matchAttribute": "d/numa"}]


@pytest.fixture
def cluster() -> Replicas:
    """Nodes n1 and n2 with two devices each; a template for one device."""
    made = Replicas()
    for name in ("n1", "n2"):
        made.node(name)
        devices = [device("g0", numa=0), device("g1", numa=1)]
        made.offer(resource_slice(f"s-{name}", devices, node=name))
    made.template(gpu_template())
    return made


def test_a_leader_starts_when_there_are_devices_for_all_its_workers_and_these_are_kept(cluster: Replicas) -> None:
    decision, _ = cluster.place(cluster.replica("r", 3))
    assert list(places(decision)) == ["r-leader"]
    assert decision.devices == ()
    assert not decision.claims
    assert len(cluster.kept()) == 3


def test_a_leader_whose_workers_would_lack_a_device_waits(cluster: Replicas) -> None:
    decision, _ = cluster.place(cluster.replica("r", 5))
    assert decision.bindings == ()
    assert "room for the 5 pods that come later" in decision.condition_message
    assert "cannot allocate all claims" in decision.condition_message
    assert cluster.kept() == []


def test_the_claims_of_workers_are_those_that_their_template_would_make(cluster: Replicas) -> None:
    cluster.template(claim("t", request("r", 2), constraints=NUMA))
    decision, _ = cluster.place(cluster.replica("r", 1))
    assert decision.bindings == ()
    cluster.template(claim("t", request("r", 2)))
    decision, _ = cluster.place(build.group_key("r"))
    assert list(places(decision)) == ["r-leader"]
    assert len(cluster.kept()) == 2


def test_a_leader_whose_workers_name_a_template_that_is_missing_waits_for_it(cluster: Replicas) -> None:
    cluster.template(None)
    key = cluster.replica("r", 1)
    decision, _ = cluster.place(key)
    assert decision.bindings == ()
    assert 'could not find ResourceClaimTemplate "team-a/workers"' in decision.condition_message
    assert cluster.state.waiting_pods.devices_changed(cluster.template(gpu_template())).items == (key,)
    assert cluster.place(key)[0].bindings != ()


def test_what_is_kept_is_kept_against_others_and_not_against_more_important_ones(cluster: Replicas) -> None:
    cluster.place(cluster.replica("r", 3, priority=5))
    assert len(cluster.decide(cluster.gang("one", 1, gpu_template(), priority=5)).bindings) == 1
    assert cluster.decide(cluster.gang("two", 2, gpu_template(), priority=5)).bindings == ()
    assert len(cluster.decide(cluster.gang("vip", 2, gpu_template(), priority=6)).bindings) == 2


def test_a_worker_gets_a_device_and_the_others_stay_kept(cluster: Replicas) -> None:
    key = cluster.replica("r", 3)
    cluster.place(key)
    cluster.worker("r", 1, gpu_template())
    decision, _ = cluster.place(key)
    assert list(places(decision)) == ["r-1"]
    assert len(given(decision)["r-1-own-0"]) == 1
    assert len(cluster.kept()) == 2
    assert cluster.decide(cluster.gang("two", 2, gpu_template())).bindings == ()
    for number in (2, 3):
        cluster.worker("r", number, gpu_template())
    assert len(cluster.place(key)[0].bindings) == 2
    assert cluster.kept() == []
    assert len(cluster.decide(build.group_key("two")).bindings) == 0
    assert len(cluster.decide(cluster.gang("one", 1, gpu_template())).bindings) == 1


def test_a_worker_that_has_another_device_than_was_kept_leaves_as_many_as_the_others_need(cluster: Replicas) -> None:
    key = cluster.replica("r", 1)
    cluster.place(key)
    (kept,) = cluster.kept()
    pool, _, name = kept.partition("/")
    node, other = pool.removeprefix("s-"), "g1" if name == "g0" else "g0"
    cluster.state.set_controller("uid-of-r-workers", "uid-of-r-leader")
    cluster.runs("r-1", node, f"{pool}/{other}", group="r", controller=("StatefulSet", "r-workers"))
    assert cluster.kept() == []


def test_devices_are_kept_no_longer_than_room(cluster: Replicas) -> None:
    cluster.place(cluster.replica("r", 4))
    key = cluster.gang("g", 4, gpu_template())
    assert cluster.decide(key).bindings == ()
    cluster.now = KEEP_SECONDS
    cluster.future.tick()
    assert cluster.kept() == []
    assert len(cluster.decide(key).bindings) == 4


def test_a_leader_that_goes_gives_the_devices_back(cluster: Replicas) -> None:
    cluster.place(cluster.replica("r", 4))
    cluster.gone("r-leader")
    cluster.future.tick()
    assert cluster.kept() == []


def test_after_a_restart_the_devices_are_kept_again(cluster: Replicas) -> None:
    key = cluster.replica("r", 3)
    cluster.place(key)
    cluster.worker("r", 1, gpu_template())
    cluster.place(key)
    before = cluster.kept()
    cluster.restart()
    assert cluster.kept() == []
    cluster.future.restore()
    assert cluster.kept() == before
    assert len(before) == 2


def test_a_leader_with_claims_of_its_own_gets_them_and_not_those_of_its_workers(cluster: Replicas) -> None:
    decision, _ = cluster.place(cluster.replica("r", 3, own=(gpu_template(),)))
    assert list(given(decision)) == ["r-leader-own-0"]
    assert decision.claims
    held = {f"{one.pool}/{one.device}" for one in cluster.state.devices.held}
    assert len(held) == 1
    assert len(cluster.kept()) == 3
    assert not held & set(cluster.kept())


def test_a_claim_that_all_workers_share_is_kept_once(cluster: Replicas) -> None:
    cluster.claim(claim("shared", request()))
    decision, _ = cluster.place(cluster.replica("r", 3, {"name": "gpu", "resourceClaimName": "shared"}))
    assert list(places(decision)) == ["r-leader"]
    assert decision.devices == ()
    assert len(cluster.kept()) == 1


def test_a_claim_that_the_leader_shares_with_its_workers_is_allocated_with_the_leader(cluster: Replicas) -> None:
    cluster.claim(claim("shared", request()))
    shared = {"name": "gpu", "resourceClaimName": "shared"}
    key = cluster.replica("r", 3, shared, named=("shared",))
    decision, _ = cluster.place(key)
    assert list(given(decision)) == ["shared"]
    assert cluster.kept() == []


def test_a_new_slice_may_help_a_leader_without_claims(cluster: Replicas) -> None:
    key = cluster.replica("r", 5)
    cluster.place(key)
    cluster.node("n3")
    cluster.offer(resource_slice("s-n3", [device("g0")], node="n3"))
    assert key in cluster.state.waiting_pods.devices_changed(cluster.state.devices.all_waiting()).items
    assert len(cluster.place(key)[0].bindings) == 1


def test_a_leader_that_has_its_place_is_not_woken(cluster: Replicas) -> None:
    cluster.place(cluster.replica("r", 3))
    assert cluster.state.waiting_pods.devices_changed(cluster.state.devices.all_waiting()).items == ()


def test_a_group_that_is_gone_waits_for_nothing(cluster: Replicas) -> None:
    cluster.replica("r", 3)
    cluster.gone("r-leader")
    cluster.state.remove_group("team-a", "r", "uid-of-r")
    assert cluster.state.devices.all_waiting() == set()
    assert EntityKey("group", "team-a", "r", "uid-of-r") not in set(cluster.state.entities)
