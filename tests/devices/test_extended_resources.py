"""Extended resources that a class stands for: devices by a claim, or counted where a node offers the resource by itself."""

import json
import random
from typing import Any

import pytest

from api.constants import MANAGED_BY, MIN_RESOURCES
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.future_pods import ClusterWithFuturePods
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.future_uids import is_future_pod
from scheduler.cache.records import EntityKey
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate
from tests.devices.build import Json, device, device_class, resource_slice
from tests.devices.cluster import Cluster, gpu_template, places
from tests.scheduler.core import build

GPU, NIC = "example.com/gpu", "example.com/nic"
IMPLICIT = "deviceclass.resource.kubernetes.io/gpu"


def backing_class(resource: str, name: str = "gpu", created: str = "2026-01-01T00:00:00Z", *selectors: str) -> Json:
    found = device_class(name, *selectors)
    found["metadata"]["creationTimestamp"] = created
    found["spec"]["extendedResourceName"] = resource
    return found


@pytest.fixture
def cluster() -> Cluster:
    """n1 has two devices, n2 offers the resource itself, twice, n3 has neither; the class `gpu` stands for the resource."""
    made = Cluster()
    made.device_class(backing_class(GPU))
    made.node("n1")
    made.state.upsert_node(build.node("n2", cpu=16, resources={GPU: "2"}))
    made.node("n3")
    made.offer(resource_slice("s1", [device("g0"), device("g1")], node="n1"))
    return made


def gang(cluster: Cluster, name: str, pods: int, *, resource: str = GPU, amount: int = 1, **more: Any) -> EntityKey:
    cluster.state.upsert_group(build.group(name, more.pop("need", pods), priority=more.get("priority")))
    for number in range(pods):
        lone(cluster, f"{name}-{number}", resource=resource, amount=amount, group=name, **more)
    return build.group_key(name)


def lone(cluster: Cluster, name: str, *, resource: str = GPU, amount: int = 1, **more: Any) -> None:
    requests = {"cpu": "1", resource: str(amount), **more.pop("besides", {})}
    cluster.state.upsert_pod(build.pod(name, requests=requests, **more))


def on(decision: Decision) -> list[str]:
    return sorted(places(decision).values())


def devices(decision: Decision) -> list[str]:
    """All that is given, as `node/device`."""
    return sorted(f"{one.node_name}/{chosen.device.id.device}" for one in decision.devices for chosen in one.chosen)


def test_a_gang_takes_devices_on_some_nodes_and_is_counted_on_others(cluster: Cluster) -> None:
    decision = cluster.decide(gang(cluster, "g", 4))
    assert on(decision) == ["n1", "n1", "n2", "n2"]
    assert devices(decision) == ["n1/g0", "n1/g1"]


def test_a_gang_for_which_devices_and_amounts_together_do_not_suffice_gets_none(cluster: Cluster) -> None:
    decision = cluster.decide(gang(cluster, "g", 5))
    assert (decision.bindings, decision.devices) == ((), ())
    assert "4 of 5" in decision.condition_message
    assert "1 Insufficient example.com/gpu" in decision.condition_message
    assert "2 cannot allocate all claims" in decision.condition_message


def test_a_pod_that_asks_for_several_gets_all_of_them_on_one_node(cluster: Cluster) -> None:
    assert devices(
        cluster.decide(gang(cluster, "one", 1, amount=2, spec={"nodeSelector": {"kubernetes.io/hostname": "n1"}}))
    ) == [
        "n1/g0",
        "n1/g1",
    ]
    assert on(cluster.decide(gang(cluster, "many", 1, amount=3))) == []


def test_without_a_class_it_is_a_resource_as_any_other(cluster: Cluster) -> None:
    cluster.state.devices.set_class("gpu", None)
    decision = cluster.decide(gang(cluster, "g", 3))
    assert decision.bindings == ()
    assert "3 Insufficient example.com/gpu" in decision.condition_message
    cluster.device_class(backing_class(GPU))
    assert len(cluster.decide(build.group_key("g")).bindings) == 3


def test_a_class_stands_for_its_own_name_without_saying_so(cluster: Cluster) -> None:
    cluster.device_class(device_class("gpu"))
    decision = cluster.decide(gang(cluster, "g", 2, resource=IMPLICIT))
    assert on(decision) == ["n1", "n1"]
    assert on(cluster.decide(gang(cluster, "other", 1))) == ["n2"]


