"""Who leaves when there is a choice, one small cluster each."""

from typing import Any

import pytest

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
    found = searched(state)
    assert isinstance(found, Refusal)
    assert (found.code, found.scheduled) == (RefusalCode.TOO_FEW, 1)


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


@pytest.mark.parametrize(("fuller", "other"), [("rack-a", "rack-b"), ("rack-b", "rack-a")])
def test_of_domains_that_cost_equal_victims_the_one_that_is_fuller_afterwards_is_taken(fuller: str, other: str) -> None:
    state = state_of(
        *(
            build.node(f"{rack}-{number}", cpu=2, labels={"rack": rack})
            for rack in (fuller, other)
            for number in (0, 1)
        ),
        build.node(f"{other}-2", cpu=2, labels={"rack": other}, unschedulable=True),
        # When the victims started decides only where all else is equal.
        low(f"low-{fuller}", 2, on=f"{fuller}-0", created="2026-01-01T00:00:00Z"),
        low(f"low-{other}", 2, on=f"{other}-0", created="2026-01-01T09:00:00Z"),
        build.group("new", 3, priority=5, topology="rack"),
        *(build.pod(f"new-{number}", group="new", priority=5) for number in range(3)),
    )
    assert leaving(searched(state)) == [f"low-{fuller}"]
