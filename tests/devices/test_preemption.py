"""A gang that needs devices takes them from less important ones: from nobody else, and from no more than it needs."""

import pytest

from scheduler.cache.nominator import Nomination
from scheduler.cache.records import EntityKey
from scheduler.preemption.dry_run import devices_on, dry_run_preemption
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from scheduler.preemption.result import PreemptionResult
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode
from tests.devices.build import claim, device, request, resource_slice
from tests.devices.cluster import Cluster, gpu_template, places
from tests.scheduler.core import build

HIGH = 5
NAMES = ("g0", "g1", "g2", "g3")


@pytest.fixture
def cluster() -> Cluster:
    """Two nodes with four devices each, all held: by gangs `a` (priority 1) and `b` (2) on n1, `c` (1) and `d` (9) on n2."""
    made = Cluster()
    for node, gangs in (("n1", (("a", 1), ("b", 2))), ("n2", (("c", 1), ("d", 9)))):
        made.node(node)
        made.offer(resource_slice(f"s-{node}", [device(name) for name in NAMES], node=node))
        for half, (gang, priority) in enumerate(gangs):
            made.state.upsert_group(build.group(gang, 2, priority=priority, leaves="all"))
            for number in range(2):
                made.runs(
                    f"{gang}-{number}", node, f"s-{node}/g{2 * half + number}", group=gang, priority=priority, cpu="1m"
                )
    return made


def candidate(cluster: Cluster, key: EntityKey) -> Candidate | Refusal:
    members = cluster.state.item(key)
    assert members is not None
    assert not cluster.decide(key).bindings
    return dry_run_preemption(cluster.state, members)


def victims(found: Candidate | Refusal) -> set[str]:
    assert isinstance(found, Candidate), found
    return {victim.unit.group.name if victim.unit.group else victim.pods[0].name for victim in found.victims}


def test_the_least_important_gang_leaves_whole_and_nobody_else(cluster: Cluster) -> None:
    found = candidate(cluster, cluster.gang("new", 2, gpu_template(), priority=HIGH))
    assert len(victims(found)) == 1
    assert victims(found) < {"a", "c"}


def test_more_important_gangs_keep_their_devices(cluster: Cluster) -> None:
    found = candidate(cluster, cluster.gang("new", 6, gpu_template(), priority=HIGH))
    assert victims(found) == {"a", "b", "c"}
    refused = candidate(cluster, cluster.gang("more", 7, gpu_template(), priority=HIGH))
    assert isinstance(refused, Refusal)
    assert refused.code is RefusalCode.TOO_FEW


def test_a_gang_of_the_same_priority_takes_nothing(cluster: Cluster) -> None:
    found = candidate(cluster, cluster.gang("new", 2, gpu_template(), priority=1))
    assert isinstance(found, Refusal)


def test_whoever_holds_devices_that_are_not_asked_for_stays(cluster: Cluster) -> None:
    cluster.node("n3")
    cluster.offer(resource_slice("s-n3", [device("g0"), device("h", model="h100")], node="n3"))
    cluster.runs("plain", "n3", "s-n3/g0")
    cluster.runs("special", "n3", "s-n3/h")
    wanted = gpu_template(1, 'device.attributes["d"].?model.orValue("") == "h100"')
    assert victims(candidate(cluster, cluster.gang("new", 1, wanted, priority=HIGH))) == {"special"}


def test_a_claim_that_somebody_who_stays_uses_too_is_not_released() -> None:
    cluster = Cluster()
    cluster.node("n1")
    cluster.offer(resource_slice("s", [device("g0")], node="n1"))
    cluster.runs("low", "n1", "s/g0", claim_name="shared")
    cluster.runs("boss", "n1", "s/g0", claim_name="shared", priority=9)
    cluster.holds("shared", "n1", "s/g0", users=("low", "boss"))
    found = candidate(cluster, cluster.gang("new", 1, gpu_template(), priority=HIGH))
    assert isinstance(found, Refusal)


