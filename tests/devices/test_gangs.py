"""A gang's devices are decided with its pods: all members get theirs, or nobody does."""

import pytest

from tests.devices.build import Json, claim, device, device_class, first_available, request, resource_slice
from tests.devices.cluster import Cluster, given, gpu_template, places

SICK = {"key": "sick", "value": "yes", "effect": "NoSchedule"}
H100 = 'device.attributes["d"].model == "h100"'


@pytest.fixture
def cluster() -> Cluster:
    """Nodes n1 with two devices in different NUMA nodes, n2 with two in one and a tainted one of another model, n3 without."""
    made = Cluster()
    for name in ("n1", "n2", "n3"):
        made.node(name)
    made.offer(
        resource_slice("s1", [device("g0", numa=0, model="a100"), device("g1", numa=1, model="a100")], node="n1"),
        resource_slice(
            "s2",
            [
                device("g0", numa=0, model="a100"),
                device("g1", numa=0, model="a100"),
                {**device("g2", numa=0, model="h100"), "taints": [SICK]},
            ],
            node="n2",
        ),
    )
    return made


def test_a_gang_is_placed_where_its_devices_are_and_none_is_given_twice(cluster: Cluster) -> None:
    decision = cluster.decide(cluster.gang("g", 4, gpu_template()))
    assert sorted(places(decision).values()) == ["n1", "n1", "n2", "n2"]
    devices = [one for each in given(decision).values() for one in each]
    assert sorted(devices) == ["n1/g0", "n1/g1", "n2/g0", "n2/g1"]
    for pod, node in places(decision).items():
        assert given(decision)[f"{pod}-own-0"][0].startswith(f"{node}/")


def test_a_gang_that_needs_more_devices_than_there_are_gets_none(cluster: Cluster) -> None:
    decision = cluster.decide(cluster.gang("g", 5, gpu_template()))
    assert decision.bindings == ()
    assert decision.devices == ()
    assert "4 of 5" in decision.condition_message
    assert "3 cannot allocate all claims" in decision.condition_message


def test_devices_that_are_held_or_assumed_are_not_given(cluster: Cluster) -> None:
    held = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "s1", "device": "g0"}]}}
    cluster.claim(claim("other", request(), status={"allocation": held}))
    key = cluster.gang("g", 4, gpu_template())
    assert cluster.decide(key).bindings == ()
    cluster.state.devices.set_claim(("team-a", "other"), None)
    assert len(cluster.decide(key).bindings) == 4


def test_members_that_share_a_claim_run_where_its_device_is(cluster: Cluster) -> None:
    cluster.claim(claim("shared", request()))
    decision = cluster.decide(cluster.gang("g", 3, named=("shared",), cpu="100m"))
    assert len(set(places(decision).values())) == 1
    assert len(given(decision)) == 1
    assert given(decision)["shared"][0].split("/")[0] in places(decision).values()


def test_the_node_for_a_shared_claim_is_one_that_has_room_for_all(cluster: Cluster) -> None:
    cluster.node("n2", cpu=24)
    cluster.claim(claim("shared", request()))
    decision = cluster.decide(cluster.gang("g", 3, named=("shared",), cpu=7))
    assert set(places(decision).values()) == {"n2"}


def test_no_more_pods_than_can_be_its_consumers_share_a_claim() -> None:
    cluster = Cluster()
    for number in range(3):
        cluster.node(f"n{number}", cpu=128)
    cluster.offer(resource_slice("fabric", [device("f0")]))
    cluster.claim(claim("shared", request()))
    decision = cluster.decide(cluster.gang("many", 257, named=("shared",), cpu="100m"))
    assert decision.bindings == ()
    assert "256 of 257" in decision.condition_message
    assert 'resourceclaim "shared" is reserved for 256 pods, more are not possible' in decision.condition_message
    assert len(cluster.decide(cluster.gang("most", 256, named=("shared",), cpu="100m")).bindings) == 256
    assert len(cluster.decide(cluster.gang("part", 300, named=("shared",), cpu="100m", need=200)).bindings) == 256


def test_a_claim_that_is_reserved_for_some_has_room_for_the_others() -> None:
    cluster = Cluster()
    cluster.node("n1", cpu=128)
    cluster.offer(resource_slice("s1", [device("g0")], node="n1"))
    allocation = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "s1", "device": "g0"}]}}
    others = [{"resource": "pods", "name": f"o{number}", "uid": f"uid-of-o{number}"} for number in range(250)]
    cluster.claim(claim("shared", request(), status={"allocation": allocation, "reservedFor": others}))
    assert len(cluster.decide(cluster.gang("six", 6, named=("shared",), cpu="100m")).bindings) == 6
    assert cluster.decide(cluster.gang("seven", 7, named=("shared",), cpu="100m")).bindings == ()