def test_of_classes_for_the_same_resource_the_newest_counts_then_the_first_by_name(cluster: Cluster) -> None:
    cluster.device_class(backing_class(GPU, "newer", "2026-02-01T00:00:00Z", "false"))
    n1 = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    assert on(cluster.decide(gang(cluster, "g", 1, spec=n1))) == []
    cluster.device_class(backing_class(GPU, "a-newer", "2026-02-01T00:00:00Z"))
    assert on(cluster.decide(build.group_key("g"))) == ["n1"]


def test_a_node_that_begins_to_offer_the_resource_is_counted_from_then_on(cluster: Cluster) -> None:
    cluster.state.upsert_node(build.node("n1", cpu=16, resources={GPU: "1"}))
    decision = cluster.decide(gang(cluster, "g", 3))
    assert on(decision) == ["n1", "n2", "n2"]
    assert decision.devices == ()
    cluster.state.upsert_node(build.node("n1", cpu=16))
    assert devices(cluster.decide(build.group_key("g"))) in (["n1/g0"], ["n1/g0", "n1/g1"])


def test_a_node_may_offer_one_resource_and_have_devices_for_the_other(cluster: Cluster) -> None:
    cluster.device_class(backing_class(NIC, "nic", "2026-01-01T00:00:00Z", 'device.driver == "nic"'))
    cluster.device_class(backing_class(GPU, "gpu", "2026-01-01T00:00:00Z", 'device.driver == "d"'))
    cluster.offer(resource_slice("nics", [device("p0")], node="n2", driver="nic"))
    cluster.offer(resource_slice("more-nics", [device("p1")], node="n1", driver="nic"))
    decision = cluster.decide(gang(cluster, "g", 2, besides={NIC: "1"}))
    assert on(decision) == ["n1", "n2"]
    assert devices(decision) == ["n1/g0", "n1/p1", "n2/p0"]
    names = {one.node_name: [chosen.request.name for chosen in one.chosen] for one in decision.devices}
    assert names == {"n1": ["container-0-request-1", "container-0-request-2"], "n2": ["container-0-request-2"]}


def test_claims_and_extended_resources_of_one_pod_are_decided_together(cluster: Cluster) -> None:
    key = cluster.gang("g", 1, gpu_template(), requests={"cpu": "1", GPU: "1"})
    decision = cluster.decide(key)
    assert on(decision) == ["n1"]
    assert devices(decision) == ["n1/g0", "n1/g1"]
    assert [one.claim[1] for one in decision.devices] == ["g-0-own-0", "<extended-resources>/uid-of-g-0"]
    assert cluster.decide(cluster.gang("two", 1, gpu_template(2), requests={"cpu": "1", GPU: "1"})).bindings == ()


def test_what_is_held_or_assumed_is_not_given_again(cluster: Cluster) -> None:
    cluster.holds("other", "n1", "s1/g0", users=("x",))
    assert on(cluster.decide(gang(cluster, "g", 4))) == []
    cluster.free("other")
    assert len(on(cluster.decide(build.group_key("g")))) == 4


def test_more_devices_than_a_claim_can_have_are_refused(cluster: Cluster) -> None:
    cluster.offer(resource_slice("s3", [device(f"g{number}") for number in range(40)], node="n3"))
    assert on(cluster.decide(gang(cluster, "fits", 1, amount=32))) == ["n3"]
    decision = cluster.decide(gang(cluster, "g", 1, amount=33))
    assert decision.bindings == ()
    assert "number of requested devices 33 exceeds the claim limit of 32" in decision.condition_message


def test_a_claim_that_an_earlier_attempt_left_behind_keeps_its_pod_waiting(cluster: Cluster) -> None:
    key = gang(cluster, "g", 1)
    mark = {"resource.kubernetes.io/extended-resource-claim": "true"}
    template = gpu_template()
    template["metadata"]["name"] = "left"
    cluster.claim(template, owner="uid-of-g-0", annotations=mark)
    decision = cluster.decide(key)
    assert "cannot schedule extended resource claim" in decision.condition_message
    assert cluster.free("left") == {"uid-of-g-0"}
    assert on(cluster.decide(key)) != []


def test_slices_and_classes_wake_those_who_ask_for_the_resource_and_nobody_else(cluster: Cluster) -> None:
    lone(cluster, "asks")
    lone(cluster, "counted", resource="example.com/other")
    more = resource_slice("s3", [device("g0")], node="n3")
    cluster.offer(more)
    state = cluster.state.devices
    assert state.all_waiting() == {"uid-of-asks"}
    assert state.set_slice("s3", None) == {"uid-of-asks"}
    lone(cluster, "asks", on="n2")
    assert state.all_waiting() == set()