def test_a_claim_that_only_victims_use_is_released_when_all_of_them_leave() -> None:
    cluster = Cluster()
    cluster.node("n1")
    cluster.offer(resource_slice("s", [device("g0")], node="n1"))
    for name in ("one", "two"):
        cluster.runs(name, "n1", "s/g0", claim_name="shared")
    cluster.holds("shared", "n1", "s/g0", users=("one", "two"))
    assert victims(candidate(cluster, cluster.gang("new", 1, gpu_template(), priority=HIGH))) == {"one", "two"}


def test_a_device_that_every_node_reaches_is_taken_from_whoever_holds_it() -> None:
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.node(name, cpu=1)
    cluster.offer(resource_slice("anywhere", [device("d0")]))
    cluster.runs("low", "n1", "anywhere/d0", cpu=1)
    cluster.state.upsert_pod(build.pod("boss", on="n1", cpu=0, priority=9))
    found = candidate(cluster, cluster.gang("new", 1, gpu_template(), priority=HIGH))
    assert victims(found) == {"low"}


def test_devices_and_amounts_are_both_made_room_for() -> None:
    cluster = Cluster()
    cluster.node("n1", cpu=4)
    cluster.offer(resource_slice("s", [device("g0"), device("g1")], node="n1"))
    cluster.runs("holder", "n1", "s/g0", cpu=0)
    cluster.state.upsert_pod(build.pod("eater", on="n1", cpu=4))
    found = candidate(cluster, cluster.gang("new", 1, gpu_template(2), priority=HIGH))
    assert victims(found) == {"holder", "eater"}


def test_members_that_share_a_claim_get_one_node_cleared(cluster: Cluster) -> None:
    cluster.claim(claim("together", request("r", 4)))
    found = candidate(cluster, cluster.gang("new", 2, named=("together",), cpu="1m", priority=HIGH))
    assert victims(found) == {"a", "b"}
    assert isinstance(found, Candidate)
    assert {node for _, node in found.places} == {"n1"}


# --- over time ---------------------------------------------------------------------------------------------------------