def test_a_shared_claim_and_own_ones_get_devices_of_their_own_classes(cluster: Cluster) -> None:
    cluster.device_class(device_class("nic", 'device.attributes["d"].?kind.orValue("") == "nic"'))
    cluster.device_class(device_class("gpu", 'device.attributes["d"].?model.orValue("") == "a100"'))
    cluster.offer(resource_slice("nics", [device("nic0", kind="nic")], node="n1"))
    cluster.claim(claim("shared", request(class_name="nic")))
    decision = cluster.decide(cluster.gang("g", 2, gpu_template(), named=("shared",), cpu="100m"))
    assert given(decision) == {"shared": ["n1/nic0"], "g-0-own-0": ["n1/g0"], "g-1-own-0": ["n1/g1"]}


def test_a_shared_device_that_every_node_reaches_binds_nobody() -> None:
    cluster = Cluster()
    for name in ("n1", "n2", "n3"):
        cluster.node(name)
    cluster.offer(resource_slice("anywhere", [device("d0")]))
    cluster.claim(claim("shared", request()))
    decision = cluster.decide(cluster.gang("g", 3, named=("shared",), cpu=9))
    assert sorted(places(decision).values()) == ["n1", "n2", "n3"]
    assert [one.terms for one in decision.devices] == [None]


def test_devices_that_several_nodes_reach_are_counted_once() -> None:
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.node(name)
    cluster.offer(resource_slice("anywhere", [device("d0"), device("d1")]))
    assert cluster.decide(cluster.gang("three", 3, gpu_template())).bindings == ()
    decision = cluster.decide(cluster.gang("two", 2, gpu_template()))
    assert sorted(one[0].split("/")[1] for one in given(decision).values()) == ["d0", "d1"]


def test_devices_with_one_attribute_in_common(cluster: Cluster) -> None:
    alike = gpu_template(2, constraints=[{"matchAttribute": "d/numa"}])
    assert given(cluster.decide(cluster.gang("one", 1, alike))) == {"one-0-own-0": ["n2/g0", "n2/g1"]}
    assert cluster.decide(cluster.gang("two", 2, alike)).bindings == ()
    apart = gpu_template(2, constraints=[{"distinctAttribute": "d/numa"}])
    assert given(cluster.decide(cluster.gang("three", 1, apart))) == {"three-0-own-0": ["n1/g0", "n1/g1"]}


def test_taints_of_slices_and_rules_keep_pods_away(cluster: Cluster) -> None:
    key = cluster.gang("g", 1, gpu_template(1, H100))
    assert cluster.decide(key).bindings == ()
    tolerant = claim("t", request("r", 1, H100, tolerations=[{"key": "sick", "operator": "Exists"}]))
    decision = cluster.decide(cluster.gang("tolerant", 1, tolerant))
    assert given(decision) == {"tolerant-0-own-0": ["n2/g2"]}
    on_n1 = cluster.gang("fixed", 1, gpu_template(), spec={"nodeSelector": {"kubernetes.io/hostname": "n1"}})
    cluster.rule("maintenance", {"deviceSelector": {"pool": "s1"}, "taint": {"key": "x", "effect": "NoExecute"}})
    assert cluster.decide(on_n1).bindings == ()
    cluster.rule("maintenance", None)
    assert places(cluster.decide(on_n1)) == {"fixed-0": "n1"}


def test_a_claim_that_has_its_device_binds_its_pods_to_that_node(cluster: Cluster) -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    allocation = {
        "devices": {"results": [{"request": "r", "driver": "d", "pool": "s1", "device": "g0"}]},
        "nodeSelector": {"nodeSelectorTerms": terms},
    }
    cluster.claim(claim("made", request(), status={"allocation": allocation}))
    decision = cluster.decide(cluster.gang("g", 2, named=("made",)))
    assert set(places(decision).values()) == {"n1"}
    assert decision.devices == ()
    refused = cluster.decide(cluster.gang("big", 3, named=("made",), cpu=7))
    assert "2 resourceclaim not available on the node" in refused.condition_message


