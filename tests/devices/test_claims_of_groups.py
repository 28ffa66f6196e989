"""A claim that is reserved for a whole PodGroup: it comes free with the last of its pods, and by us, for who is more important."""

import pytest

from scheduler.algorithm.idle_claims import claims_in_the_way
from scheduler.cache.records import EntityKey
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode
from tests.devices.build import device, resource_slice
from tests.devices.cluster import Cluster, gpu_template
from tests.scheduler.core import build

HIGH = 5
CLAIM = "claim-of-low"


@pytest.fixture
def cluster() -> Cluster:
    """A node with two devices, which the claim of the gang `low` has; its two pods run there."""
    made = Cluster()
    made.node("n1")
    made.offer(resource_slice("s", [device("g0"), device("g1")], node="n1"))
    made.state.upsert_group(build.group("low", 2))
    hold(made)
    for number in range(2):
        run(made, f"low-{number}")
    return made


def hold(cluster: Cluster) -> None:
    cluster.holds(CLAIM, "n1", "s/g0", "s/g1", groups=("low",))


def run(cluster: Cluster, name: str, *, node: str = "n1") -> None:
    spec = {"resourceClaims": [{"name": "own", "resourceClaimName": CLAIM}]}
    cluster.state.upsert_pod(build.pod(name, group="low", on=node, cpu="1m", spec=spec))


def found(cluster: Cluster, key: EntityKey) -> Candidate | Refusal:
    members = cluster.state.item(key)
    assert members is not None
    assert not cluster.decide(key).bindings
    return dry_run_preemption(cluster.state, members)


def idle(cluster: Cluster, key: EntityKey) -> list[str]:
    return [claim.metadata.name for claim in claims_in_the_way(cluster.state, key)]


def test_the_whole_group_leaves_for_one_of_its_devices(cluster: Cluster) -> None:
    candidate = found(cluster, cluster.gang("new", 1, gpu_template(), priority=HIGH))
    assert isinstance(candidate, Candidate)
    assert {pod.name for pod in candidate.pods} == {"low-0", "low-1"}


def test_one_pod_that_cannot_be_asked_to_leave_keeps_the_devices_of_its_group(cluster: Cluster) -> None:
    spec = {"resourceClaims": [{"name": "own", "resourceClaimName": CLAIM}]}
    cluster.state.upsert_group(build.group("low", 2, priority=9))
    cluster.state.upsert_pod(build.pod("low-1", group="low", on="n1", cpu="1m", priority=9, spec=spec))
    assert isinstance(found(cluster, cluster.gang("new", 1, gpu_template(), priority=HIGH)), Refusal)


def test_a_group_of_another_scheduler_is_left_alone(cluster: Cluster) -> None:
    cluster.state.upsert_pod(build.pod("theirs", group="low", scheduler="other", on="n1", cpu="1m"))
    key = cluster.gang("new", 1, gpu_template(), priority=HIGH)
    assert isinstance(found(cluster, key), Refusal)
    assert idle(cluster, key) == []


def test_a_group_without_pods_keeps_its_devices_until_it_is_deleted(cluster: Cluster) -> None:
    key = cluster.gang("new", 1, gpu_template(), priority=HIGH)
    for number in range(2):
        cluster.gone(f"low-{number}")
    assert isinstance(found(cluster, key), Refusal)
    assert idle(cluster, key) == []
    cluster.state.remove_group("team-a", "low", "uid-of-low")
    refused = found(cluster, key)
    assert isinstance(refused, Refusal)
    assert refused.code is RefusalCode.ONGOING


def test_once_its_pods_wait_for_a_place_again_its_claim_loses_its_devices(cluster: Cluster) -> None:
    key = cluster.gang("new", 1, gpu_template(), priority=HIGH)
    cluster.gone("low-0")
    run(cluster, "low-0", node="")
    assert idle(cluster, key) == []
    cluster.gone("low-1")
    run(cluster, "low-1", node="")
    assert idle(cluster, key) == [CLAIM]