def test_a_more_important_gang_gets_the_devices_of_pods_that_have_them_by_such_claims(cluster: Cluster) -> None:
    for number in range(2):
        cluster.runs(f"low-{number}", "n1", f"s1/g{number}", claim_name=f"low-{number}-extended-resources-xyz")
        lone(cluster, f"counted-{number}", on="n2", priority=100)
    key = gang(cluster, "high", 2, priority=10)
    members = cluster.state.item(key)
    assert cluster.decide(key).bindings == ()
    assert members is not None
    found = dry_run_preemption(cluster.state, members)
    assert isinstance(found, Candidate)
    assert {pod.name for pod in found.pods} == {"low-0", "low-1"}
    assert {node for _, node in found.places} == {"n1"}


def test_a_pod_that_is_counted_leaves_for_one_that_is_counted(cluster: Cluster) -> None:
    cluster.runs("important", "n1", "s1/g0", "s1/g1", priority=100)
    for number in range(2):
        lone(cluster, f"low-{number}", on="n2")
    key = gang(cluster, "high", 1, priority=10)
    members = cluster.state.item(key)
    assert members is not None
    found = dry_run_preemption(cluster.state, members)
    assert isinstance(found, Candidate)
    assert {node for _, node in found.places} == {"n2"}
    assert len(found.pods) == 1


def test_what_is_counted_stays_right_whatever_order_classes_nodes_and_pods_come_in() -> None:
    cluster = Cluster()
    cluster.node("n1")
    lone(cluster, "runs", on="n1")
    cluster.device_class(backing_class(GPU))
    cluster.state.upsert_node(build.node("n2", resources={GPU: "4"}))
    lone(cluster, "counted", on="n2")
    pods = list(cluster.state.pods.values())
    assert not cluster.state.recount(pods)
    cluster.state.devices.set_class("gpu", None)
    assert not cluster.state.recount(pods)
    nodes = cluster.state.nodes
    assert nodes.free[nodes.row_of[GPU], nodes.slot_of["n2"]] == 3
    assert nodes.free[nodes.row_of[GPU], nodes.slot_of["n1"]] == -1


@pytest.mark.parametrize("seed", range(40))
def test_a_gang_starts_exactly_when_devices_and_amounts_suffice_node_by_node(seed: int) -> None:
    """Beside arithmetic: a node has room for as many pods as it has devices, or as it offers, for, never for both together."""
    chance = random.Random(seed)
    cluster = Cluster()
    cluster.device_class(backing_class(GPU))
    amount, room = chance.randint(1, 3), 0
    offering: set[str] = set()
    for number in range(chance.randint(1, 6)):
        name, offered, count = f"n{number}", chance.choice((0, 0, 1, 2, 5)), chance.randint(0, 6)
        cluster.state.upsert_node(build.node(name, cpu=64, resources={GPU: str(offered)} if offered else {}))
        cluster.offer(resource_slice(f"s{number}", [device(f"g{one}") for one in range(count)], node=name))
        room += (offered or count) // amount
        offering |= {name} if offered else set()
    wanted = max(room + chance.randint(-1, 1), 1)
    decision = cluster.decide(gang(cluster, "g", wanted, amount=amount))
    assert len(decision.bindings) == (wanted if wanted <= room else 0)
    given = devices(decision)
    assert len(given) == len(set(given))
    with_devices = [node for node in on(decision) if node not in offering]
    assert len(given) == amount * len(with_devices)
    assert sorted(one.node_name for one in decision.devices) == with_devices


def announcing(cluster: Cluster, workers: int) -> EntityKey:
    """The leader of a replica, whose workers come later and will ask for one of the resource each."""
    roles = [
        {"role": "leader", "count": 1, "requests": {"cpu": "1"}},
        {"role": "worker", "count": workers, "requests": {"cpu": "1", GPU: "1"}},
    ]
    annotations = {MANAGED_BY: "tutti", MIN_RESOURCES: json.dumps(roles)}
    cluster.state.upsert_group(build.group("g", 1, owner="uid-of-leader", annotations=annotations))
    cluster.state.upsert_pod(build.pod("leader", group="g"))
    return build.group_key("g")


@pytest.mark.parametrize(("workers", "starts"), [(2, True), (3, False)])
def test_pods_to_come_count_on_nodes_that_offer_the_resource_for_no_devices_are_kept_for_them(
    cluster: Cluster, workers: int, starts: bool
) -> None:
    decision = decide(ClusterWithFuturePods(cluster.state).view, announcing(cluster, workers))
    assert bool(decision.bindings) is starts
    assert decision.devices == ()
    if starts:
        assert [node for uid, node in decision.bindings if is_future_pod(uid)] == ["n2", "n2"]
    else:
        assert "2 devices are not kept for pods that do not exist yet" in decision.condition_message
