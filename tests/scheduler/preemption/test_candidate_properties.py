"""Whatever the cluster looks like: a candidate is complete, feasible, minimal and touches nobody it must not touch."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import PodRecord
from scheduler.preemption.dry_run import dry_run_preemption as search
from scheduler.preemption.victims import Candidate, Refusal
from tests.scheduler.core import build

MOST_UNITS = 12


class Resident(NamedTuple):
    """A pod that runs already; `gang` 0 stands for none."""

    node: int
    cpu: int
    priority: int
    gang: int
    protected: bool


class Case(NamedTuple):
    """A cluster and a group that wants in."""

    nodes: list[int]
    residents: list[Resident]
    gang_priorities: list[int]
    gang_modes: list[str]
    priority: int
    size: int
    need: int
    cpu: int
    racks: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    nodes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    resident = st.builds(
        Resident,
        st.integers(0, len(nodes) - 1),
        st.integers(1, 3),
        st.integers(0, 4),
        st.integers(0, 2),
        st.booleans(),
    )
    size = draw(st.integers(1, 4))
    return Case(
        nodes,
        draw(st.lists(resident, max_size=MOST_UNITS)),
        draw(st.lists(st.integers(0, 4), min_size=2, max_size=2)),
        draw(st.lists(st.sampled_from(["all", "single"]), min_size=2, max_size=2)),
        draw(st.integers(1, 4)),
        size,
        draw(st.integers(1, size)),
        draw(st.integers(1, 4)),
        draw(st.booleans()),
    )


def cluster(case: Case, *, only_rack: int | None = None) -> ClusterState:
    """The cluster of a case; with `only_rack` the nodes of the other rack are in none."""
    state = ClusterState(frozenset({"tutti"}))
    for number, cpu in enumerate(case.nodes):
        labels = {"rack": f"r{number % 2}"} if only_rack in (None, number % 2) else {}
        state.upsert_node(build.node(f"n{number}", cpu=cpu, labels=labels))
    for number in (1, 2):
        state.upsert_group(
            build.group(f"g{number}", 1, priority=case.gang_priorities[number - 1], leaves=case.gang_modes[number - 1])
        )
    for index, resident in enumerate(case.residents):
        gang: dict[str, Any] = {"group": f"g{resident.gang}"} if resident.gang else {}
        state.upsert_pod(
            build.pod(
                f"{'safe' if resident.protected else 'low'}-{index}",
                cpu=resident.cpu,
                on=f"n{resident.node}",
                priority=resident.priority,
                created=f"2026-01-01T00:{index:02}:00Z",
                **gang,
            )
        )
    topology: dict[str, Any] = {"topology": "rack"} if case.racks else {}
    state.upsert_group(build.group("new", case.need, priority=case.priority, **topology))
    for index in range(case.size):
        state.upsert_pod(build.pod(f"new-{index}", cpu=case.cpu, group="new", priority=case.priority))
    return state


def protects(units: list[tuple[PodRecord, ...]]) -> list[bool]:
    return [any(pod.name.startswith("safe") for pod in unit) for unit in units]


def outcome(state: ClusterState, *, budgets: bool = True) -> Candidate | Refusal:
    members = state.item(build.group_key("new"))
    assert members is not None
    return search(state, members, protects if budgets else None)


def units_below(case: Case) -> list[tuple[int, list[Resident], bool]]:
    """(priority, pods, protected) of every unit that may be touched."""
    found: list[tuple[int, list[Resident], bool]] = []
    for number in (1, 2):
        pods = [resident for resident in case.residents if resident.gang == number]
        if pods and case.gang_modes[number - 1] == "all":
            found.append((case.gang_priorities[number - 1], pods, any(pod.protected for pod in pods)))
        elif pods:
            found += [(case.gang_priorities[number - 1], [pod], pod.protected) for pod in pods]
    found += [(pod.priority, [pod], pod.protected) for pod in case.residents if not pod.gang]
    return [unit for unit in found if unit[0] < case.priority]


def fits(case: Case, leaving: list[Resident], rack: int | None = None) -> int:
    """How many of the new pods fit at best when these have left: equal pods, so a sum over nodes (of one rack)."""
    gone = list(map(id, leaving))
    free = list(case.nodes)
    for resident in case.residents:
        if id(resident) not in gone:
            free[resident.node] -= resident.cpu
    places = [max(cpu, 0) // case.cpu for cpu in free]
    if rack is not None:
        return min(case.size, sum(places[rack::2]))
    if case.racks:
        return min(case.size, max(sum(places[rack::2]) for rack in range(min(2, len(places)))))
    return min(case.size, sum(places))


def is_full(case: Case) -> bool:
    """Whether there is anything to plan at all."""
    return fits(case, []) < case.need


VIOLATION_OF_HIGHER_PRIORITY = Case(
    nodes=[2, 2],
    residents=[
        *[Resident(node=0, cpu=1, priority=0, gang=0, protected=False)] * 5,
        Resident(node=0, cpu=1, priority=0, gang=0, protected=True),
        Resident(node=0, cpu=1, priority=0, gang=1, protected=False),
        Resident(node=1, cpu=1, priority=0, gang=2, protected=True),
    ],
    gang_priorities=[1, 1],
    gang_modes=["all", "all"],
    priority=2,
    size=1,
    need=1,
    cpu=2,
    racks=False,
)
"""One protected pod has to leave either way: alone on node 1, or of priority 0 with seven others on node 0, one of which has 1."""

DEARER_THAN_THE_LEAST_SUM = Case(
    nodes=[6, 2],
    residents=[
        Resident(node=0, cpu=1, priority=0, gang=0, protected=False),
        Resident(node=0, cpu=1, priority=0, gang=1, protected=True),
        *[Resident(node=0, cpu=1, priority=0, gang=2, protected=False)] * 4,
        Resident(node=0, cpu=2, priority=0, gang=1, protected=True),
        Resident(node=0, cpu=3, priority=2, gang=0, protected=False),
        *[Resident(node=1, cpu=1, priority=0, gang=1, protected=False)] * 2,
        Resident(node=1, cpu=1, priority=0, gang=2, protected=False),
        Resident(node=1, cpu=2, priority=0, gang=0, protected=True),
    ],
    gang_priorities=[1, 0],
    gang_modes=["single", "all"],
    priority=2,
    size=1,
    need=1,
    cpu=1,
    racks=False,
)
"""On node 1 giving up both pods of gang 1 would keep gang 2, of five pods: the more important are given back first there, so one of
them stays, gang 2 leaves, and node 0 is cheaper, where the protected pod has 1."""

EXHAUSTIVE = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))


@EXHAUSTIVE
@given(cases())
def test_there_is_a_plan_exactly_when_leaving_units_make_room_for_enough(case: Case) -> None:
    if not is_full(case):
        return
    everybody = [pod for _, pods, _ in units_below(case) for pod in pods]
    most = fits(case, everybody)
    found = outcome(cluster(case))
    assert isinstance(found, Candidate) == (most >= case.need)
    if isinstance(found, Candidate):
        assert len(found.places) == most


@EXHAUSTIVE
@given(cases())
def test_a_plan_is_feasible_whole_and_touches_lower_priorities_only(case: Case) -> None:
    if not is_full(case):
        return
    state = cluster(case)
    found = outcome(state)
    if not isinstance(found, Candidate):
        return
    leaving = {pod.uid for pod in found.pods}
    free = {f"n{number}": cpu for number, cpu in enumerate(case.nodes)}
    for index, resident in enumerate(case.residents):
        uid = f"uid-of-{'safe' if resident.protected else 'low'}-{index}"
        if uid not in leaving:
            free[f"n{resident.node}"] -= resident.cpu
    for _, node in found.places:
        free[node] -= case.cpu
    for node in {node for _, node in found.places}:
        assert free[node] >= 0
    assert len({uid for uid, _ in found.places}) == len(found.places)
    for victim in found.victims:
        assert victim.unit.priority < case.priority
        if victim.unit.group is not None:
            number = int(victim.unit.group.name[1:])
            assert len(victim.pods) == sum(resident.gang == number for resident in case.residents)
    if case.racks:
        assert len({int(node[1:]) % 2 for _, node in found.places}) == 1


@EXHAUSTIVE
@given(cases())
def test_giving_back_any_one_unit_breaks_the_plan(case: Case) -> None:
    if not is_full(case):
        return
    found = outcome(cluster(case))
    if not isinstance(found, Candidate):
        return
    placed = [node for _, node in found.places]
    for kept in found.victims:
        stays = {pod.uid for pod in kept.pods}
        leaving = {pod.uid for pod in found.pods} - stays
        free = {f"n{number}": cpu for number, cpu in enumerate(case.nodes)}
        for index, resident in enumerate(case.residents):
            if f"uid-of-{'safe' if resident.protected else 'low'}-{index}" not in leaving:
                free[f"n{resident.node}"] -= resident.cpu
        for node in placed:
            free[node] -= case.cpu
        assert any(free[node] < 0 for node in placed), f"{kept} need not leave"


@EXHAUSTIVE
@given(cases())
@example(VIOLATION_OF_HIGHER_PRIORITY)
@example(DEARER_THAN_THE_LEAST_SUM)
def test_no_budget_is_broken_without_need_and_then_no_lower_priority_suffices(case: Case) -> None:
    if not is_full(case):
        return
    found = outcome(cluster(case))
    if not isinstance(found, Candidate):
        return
    candidates: list[tuple[int | None, Candidate]] = [(None, found)]
    if case.racks:
        alone = [(rack, outcome(cluster(case, only_rack=rack))) for rack in range(min(2, len(case.nodes)))]
        candidates = [
            (rack, candidate)
            for rack, candidate in alone
            if isinstance(candidate, Candidate) and len(candidate.places) == len(found.places)
        ]
    for rack, candidate in candidates:
        lowest = lowest_without_violators(case, rack, len(candidate.places))
        if lowest is None:
            assert candidate.cost.violations
            highest = max(victim.unit.priority for victim in candidate.victims if victim.violates_budget)
            lowest = lowest_of_violators(case, rack, len(candidate.places))
            assert lowest is not None
            if highest > lowest and len(candidate.places) == 1:
                assert_cheapest_node(case, rack, candidate, highest)
            elif highest > lowest:
                # As in kube-scheduler: the number of violations, the highest priority and the sum of all victims come first.
                assert weight(candidate) < least_weight(case, rack, len(candidate.places), up_to=lowest)
        else:
            assert (candidate.cost.violations, candidate.cost.top_priority) == (0, lowest)
    assert found.cost == min(candidate.cost for _, candidate in candidates)


def assert_cheapest_node(case: Case, rack: int | None, candidate: Candidate, highest: int) -> None:
    """Its node takes a protected one of that priority, and no other node alone costs less.

    What a node alone costs need not be the least that could leave there: as in kube-scheduler the more important are given back
    first, whatever else has to leave for it.
    """
    ((_, chosen),) = candidate.places
    for number in range(len(case.nodes)):
        alone = case._replace(nodes=[cpu if each == number else 0 for each, cpu in enumerate(case.nodes)])
        if chosen == f"n{number}":
            assert highest == lowest_of_violators(alone, rack, 1)
            continue
        other = outcome(cluster(alone, only_rack=rack))
        assert isinstance(other, Refusal) or candidate.cost <= other.cost


def lowest_without_violators(case: Case, rack: int | None, wanted: int) -> int | None:
    """The lowest priority up to which enough may leave whom no budget protects; None when there is no such priority."""
    return lowest_level(case, rack, wanted, protected=False)


def lowest_of_violators(case: Case, rack: int | None, wanted: int) -> int | None:
    """The lowest priority up to which enough protected ones leave beside everybody whom no budget protects."""
    return lowest_level(case, rack, wanted, protected=True)


Weight = tuple[int, int, int]
"""Violations in pods, the highest priority, the sum of all priorities: each victim's priority plus one, so that all count."""


