"""Who leaves when there is a choice, one small cluster each."""

from typing import Any

import pytest

from api.constants import MANAGED_BY, MANAGED_BY_TUTTI
from api.node import Node
from api.podgroup import PodGroup
from scheduler.cache.cluster import ClusterState
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode
from tests.scheduler.core import build

PORT = [{"hostPort": 80, "containerPort": 80}]


def state_of(*objects: Any) -> ClusterState:
    state = ClusterState(frozenset({"tutti"}))
    for made in objects:
        match made:
            case Node():
                state.upsert_node(made)
            case PodGroup():
                state.upsert_group(made)
            case _:
                state.upsert_pod(made)
    return state


def searched(state: ClusterState, name: str = "new", **more: Any) -> Candidate | Refusal:
    members = state.item(build.group_key(name)) or state.item(build.pod_key(name))
    assert members is not None
    return dry_run_preemption(state, members, **more)


def leaving(found: Candidate | Refusal) -> list[str]:
    assert isinstance(found, Candidate), found
    return sorted(pod.name for pod in found.pods)


def low(name: str, cpu: int = 1, on: str = "n0", **more: Any) -> Any:
    return build.pod(name, cpu=cpu, on=on, **more)


def test_a_lone_pod_goes_where_the_fewest_and_least_important_leave() -> None:
    state = state_of(
        *(build.node(f"n{number}", cpu=2) for number in range(3)),
        low("a", on="n0"),
        low("b", on="n0"),
        low("c", 2, on="n1", priority=1),
        low("d", 2, on="n2"),
        build.pod("new", cpu=2, priority=5),
    )
    assert leaving(searched(state)) == ["d"]


def test_who_is_as_important_stays_although_somebody_less_important_can_leave() -> None:
    state = state_of(
        build.node("n0", cpu=2),
        low("less"),
        low("equal", priority=5),
        build.group("new", 2, priority=5),
        *(build.pod(f"new-{number}", cpu=1, priority=5, group="new") for number in range(2)),
    )
    assert searched(state) == Refusal(RefusalCode.TOO_FEW, need=2, scheduled=1, remaining=1)


def test_who_fits_exactly_into_what_is_left_over_stays() -> None:
    state = state_of(
        build.node("n0", cpu=3),
        low("small", 1),
        low("large", 2, priority=1),
        build.pod("new", cpu=2, priority=5),
    )
    assert leaving(searched(state)) == ["large"]


def test_of_equal_nodes_a_lone_pod_takes_the_one_whose_victim_started_last() -> None:
    state = state_of(
        build.node("n0", cpu=1),
        build.node("n1", cpu=1),
        low("older", on="n0", created="2026-01-01T00:00:00Z"),
        low("younger", on="n1", created="2026-01-01T09:00:00Z"),
        build.pod("new", priority=5),
    )
    assert leaving(searched(state)) == ["younger"]


@pytest.mark.parametrize(("first", "second"), [("older", "younger"), ("younger", "older")])
def test_of_equal_pods_on_one_node_the_one_that_was_created_last_leaves(first: str, second: str) -> None:
    hour = {"older": 1, "younger": 9}
    state = state_of(
        build.node("n0", cpu=2),
        *(low(name, created=f"2026-01-01T0{hour[name]}:00:00Z") for name in (first, second)),
        build.pod("new", priority=5),
    )
    assert leaving(searched(state)) == ["younger"]


def test_victims_are_named_from_the_least_important_up() -> None:
    state = state_of(
        build.node("n0", cpu=4),
        build.group("pair", 2, priority=0, leaves="all", created="2026-01-01T01:00:00Z"),
        low("more", priority=1),
        *(low(f"pair-{number}", group="pair") for number in range(2)),
        low("single", created="2026-01-01T01:00:00Z"),
        low("younger", 0, created="2026-01-01T09:00:00Z", ports=PORT),
        low("older", 0, created="2026-01-01T00:00:00Z", ports=[{"hostPort": 81, "containerPort": 81}]),
        build.pod("new", cpu=4, priority=5, ports=[{"hostPort": port, "containerPort": port} for port in (80, 81)]),
    )
    found = searched(state)
    assert isinstance(found, Candidate)
    assert [pod.name for pod in found.pods] == ["younger", "single", "older", "pair-0", "pair-1", "more"]