@pytest.mark.parametrize(("priority", "policy"), [(0, None), (HIGH, "Never")])
def test_nobody_of_the_same_priority_and_nobody_who_never_preempts_takes_them(
    cluster: Cluster, priority: int, policy: str | None
) -> None:
    for number in range(2):
        cluster.gone(f"low-{number}")
        run(cluster, f"low-{number}", node="")
    key = cluster.gang("new", 1, gpu_template(), priority=priority)
    if policy is not None:
        cluster.state.upsert_group(build.group("new", 1, priority=priority, preemption_policy=policy))
    assert not cluster.decide(key).bindings
    assert idle(cluster, key) == []


def test_no_more_groups_lose_their_devices_than_is_needed_and_the_least_important_one_does() -> None:
    cluster = Cluster()
    cluster.node("n1")
    cluster.offer(resource_slice("s", [device(f"g{number}") for number in range(3)], node="n1"))
    for number, name in enumerate(("two", "one", "three")):
        priority = {"one": 1, "two": 2, "three": 3}[name]
        cluster.state.upsert_group(build.group(name, 1, priority=priority))
        cluster.holds(f"claim-of-{name}", "n1", f"s/g{number}", groups=(name,))
        spec = {"resourceClaims": [{"name": "own", "resourceClaimName": f"claim-of-{name}"}]}
        cluster.state.upsert_pod(build.pod(f"{name}-0", group=name, spec=spec, priority=priority))
    key = cluster.gang("new", 1, gpu_template(), priority=HIGH)
    assert idle(cluster, key) == ["claim-of-one"]
    assert idle(cluster, cluster.gang("more", 2, gpu_template(), priority=HIGH)) == ["claim-of-one", "claim-of-two"]
    assert idle(cluster, cluster.gang("many", 4, gpu_template(), priority=HIGH)) == []


def test_the_group_that_was_asked_to_leave_does_not_start_again_with_the_devices_it_has_still(cluster: Cluster) -> None:
    key = cluster.gang("new", 1, gpu_template(), priority=HIGH)
    assert not cluster.decide(key).bindings
    assert Evaluator(cluster.state, PreemptionLimits()).preempt(key, 0).candidate is not None
    for number in range(2):
        cluster.gone(f"low-{number}")
        run(cluster, f"low-{number}", node="")
    refused = cluster.decide(build.group_key("low"))
    assert refused.bindings == ()
    assert f'the devices of resourceclaim "{CLAIM}" are kept for somebody more important' in refused.condition_message
    cluster.holds(CLAIM, "")
    assert cluster.decide(key).bindings


def test_a_group_whose_pods_were_all_evicted_loses_its_devices_before_they_come_again(cluster: Cluster) -> None:
    key = cluster.gang("new", 1, gpu_template(), priority=HIGH)
    assert not cluster.decide(key).bindings
    evaluator = Evaluator(cluster.state, PreemptionLimits())
    assert evaluator.preempt(key, 0).candidate is not None
    for number in range(2):
        cluster.gone(f"low-{number}")
    assert idle(cluster, key) == [CLAIM]
    assert (
        evaluator.preempt(key, 1.0).result,
        idle(cluster, cluster.gang("rival", 1, gpu_template(), priority=HIGH)),
    ) == (
        "waiting",
        [],
    )


def test_a_groups_own_claim_that_keeps_it_from_its_place_loses_its_devices() -> None:
    cluster = Cluster()
    for name, cpu in (("n1", 1), ("n2", 16)):
        cluster.node(name, cpu=cpu)
        cluster.offer(resource_slice(f"s-{name}", [device("g0")], node=name))
    cluster.state.upsert_group(build.group("g", 1))
    cluster.holds("used", "n1", "s-n1/g0", groups=("g",))
    spec = {"resourceClaims": [{"name": "own", "resourceClaimName": "used"}]}
    cluster.state.upsert_pod(build.pod("g-0", group="g", cpu=9, spec=spec))
    assert not cluster.decide(build.group_key("g")).bindings
    assert idle(cluster, build.group_key("g")) == ["used"]