def weight(candidate: Candidate) -> Weight:
    victims = candidate.victims
    return weight_of(
        [(victim.unit.priority, len(victim.pods), victim.violates_budget) for victim in victims],
    )


def weight_of(victims: Sequence[tuple[int, int, bool]]) -> Weight:
    return (
        sum(size for _, size, is_violation in victims if is_violation),
        max(priority for priority, _, _ in victims),
        sum((priority + 1) * size for priority, size, _ in victims),
    )


def least_weight(case: Case, rack: int | None, wanted: int, *, up_to: int) -> Weight:
    """Of all sets of units that make room for so many and have no protected one above that priority."""
    units = [unit for unit in units_below(case) if not unit[2] or unit[0] <= up_to]
    chosen = (each for count in range(1, len(units) + 1) for each in combinations(units, count))
    return min(
        weight_of([(priority, len(pods), is_safe) for priority, pods, is_safe in each])
        for each in chosen
        if fits(case, [pod for _, pods, _ in each for pod in pods], rack) >= wanted
    )


def lowest_level(case: Case, rack: int | None, wanted: int, *, protected: bool) -> int | None:
    units = units_below(case)
    for level in sorted({priority for priority, _, is_safe in units if is_safe is protected}):
        leaving = [
            pod
            for priority, pods, is_safe in units
            if (priority <= level if is_safe is protected else protected)
            for pod in pods
        ]
        if fits(case, leaving, rack) >= wanted:
            return level
    return None