def test_pods_of_a_gang_on_one_node_leave_once() -> None:
    state = state_of(
        *(build.node(f"n{number}", cpu=3) for number in range(3)),
        build.group("pair", 2, priority=0, leaves="all"),
        low("pair-0", 2, group="pair"),
        low("pair-1", 1, group="pair"),
        *(low(f"low-{node}-{number}", on=f"n{node}") for node in (1, 2) for number in range(3)),
        build.group("new", 2, priority=5),
        *(build.pod(f"new-{number}", cpu=3, group="new", priority=5) for number in range(2)),
    )
    assert {name.rsplit("-", 1)[0] for name in leaving(searched(state))} == {"pair", "low-1"}


def test_few_whole_groups_leave_rather_than_parts_of_many() -> None:
    nodes = [build.node(f"n{number}", cpu=2) for number in range(8)]
    groups = [build.group(f"g{number}", 4, priority=0, leaves="all") for number in range(4)]
    # Two groups share the first four nodes, two the others.
    pods = [low(f"g{g}-{i}", on=f"n{i + 4 * (g // 2)}", group=f"g{g}") for g in range(4) for i in range(4)]
    new = [
        build.group("new", 4, priority=5),
        *(build.pod(f"new-{i}", cpu=2, group="new", priority=5) for i in range(4)),
    ]
    found = searched(state_of(*nodes, *groups, *pods, *new))
    assert isinstance(found, Candidate)
    assert {victim.unit.group.name for victim in found.victims if victim.unit.group} in ({"g0", "g1"}, {"g2", "g3"})
    assert len(found.pods) == 8


def test_of_equal_gangs_that_leave_whole_the_smaller_goes_although_it_is_older() -> None:
    state = state_of(
        build.node("n0", cpu=5),
        build.group("small", 2, priority=0, leaves="all", created="2026-01-01T00:00:00Z"),
        build.group("large", 3, priority=0, leaves="all", created="2026-01-01T09:00:00Z"),
        *(low(f"small-{number}", group="small") for number in range(2)),
        *(low(f"large-{number}", group="large") for number in range(3)),
        build.pod("new", priority=5),
    )
    assert leaving(searched(state)) == ["small-0", "small-1"]


@pytest.mark.parametrize("free", [0, 1])
def test_a_gang_stays_when_another_one_that_has_to_leave_makes_all_the_room(free: int) -> None:
    state = state_of(
        *(build.node(f"n{number}", cpu=2 + (0 if number else 2 * free)) for number in range(3)),
        build.group("one", 1, priority=0, leaves="all"),
        build.group("four", 4, priority=0, leaves="all"),
        low("one-0", 2, group="one"),
        *(low(f"four-{number}", on=f"n{1 + number // 2}", group="four") for number in range(4)),
        build.group("new", 2 + free, priority=5),
        *(build.pod(f"new-{number}", cpu=2, group="new", priority=5) for number in range(2 + free)),
    )
    found = searched(state)
    assert leaving(found) == [f"four-{number}" for number in range(4)]
    assert isinstance(found, Candidate)
    assert sorted(node for _, node in found.places) == ["n0"] * free + ["n1", "n2"]


def test_members_that_differ_are_placed_together() -> None:
    state = state_of(
        build.node("n0", cpu=4),
        build.node("n1", cpu=2),
        low("a", 4, on="n0"),
        low("b", 2, on="n1"),
        build.group("new", 2, priority=5),
        build.pod("new-0", cpu=3, group="new", priority=5),
        build.pod("new-1", cpu=2, group="new", priority=5),
    )
    found = searched(state)
    assert leaving(found) == ["a", "b"]
    assert isinstance(found, Candidate)
    assert dict(found.places) == {"uid-of-new-0": "n0", "uid-of-new-1": "n1"}


def test_the_holder_of_a_wanted_host_port_leaves() -> None:
    state = state_of(
        build.node("n0", cpu=8),
        low("web", on="n0", ports=PORT),
        low("other", on="n0"),
        build.pod("new", priority=5, ports=PORT),
    )
    assert leaving(searched(state)) == ["web"]


def test_a_group_that_no_node_selector_lets_in_evicts_nobody() -> None:
    state = state_of(
        build.node("n0", cpu=1), low("a"), build.pod("new", priority=5, spec={"nodeSelector": {"gpu": "yes"}})
    )
    assert isinstance(searched(state), Refusal)