class Play:
    """One device, held by `low`; `new` is to get it."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        self.cluster.node("n1")
        self.cluster.offer(resource_slice("s", [device("g0")], node="n1"))
        self.cluster.runs("low", "n1", "s/g0")
        self.key = self.cluster.gang("new", 1, gpu_template(), priority=HIGH)
        self.evaluator = Evaluator(self.cluster.state, PreemptionLimits(victim_deadline_seconds=60.0))

    def preempt(self, seconds: float) -> PreemptionResult:
        assert not self.cluster.decide(self.key).bindings
        return self.evaluator.preempt(self.key, seconds)

    def nomination(self) -> Nomination | None:
        return self.cluster.state.nominator.of(self.key)


def test_nobody_is_evicted_again_while_the_claims_of_victims_are_not_released() -> None:
    play = Play()
    assert play.preempt(0).candidate is not None
    play.cluster.gone("low")
    for seconds in (1.0, 10.0, 50.0):
        result = play.preempt(seconds)
        assert (result.result, result.candidate) == ("waiting", None)
    assert "uid-of-new-0" in play.cluster.free("low-own")
    assert places(play.cluster.decide(play.key)) == {"new-0": "n1"}


def test_nobody_of_the_same_or_lower_priority_takes_the_devices_meanwhile() -> None:
    play = Play()
    rival = play.cluster.gang("rival", 1, gpu_template(), priority=HIGH)
    boss = play.cluster.gang("boss", 1, gpu_template(), priority=9)
    play.preempt(0)
    play.cluster.gone("low")
    play.cluster.free("low-own")
    assert not play.cluster.decide(rival).bindings
    assert play.cluster.decide(boss).bindings
    assert play.cluster.decide(play.key).bindings


def test_devices_are_kept_no_longer_than_the_nomination() -> None:
    play = Play()
    rival = play.cluster.gang("rival", 1, gpu_template(), priority=1)
    play.preempt(0)
    play.cluster.gone("low")
    play.cluster.free("low-own")
    play.evaluator.gone(play.key)
    assert play.cluster.decide(rival).bindings


def test_devices_that_are_free_already_are_kept_for_the_preemptor_too() -> None:
    cluster = Cluster()
    cluster.node("n1")
    cluster.offer(resource_slice("s", [device("g0"), device("g1"), device("g2")], node="n1"))
    cluster.runs("low", "n1", "s/g0")
    key = cluster.gang("new", 1, gpu_template(3), priority=HIGH)
    assert Evaluator(cluster.state, PreemptionLimits()).preempt(key, 0).candidate is not None
    assert not cluster.decide(cluster.gang("rival", 1, gpu_template(), priority=1)).bindings


def test_where_a_claim_is_not_released_in_time_other_devices_are_taken() -> None:
    play = Play()
    play.preempt(0)
    play.cluster.gone("low")
    play.cluster.node("n2")
    play.cluster.offer(resource_slice("t", [device("g0")], node="n2"))
    play.cluster.runs("other", "n2", "t/g0", priority=1)
    assert play.preempt(59.0).candidate is None
    late = play.preempt(61.0)
    assert late.candidate is not None
    assert victims(late.candidate) == {"other"}


def test_a_nomination_whose_device_a_more_important_gang_has_is_given_up() -> None:
    play = Play()
    nomination = play.preempt(0).nomination
    assert nomination is not None
    assert play.evaluator.obstacle(nomination) is None
    play.cluster.gone("low")
    play.cluster.runs("boss", "n1", "s/g0", priority=9)
    play.cluster.free("low-own")
    assert play.evaluator.obstacle(nomination) == "devices that it counts on were taken by claim team-a/boss-own"


def test_claims_of_pods_that_are_gone_are_waited_for_whoever_asked_them_to_leave() -> None:
    play = Play()
    play.cluster.gone("low")
    result = play.preempt(0)
    assert result.refusal is not None
    assert result.refusal.code is RefusalCode.ONGOING


def test_a_preemption_for_amounts_keeps_the_devices_it_counts_on() -> None:
    cluster = Cluster()
    cluster.node("n1", cpu=4)
    cluster.offer(resource_slice("s", [device("g0")], node="n1"))
    cluster.state.upsert_pod(build.pod("eater", on="n1", cpu=4))
    key = cluster.gang("new", 1, gpu_template(), cpu=4, priority=HIGH)
    assert Evaluator(cluster.state, PreemptionLimits()).preempt(key, 0).candidate is not None
    assert not cluster.decide(cluster.gang("rival", 1, gpu_template(), cpu=0, priority=1)).bindings


def test_a_process_that_begins_anew_keeps_the_devices_that_were_counted_on() -> None:
    play = Play()
    play.cluster.runs("low", "n1", "s/g0", deleted=True)
    statuses = [{"name": "own-0", "resourceClaimName": "new-0-own-0"}]
    entries = [{"name": "own-0", "resourceClaimTemplateName": "t"}]
    play.cluster.state.upsert_pod(
        build.pod(
            "new-0",
            group="new",
            priority=HIGH,
            nominated="n1",
            spec={"resourceClaims": entries},
            claim_statuses=statuses,
        )
    )
    play.evaluator.restore(0.0)
    nomination = play.nomination()
    assert nomination is not None
    assert [held.id.device for held in nomination.devices["uid-of-new-0"]] == ["g0"]
    play.cluster.gone("low")
    play.cluster.free("low-own")
    assert not play.cluster.decide(play.cluster.gang("rival", 1, gpu_template(), priority=1)).bindings


def held_by_victims() -> tuple[Cluster, EntityKey]:
    """A gang of two that is nominated to a node whose two devices others hold."""
    made = Cluster()
    made.node("n1")
    made.offer(resource_slice("s-n1", [device("g0"), device("g1")], node="n1"))
    for number in range(2):
        made.runs(f"low-{number}", "n1", f"s-n1/g{number}")
    return made, made.gang("new", 2, gpu_template(), priority=HIGH)


def counted_on(cluster: Cluster, key: EntityKey, nominated: dict[str, str]) -> dict[str, int]:
    """How many devices each pod counts on once both have left."""
    members = cluster.state.item(key)
    assert members is not None
    kept = devices_on(cluster.state, members, nominated, {f"uid-of-low-{number}" for number in range(2)})
    return {uid: len(devices) for uid, devices in kept}


def test_nominated_pods_count_on_the_devices_of_those_who_leave_for_them() -> None:
    cluster, key = held_by_victims()
    both = {f"uid-of-new-{number}": "n1" for number in range(2)}
    assert counted_on(cluster, key, both) == dict.fromkeys(both, 1)


def test_pods_that_are_nominated_nowhere_count_on_no_devices() -> None:
    cluster, key = held_by_victims()
    assert counted_on(cluster, key, {"uid-of-new-0": "gone", "uid-of-new-1": "n1"}) == {"uid-of-new-1": 1}
    assert counted_on(cluster, key, {}) == {}


def test_devices_that_take_too_long_to_find_are_not_counted_on() -> None:
    cluster, key = held_by_victims()
    cluster.state.nodes.steps.most = 1
    assert counted_on(cluster, key, {f"uid-of-new-{number}": "n1" for number in range(2)}) == {}


def test_a_gang_that_asks_for_no_devices_counts_on_none() -> None:
    cluster, _ = held_by_victims()
    cluster.state.nodes.steps.most = 1
    assert counted_on(cluster, cluster.gang("plain", 1, priority=HIGH), {"uid-of-plain-0": "n1"}) == {}


def test_victims_are_waited_for_until_their_devices_are_free() -> None:
    cluster, key = held_by_victims()
    evaluator = Evaluator(cluster.state, PreemptionLimits())
    nomination = evaluator.preempt(key, 0.0).nomination
    assert nomination is not None
    both = {"uid-of-low-0", "uid-of-low-1"}
    for number in range(2):
        cluster.gone(f"low-{number}")
    assert set(evaluator.awaited(key)) == both
    for number in range(2):
        cluster.free(f"low-{number}-own")
    assert evaluator.awaited(key) == ()
    cluster.holds("elsewhere", "n1", "s-n2/g0", groups=("others",))
    assert evaluator.awaited(key) == ()
    cluster.holds("wanted", "n1", "s-n1/g0", groups=("others",))
    assert set(evaluator.awaited(key)) == both


def test_devices_of_victims_that_have_gone_are_not_waited_for_by_who_wants_none() -> None:
    made = Cluster()
    made.node("n1", cpu=1)
    made.offer(resource_slice("s-n1", [device("g0")], node="n1"))
    made.runs("low", "n1", "s-n1/g0", cpu=1)
    key = made.gang("new", 1, priority=HIGH)
    evaluator = Evaluator(made.state, PreemptionLimits())
    evaluator.preempt(key, 0.0)
    assert evaluator.awaited(key) == ("uid-of-low",)
    made.gone("low")
    assert evaluator.awaited(key) == ()


def test_devices_of_others_who_are_leaving_may_be_counted_on() -> None:
    made = Cluster()
    made.node("n1")
    made.offer(resource_slice("s-n1", [device("g0"), device("g1")], node="n1"))
    made.runs("low", "n1", "s-n1/g0")
    made.runs("boss", "n1", "s-n1/g1", priority=9, deleted=True)
    key = made.gang("new", 2, gpu_template(), priority=HIGH)
    evaluator = Evaluator(made.state, PreemptionLimits())
    result = evaluator.preempt(key, 0.0)
    assert result.nomination is not None
    assert result.nomination.victims == {"uid-of-low"}
    assert evaluator.obstacle(result.nomination) is None
    made.gone("boss")
    assert evaluator.obstacle(result.nomination) is None
