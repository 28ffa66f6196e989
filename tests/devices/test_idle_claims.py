"""A claim that has devices and no user gives them up where it keeps its pods from every node that they could go to."""

import pytest

from scheduler.algorithm.idle_claims import MOST_TRIED, claims_in_the_way, with_deallocation, with_deletion
from scheduler.cache.records import EntityKey
from tests.devices.build import device, resource_slice
from tests.devices.cluster import Cluster, gpu_template
from tests.scheduler.core import build

ON_N2 = {"nodeSelector": {"kubernetes.io/hostname": "n2"}}


@pytest.fixture
def cluster() -> Cluster:
    """Nodes n1 and n2 with two devices each, and the claim `used` with one of n1."""
    made = Cluster()
    for name in ("n1", "n2"):
        made.node(name)
        made.offer(resource_slice(f"s-{name}", [device("g0"), device("g1")], node=name))
    made.holds("used", "n1", "s-n1/g0")
    return made


def in_the_way(cluster: Cluster, key: EntityKey) -> list[str]:
    assert not cluster.decide(key).bindings
    return [claim.metadata.name for claim in claims_in_the_way(cluster.state, key)]


def test_a_claim_without_users_on_a_node_where_its_pods_cannot_go_is_in_their_way(cluster: Cluster) -> None:
    assert in_the_way(cluster, cluster.gang("g", 2, named=("used",), spec=ON_N2)) == ["used"]


def test_a_claim_that_somebody_uses_is_left_alone(cluster: Cluster) -> None:
    cluster.holds("used", "n1", "s-n1/g0", users=("somebody",))
    assert in_the_way(cluster, cluster.gang("g", 2, named=("used",), spec=ON_N2)) == []


def test_a_claim_that_only_the_waiting_pods_themselves_have_reserved_is_idle(cluster: Cluster) -> None:
    cluster.holds("used", "n1", "s-n1/g0", users=("g-0", "g-1"))
    assert in_the_way(cluster, cluster.gang("g", 2, named=("used",), spec=ON_N2)) == ["used"]


def test_a_claim_that_a_lone_pod_has_reserved_for_itself_is_idle_while_it_has_no_place(cluster: Cluster) -> None:
    cluster.holds("used", "n1", "s-n1/g0", users=("alone",))
    cluster.member("alone", "", named=("used",), spec=ON_N2)
    assert in_the_way(cluster, build.pod_key("alone")) == ["used"]


@pytest.mark.parametrize(("is_running", "expected"), [(False, ["used"]), (True, [])])
def test_a_claim_that_the_group_of_its_pods_has_reserved_is_idle_until_one_of_them_has_a_place(
    cluster: Cluster, is_running: bool, expected: list[str]
) -> None:
    key = cluster.gang("g", 2, named=("used",), need=1, spec=ON_N2)
    cluster.holds("used", "n1", "s-n1/g0", groups=("g",))
    if is_running:
        cluster.member("g-0", "g", on="n1")
    assert in_the_way(cluster, key) == expected


def test_every_claim_of_every_member_is_looked_at_also_after_one_that_several_share(cluster: Cluster) -> None:
    cluster.holds("other", "n1", "s-n1/g1")
    key = cluster.gang("g", 3)
    cluster.member("g-0", "g", named=("used",), spec=ON_N2)
    cluster.member("g-1", "g", named=("used", "not-made-yet", "other"), spec=ON_N2)
    cluster.holds("not-made-yet", "")
    assert sorted(in_the_way(cluster, key)) == ["other", "used"]


def test_where_it_would_not_help_nothing_is_taken_back(cluster: Cluster) -> None:
    assert in_the_way(cluster, cluster.gang("g", 2, named=("used",), spec=ON_N2, cpu=9)) == []


def test_a_claim_that_is_not_the_items_own_is_left_alone(cluster: Cluster) -> None:
    for number, name in enumerate(("n1/g1", "n2/g0", "n2/g1")):
        cluster.holds(f"other-{number}", name[:2], f"s-{name}")
    assert in_the_way(cluster, cluster.gang("g", 1, gpu_template())) == []


def test_only_claims_in_the_way_lose_their_devices(cluster: Cluster) -> None:
    cluster.holds("fine", "n2", "s-n2/g0")
    assert in_the_way(cluster, cluster.gang("g", 1, named=("used", "fine"), spec=ON_N2)) == ["used"]


def test_of_two_claims_on_different_nodes_one_is_enough(cluster: Cluster) -> None:
    cluster.holds("fine", "n2", "s-n2/g0")
    assert len(in_the_way(cluster, cluster.gang("g", 1, named=("used", "fine")))) == 1


def test_the_devices_of_the_claim_itself_can_be_what_its_pods_need() -> None:
    cluster = Cluster()
    cluster.node("n1")
    cluster.node("n2", cpu=1)
    cluster.offer(resource_slice("anywhere", [device("d0")]))
    cluster.holds("used", "n2", "anywhere/d0")
    assert in_the_way(cluster, cluster.gang("g", 1, named=("used",), cpu=9)) == ["used"]


def test_of_several_claims_all_that_are_in_the_way_lose_their_devices_and_no_other() -> None:
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.node(name)
        cluster.offer(resource_slice(f"s-{name}", [device(f"g{number}") for number in range(3)], node=name))
    for name, node, number in (("one", "n1", 0), ("fine", "n2", 0), ("two", "n1", 1)):
        cluster.holds(name, node, f"s-{node}/g{number}")
    key = cluster.gang("g", 1, named=("one", "fine", "two"), spec=ON_N2)
    assert sorted(in_the_way(cluster, key)) == ["one", "two"]


@pytest.mark.parametrize("count", [MOST_TRIED, MOST_TRIED + 1])
def test_of_more_claims_than_are_tried_one_by_one_all_lose_their_devices(count: int) -> None:
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.node(name)
        cluster.offer(resource_slice(f"s-{name}", [device(f"g{number}") for number in range(count)], node=name))
    names = [f"c{number}" for number in range(count)]
    for number, name in enumerate(names):
        node = "n2" if number else "n1"
        cluster.holds(name, node, f"s-{node}/g{number}")
    key = cluster.gang("g", 1, named=tuple(names), spec=ON_N2)
    assert in_the_way(cluster, key) == (names if count > MOST_TRIED else names[:1])


def test_when_asking_takes_too_many_steps_no_claim_loses_its_devices(cluster: Cluster) -> None:
    key = cluster.gang("g", 2, named=("used",), spec=ON_N2)
    cluster.state.nodes.steps.most = 1
    assert claims_in_the_way(cluster.state, key) == ()


def test_an_item_that_is_not_there_or_asks_for_no_devices_has_no_claim_in_its_way(cluster: Cluster) -> None:
    assert claims_in_the_way(cluster.state, EntityKey("group", "team-a", "nobody", "uid-of-nobody")) == ()
    assert claims_in_the_way(cluster.state, cluster.gang("g", 1, cpu=99)) == ()


def test_what_is_said_of_claims_that_lose_their_devices_stands_in_every_message_of_a_lone_pod(cluster: Cluster) -> None:
    decision = cluster.decide(cluster.gang("g", 1, named=("used",), spec=ON_N2))
    for made, said in ((with_deallocation, "deallocation"), (with_deletion, "deletion")):
        assert made(decision).status.post_filter == f"{said} of ResourceClaim completed"
        assert made(decision).failures == decision.failures