def test_pods_that_are_leaving_anyway_are_waited_for() -> None:
    state = state_of(
        build.node("n0", cpu=1),
        build.node("n1", cpu=1),
        low("dying", on="n0", deleted=True, priority=9),
        low("living", on="n1"),
        build.pod("new", priority=5),
    )
    assert searched(state) == Refusal(RefusalCode.ONGOING, waits=True)
    assert leaving(searched(state, overdue={"uid-of-dying"})) == ["living"]


def test_others_who_are_leaving_are_waited_for_although_one_is_overdue() -> None:
    state = state_of(
        *(build.node(f"n{number}", cpu=1) for number in range(3)),
        low("overdue", on="n0", deleted=True),
        low("dying", on="n1", deleted=True),
        low("living", on="n2"),
        build.pod("new", priority=5),
    )
    assert searched(state, overdue={"uid-of-overdue"}) == Refusal(RefusalCode.ONGOING, waits=True)


def test_a_group_with_a_member_on_its_way_to_a_node_is_not_taken_apart() -> None:
    state = state_of(
        build.node("n0", cpu=1),
        build.node("n1", cpu=1),
        build.group("v", 2, priority=0, leaves="all"),
        low("v-0", on="n0", group="v"),
        build.pod("v-1", group="v"),
        build.pod("new", priority=5),
    )
    state.assume("uid-of-v-1", "n1", 1e9)
    assert searched(state) == Refusal(RefusalCode.NO_VICTIMS)


def test_the_groups_priority_counts_not_its_pods() -> None:
    state = state_of(
        build.node("n0", cpu=1),
        build.group("v", 1, priority=7),
        low("v-0", group="v", priority=0),
        build.pod("new", priority=5),
    )
    assert searched(state) == Refusal(RefusalCode.NO_VICTIMS)


def test_a_pod_that_claims_a_strangers_group_leaves_alone() -> None:
    state = state_of(
        build.node("n0", cpu=2),
        build.group("v", 1, priority=0, leaves="all", owner="job-a"),
        low("v-0", group="v", owner="job-a"),
        low("stranger", group="v", owner="job-b", created="2026-01-03T00:00:00Z"),
        build.pod("new", priority=5),
    )
    assert leaving(searched(state)) == ["stranger"]


def test_a_gang_of_a_job_leaves_by_suspension_and_one_that_its_job_left_behind_by_deletes() -> None:
    names = ("v-0", "v-1")
    state = state_of(
        build.node("n0", cpu=2),
        build.group("v", 2, priority=0, leaves="all", owner="job"),
        *(low(name, group="v", owner="job") for name in names),
        build.pod("new", priority=5),
    )
    assert by_suspension(searched(state)) == [True]
    state.upsert_group(build.group("v", 2, priority=0, leaves="all", annotations={MANAGED_BY: MANAGED_BY_TUTTI}))
    found = searched(state)
    assert by_suspension(found) == [False]
    assert leaving(found) == ["v-0", "v-1"]


def by_suspension(found: Candidate | Refusal) -> list[bool]:
    assert isinstance(found, Candidate), found
    return [victim.leaves_by_suspension for victim in found.victims]


def spares(*names: str) -> Any:
    """Budgets that let none of these pods go."""
    return lambda units: [any(pod.name in names for pod in unit) for unit in units]


@pytest.mark.parametrize("size", [1, 2])
def test_a_group_spares_budgets_although_more_important_pods_have_to_leave(size: int) -> None:
    state = state_of(
        *(build.node(f"n{number}", cpu=size) for number in range(2)),
        *(low(f"guarded-{number}", on="n0") for number in range(size)),
        *(low(f"mid-{number}", on="n1", priority=1) for number in range(size)),
        build.group("new", size, priority=5),
        *(build.pod(f"new-{number}", group="new", priority=5) for number in range(size)),
    )
    found = searched(state, violators=spares("guarded-0", "guarded-1"))
    assert leaving(found) == [f"mid-{number}" for number in range(size)]


def test_as_few_budgets_as_possible_are_broken_when_some_must_be() -> None:
    state = state_of(
        *(build.node(f"n{number}", cpu=1) for number in range(3)),
        low("guarded-0", on="n0"),
        low("guarded-1", on="n1"),
        low("mid", on="n2", priority=1),
        build.group("new", 2, priority=5),
        *(build.pod(f"new-{number}", group="new", priority=5) for number in range(2)),
    )
    found = searched(state, violators=spares("guarded-0", "guarded-1"))
    assert isinstance(found, Candidate)
    assert found.cost.violations == 1
    assert "mid" in leaving(found)