def test_earlier_alternatives_are_preferred() -> None:
    cluster = Cluster()
    for name in ("n1", "n2", "n3"):
        cluster.node(name)
    cluster.offer(
        resource_slice("s1", [device("s0", kind="slow"), device("s1", kind="slow")], node="n1"),
        resource_slice("s3", [device("f0", kind="fast")], node="n3"),
    )
    fast = request("fast", 1, 'device.attributes["d"].kind == "fast"')
    slow = request("slow", 2, 'device.attributes["d"].kind == "slow"')
    template = claim("t", first_available("r", fast, slow))
    decision = cluster.decide(cluster.gang("g", 2, template))
    assert sorted(map(tuple, given(decision).values())) == [("n1/s0", "n1/s1"), ("n3/f0",)]


def test_a_pod_waits_for_a_claim_that_has_not_been_made(cluster: Cluster) -> None:
    key = cluster.gang("g", 1)
    cluster.member("g-0", "g", spec={"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "later"}]})
    message = cluster.decide(key).condition_message
    assert 'waiting for the resourceclaim "gpu" to be made from the template "later"' in message


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (None, 'could not find ResourceClaim "team-a/shared"'),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, 'resourceclaim "shared" is being deleted'),
    ],
)
def test_a_claim_that_cannot_be_used_is_told(cluster: Cluster, metadata: Json | None, words: str) -> None:
    if metadata is not None:
        cluster.claim(claim("shared", request()), **metadata)
    assert words in cluster.decide(cluster.gang("g", 1, named=("shared",))).condition_message


def test_a_claim_of_another_pod_is_not_used(cluster: Cluster) -> None:
    key = cluster.gang("g", 1, gpu_template())
    cluster.claim({**gpu_template(), "metadata": {"name": "g-0-own-0", "uid": "x"}}, owner="somebody")
    assert "was not created for Pod team-a/g-0 (Pod is not owner)" in cluster.decide(key).condition_message


def test_a_class_that_is_missing_is_named_until_it_is_there(cluster: Cluster) -> None:
    key = cluster.gang("g", 1, claim("t", request(class_name="late")))
    assert "request r: device class late does not exist" in cluster.decide(key).condition_message
    cluster.device_class(device_class("late"))
    assert len(cluster.decide(key).bindings) == 1


def test_a_selector_without_an_answer_leaves_its_node_out_and_is_told(cluster: Cluster) -> None:
    cluster.offer(resource_slice("odd", [device("odd")], node="n3"))
    key = cluster.gang("g", 4, gpu_template(1, 'device.attributes["d"].numa >= 0'))
    assert len(cluster.decide(key).bindings) == 4
    refused = cluster.decide(cluster.gang("many", 5, gpu_template(1, 'device.attributes["d"].numa >= 0')))
    assert "CEL runtime error: no such key: numa" in refused.condition_message


def test_slices_that_come_and_go_change_what_fits(cluster: Cluster) -> None:
    key = cluster.gang("g", 5, gpu_template())
    assert cluster.decide(key).bindings == ()
    cluster.offer(resource_slice("s3", [device("g0")], node="n3"))
    assert len(cluster.decide(key).bindings) == 5
    cluster.withdraw("s1")
    assert cluster.decide(key).bindings == ()


def test_a_slice_behind_an_alpha_gate_is_named(cluster: Cluster) -> None:
    cluster.offer(resource_slice("s3", [device("g0")], node="n3", skipNodeOperations=["*"]))
    message = cluster.decide(cluster.gang("g", 5, gpu_template())).condition_message
    assert "1 its resource slices use skipNodeOperations, which this scheduler does not support" in message


def test_leaders_without_claims_and_workers_with_them_are_one_gang(cluster: Cluster) -> None:
    key = cluster.gang("g", 4, gpu_template(), need=5)
    cluster.member("g-leader", "g", cpu=10)
    decision = cluster.decide(key)
    assert len(decision.bindings) == 5
    assert len(given(decision)) == 4


def test_members_with_different_claims_take_nothing_twice(cluster: Cluster) -> None:
    key = cluster.gang("g", 2, gpu_template(), need=3)
    cluster.member("g-two", "g", gpu_template(2))
    decision = cluster.decide(key)
    devices = [one for each in given(decision).values() for one in each]
    assert len(decision.bindings) == 3
    assert len(devices) == len(set(devices)) == 4


def test_pods_with_claims_are_refused_while_devices_are_not_followed() -> None:
    cluster = Cluster(is_followed=False)
    cluster.node("n1")
    message = cluster.decide(cluster.gang("g", 1, gpu_template())).condition_message
    assert "it has resource claims, and the API server does not serve resource.k8s.io/v1" in message
