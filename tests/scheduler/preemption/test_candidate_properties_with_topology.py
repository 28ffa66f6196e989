"""Candidates for pods that mind who else is there, judged by the slow reference: feasible, minimal, and found when there is one."""

from dataclasses import replace
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.plugins.gang_scheduling import missing_count
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate, Refusal
from tests.scheduler.core import build
from tests.scheduler.core.topology_reference import HOSTNAME, REQUIRED, Being, Cluster, refusal

APPS = ("x", "y")
KEYS = (HOSTNAME, "zone")


class Resident(NamedTuple):
    """A pod that runs already."""

    node: int
    cpu: int
    priority: int
    app: str
    rule: dict[str, Any]


class Case(NamedTuple):
    """A cluster and a group that wants in; all its pods are alike."""

    nodes: list[int]
    residents: list[Resident]
    size: int
    need: int
    cpu: int
    app: str
    rule: dict[str, Any]


@st.composite
def rules(draw: st.DrawFn, kinds: tuple[str, ...]) -> dict[str, Any]:
    kind = draw(st.sampled_from(kinds))
    chosen = {
        "topologyKey": draw(st.sampled_from(KEYS)),
        "labelSelector": {"matchLabels": {"app": draw(st.sampled_from(APPS))}},
    }
    if kind == "spread":
        return {
            "topologySpreadConstraints": [
                {**chosen, "maxSkew": draw(st.integers(1, 2)), "whenUnsatisfiable": "DoNotSchedule"}
            ]
        }
    return {"affinity": {kind: {REQUIRED: [chosen]}}} if kind else {}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    nodes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    resident = st.builds(
        Resident,
        st.integers(0, len(nodes) - 1),
        st.integers(0, 2),
        st.integers(0, 4),
        st.sampled_from(APPS),
        rules(("", "", "", "podAntiAffinity")),
    )
    size = draw(st.integers(1, 4))
    return Case(
        nodes,
        draw(st.lists(resident, max_size=8)),
        size,
        draw(st.integers(1, size)),
        draw(st.integers(1, 2)),
        draw(st.sampled_from(APPS)),
        draw(rules(("podAffinity", "podAntiAffinity", "spread"))),
    )


PRIORITY = 3


def cluster(case: Case, without: frozenset[str] = frozenset()) -> ClusterState:
    state = ClusterState(frozenset({"tutti"}))
    for number, cpu in enumerate(case.nodes):
        state.upsert_node(build.node(f"n{number}", cpu=cpu, labels={"zone": f"z{number % 2}"}))
    for index, one in enumerate(case.residents):
        if f"low-{index}" not in without:
            pod = build.pod(
                f"low-{index}",
                cpu=one.cpu,
                on=f"n{one.node}",
                priority=one.priority,
                labels={"app": one.app},
                spec=one.rule,
            )
            state.upsert_pod(pod)
    state.upsert_group(build.group("new", case.need, priority=PRIORITY))
    for index in range(case.size):
        pod = build.pod(
            f"new-{index}", cpu=case.cpu, group="new", priority=PRIORITY, labels={"app": case.app}, spec=case.rule
        )
        state.upsert_pod(pod)
    return state


def outcome(state: ClusterState) -> Candidate | Refusal | None:
    """None when the group finds a place without anybody leaving."""
    key = build.group_key("new")
    members = state.item(key)
    assert members is not None
    if decide(state, key).bindings:
        return None
    return dry_run_preemption(state, members)


def can_come(case: Case, nodes: list[str], gone: set[str]) -> bool:
    """Whether the new pods may come to these nodes, in some order, once these have left."""
    free = dict(enumerate(case.nodes))
    residents = [(f"low-{index}", one) for index, one in enumerate(case.residents) if f"low-{index}" not in gone]
    for _, one in residents:
        free[one.node] -= one.cpu
    for node in nodes:
        free[int(node[1:])] -= case.cpu
    if any(free[int(node[1:])] < 0 for node in nodes):
        return False
    labels = {f"n{number}": {HOSTNAME: f"n{number}", "zone": f"z{number % 2}"} for number in range(len(case.nodes))}
    pods = [Being(name, build.NAMESPACE, {"app": one.app}, one.rule, f"n{one.node}") for name, one in residents]
    there, waiting = Cluster(labels, pods), list(nodes)
    while waiting:
        come = next((node for node in waiting if not refusal(_new(case), node, there)), None)
        if come is None:
            return False
        waiting.remove(come)
        there.pods.append(replace(_new(case), node=come))
    return True


def _new(case: Case) -> Being:
    return Being("new", build.NAMESPACE, {"app": case.app}, case.rule)


THOROUGH = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))


@THOROUGH
@given(cases())
def test_a_plan_holds_and_nobody_is_refused_whom_others_could_make_room_for(case: Case) -> None:
    state = cluster(case)
    found = outcome(state)
    if isinstance(found, Candidate):
        is_feasible_and_minimal(case, found)
        serves_its_preemptor(state, found)
    elif found is not None:
        is_hopeless(case)


def is_feasible_and_minimal(case: Case, found: Candidate) -> None:
    nodes, leaving = [node for _, node in found.places], {pod.name for pod in found.pods}
    assert leaving
    assert all(pod.profile.priority < PRIORITY for pod in found.pods)
    assert can_come(case, nodes, leaving)
    for kept in leaving:
        assert not can_come(case, nodes, leaving - {kept}), f"{kept} need not leave"


def serves_its_preemptor(state: ClusterState, found: Candidate) -> None:
    """Once the victims have left all planned pods get a place."""
    places = {uid: (node, _demand(state, uid)) for uid, node in found.places}
    state.nominator.nominate(found.key, PRIORITY, places, frozenset(), 0.0)
    for pod in found.pods:
        state.remove_pod(pod.namespace, pod.name, pod.uid)
    assert len(decide(state, found.key).bindings) >= len(found.places)


def is_hopeless(case: Case) -> None:
    low = frozenset(f"low-{index}" for index, one in enumerate(case.residents) if one.priority < PRIORITY)
    emptied = cluster(case, without=low)
    members = emptied.item(build.group_key("new"))
    assert members is not None
    assert len(decide(emptied, members.key).bindings) < missing_count(members)


def _demand(state: ClusterState, uid: str) -> Any:
    pod = state.pod(uid)
    assert pod is not None
    return pod.demand