@pytest.mark.parametrize("kind", ["group", "pod"])
def test_what_a_budget_allows_is_used_where_it_is_needed(kind: str) -> None:
    # The budget lets one of the two go, and only the node of the more important one is large enough.
    def one_may_go(units: list[tuple[Any, ...]]) -> list[bool]:
        guarded = [any(pod.name.startswith("guarded") for pod in unit) for unit in units]
        return [is_guarded and any(guarded[:index]) for index, is_guarded in enumerate(guarded)]

    new = [build.pod("new", cpu=2, priority=5, group="new" if kind == "group" else "")]
    state = state_of(
        build.node("n0", cpu=1),
        build.node("n1", cpu=2),
        build.node("n2", cpu=2),
        low("guarded-0", on="n0"),
        low("guarded-1", 2, on="n1", priority=1),
        low("mid", 2, on="n2", priority=2),
        *([build.group("new", 1, priority=5)] if kind == "group" else []),
        *new,
    )
    assert leaving(searched(state, violators=one_may_go)) == ["guarded-1"]


def test_a_group_leaves_whose_room_on_one_node_somebody_more_important_keeps_wherever_its_others_are() -> None:
    state = state_of(
        build.node("else", cpu=1),
        build.node("n0", cpu=2, labels={"wanted": "yes"}),
        build.group("v", 2, priority=0, leaves="all"),
        low("v-0", on="else", group="v"),
        low("v-1", on="n0", group="v"),
        low("more", on="n0", priority=1),
        build.pod("new", priority=5, ports=PORT, spec={"nodeSelector": {"wanted": "yes"}}),
    )
    assert leaving(searched(state)) == ["v-0", "v-1"]


def test_who_waits_for_a_gang_that_runs_in_one_domain_has_room_made_there() -> None:
    state = state_of(
        *(build.node(f"{rack}-0", cpu=2, labels={"rack": rack}) for rack in ("rack-a", "rack-b")),
        low("costly", on="rack-a-0", priority=1),
        low("cheap", 2, on="rack-b-0"),
        build.group("new", 2, priority=5, topology="rack"),
        build.pod("new-0", on="rack-a-0", group="new", priority=5),
        build.pod("new-1", group="new", priority=5),
    )
    assert leaving(searched(state)) == ["costly"]


def test_a_pod_leaves_that_has_what_its_node_offers_only_since_it_came() -> None:
    gpu = {"example.com/gpu": "1"}
    state = state_of(
        build.node("n0", cpu=4),
        build.pod("low", on="n0", requests=gpu),
        build.pod("new", priority=5, requests=gpu),
    )
    state.upsert_node(build.node("n0", cpu=4, resources=gpu))
    assert leaving(searched(state)) == ["low"]


def test_few_on_one_node_leave_for_many_rather_than_one_on_each_of_many_nodes() -> None:
    state = state_of(
        *(build.node(f"small-{number}", cpu=1) for number in range(4)),
        build.node("wide", cpu=4),
        *(low(f"small-{number}", on=f"small-{number}") for number in range(4)),
        *(low(f"wide-{number}", cpu, on="wide") for number, cpu in enumerate((2, 2))),
        build.group("g", 4, priority=5),
        *(build.pod(f"g-{number}", group="g", priority=5) for number in range(4)),
    )
    assert leaving(searched(state, "g")) == ["wide-0", "wide-1"]


def test_a_pod_stays_whose_node_no_longer_has_what_only_others_of_the_group_ask_for() -> None:
    gpu = {"example.com/gpu": "1"}
    state = state_of(
        build.node("n0", cpu=3, resources=gpu),
        build.node("n1", cpu=1, resources=gpu),
        build.pod("holder", on="n0", requests={"cpu": "1", **gpu}),
        low("plain", 2, on="n0", priority=1),
        build.pod("of-n1", on="n1", requests={"cpu": "1", **gpu}),
        build.group("g", 2, priority=5),
        build.pod("g-0", cpu=2, group="g", priority=5),
        build.pod("g-1", group="g", priority=5, requests={"cpu": "1", **gpu}),
    )
    state.upsert_node(build.node("n0", cpu=3))
    assert sorted(leaving(searched(state, "g"))) == ["of-n1", "plain"]
