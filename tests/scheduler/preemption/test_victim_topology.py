"""Who leaves for pods that mind who else is there: affinity, anti-affinity, spreading, host ports, volumes."""

from typing import Any

import pytest

from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode
from tests.scheduler.core import build
from tests.scheduler.preemption.test_victims import leaving, low, searched, state_of

HOST, ZONE = "kubernetes.io/hostname", "zone"


def term(app: str, key: str = HOST) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def keeps_off(app: str, key: str = HOST) -> dict[str, Any]:
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(app, key)]}}}


def near(app: str, key: str = HOST) -> dict[str, Any]:
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(app, key)]}}}


def evenly(app: str, key: str = ZONE) -> dict[str, Any]:
    one = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**one, "labelSelector": {"matchLabels": {"app": app}}}]}


def gang(size: int, spec: dict[str, Any], *, need: int | None = None, **more: Any) -> list[Any]:
    pods = [
        build.pod(f"new-{i}", group="new", priority=5, labels={"app": "new"}, spec=spec, **more) for i in range(size)
    ]
    return [build.group("new", need or size, priority=5), *pods]


def after(state: ClusterState, candidate: Candidate | Refusal) -> dict[str, str]:
    """Where the scheduler puts the new ones once the victims have left."""
    assert isinstance(candidate, Candidate), candidate
    for pod in candidate.pods:
        state.remove_pod(pod.namespace, pod.name, pod.uid)
    return dict(decide(state, candidate.key).bindings)


@pytest.mark.parametrize("whose", ["preemptor", "victim"])
def test_51_whom_anti_affinity_speaks_of_leaves_although_there_is_room(whose: str) -> None:
    mine, theirs = (keeps_off("loud"), {}) if whose == "preemptor" else ({}, keeps_off("new"))
    state = state_of(
        build.node("n0", cpu=8),
        low("other", on="n0"),
        low("loud", on="n0", labels={"app": "loud"}, spec=theirs),
        build.pod("new", priority=5, labels={"app": "new"}, spec=mine),
    )
    assert leaving(searched(state)) == ["loud"]


def test_who_is_in_the_same_zone_leaves_from_another_node() -> None:
    state = state_of(
        build.node("n0", cpu=2, labels={ZONE: "a"}),
        build.node("n1", cpu=2, labels={ZONE: "a"}),
        low("full", 2, on="n0"),
        low("loud", on="n1", labels={"app": "loud"}),
        *gang(1, keeps_off("loud", ZONE)),
    )
    found = searched(state)
    assert leaving(found) == ["loud"]
    assert after(state, found) == {"uid-of-new-0": "n1"}


def test_members_that_keep_off_each_other_clear_a_node_each() -> None:
    nodes = [build.node(f"n{number}", cpu=2) for number in range(4)]
    state = state_of(*nodes, *(low(f"low-{i}", on=f"n{i // 2}") for i in range(8)), *gang(3, keeps_off("new"), need=3))
    found = searched(state)
    assert isinstance(found, Candidate)
    assert len({node for _, node in found.places}) == 3
    assert len(found.pods) == 3
    assert len(set(after(state, found).values())) == 3


def test_those_whom_affinity_needs_stay_though_they_matter_less() -> None:
    state = state_of(
        *(build.node(f"n{number}", cpu=2) for number in range(3)),
        low("anchor", on="n1", labels={"app": "anchor"}),
        *(low(f"low-{i}", on=f"n{i}") for i in range(3)),
        *(low(f"more-{i}", on=f"n{i}") for i in (0, 2)),
        *gang(1, near("anchor")),
    )
    found = searched(state)
    assert leaving(found) == ["low-1"]
    assert after(state, found) == {"uid-of-new-0": "n1"}


def test_a_whole_group_with_a_needed_pod_stays_whole() -> None:
    state = state_of(
        build.node("n0", cpu=2),
        build.group("v", 2, priority=0, leaves="all"),
        low("v-0", group="v", labels={"app": "anchor"}),
        low("v-1", group="v"),
        *gang(1, near("anchor")),
    )
    assert isinstance(searched(state), Refusal)


def test_the_first_of_a_kind_may_start_where_others_of_it_have_left() -> None:
    state = state_of(
        build.node("n0", cpu=2, labels={ZONE: "a"}),
        build.node("n1", cpu=1, labels={ZONE: "b"}),
        low("low-0", on="n0"),
        low("low-1", on="n0"),
        low("kin", on="n1", labels={"app": "new"}),
        *gang(2, near("new", ZONE)),
    )
    found = searched(state)
    # In zone b is room for one only, so the kin there must go as well, or the two could not begin in zone a.
    assert leaving(found) == ["kin", "low-0", "low-1"]
    assert set(after(state, found).values()) == {"n0"}


def test_pods_that_are_spread_take_the_same_from_each_zone() -> None:
    nodes = [build.node(f"n{number}", cpu=4, labels={ZONE: f"z{number % 3}"}) for number in range(3)]
    state = state_of(*nodes, *(low(f"low-{i}", on=f"n{i % 3}") for i in range(12)), *gang(6, evenly("new")))
    found = searched(state)
    assert isinstance(found, Candidate)
    assert sorted(pod.node_name for pod in found.pods) == ["n0", "n0", "n1", "n1", "n2", "n2"]
    assert len(after(state, found)) == 6


def test_a_pod_that_makes_a_zone_too_full_leaves_and_one_that_does_not_stays() -> None:
    state = state_of(
        build.node("n0", cpu=8, labels={ZONE: "a"}),
        build.node("n1", cpu=1, labels={ZONE: "b"}),
        low("kin-0", on="n0", labels={"app": "new"}),
        low("kin-1", on="n0", labels={"app": "new"}),
        build.pod("boss", on="n1", priority=9),
        *gang(1, evenly("new")),
    )
    assert len(leaving(searched(state))) == 2


def test_holders_of_a_host_port_leave_and_their_neighbours_stay() -> None:
    port = [{"hostPort": 80, "containerPort": 80}]
    state = state_of(
        *(build.node(f"n{number}", cpu=8) for number in range(2)),
        *(low(f"web-{number}", on=f"n{number}", ports=port) for number in range(2)),
        *(low(f"other-{number}", on=f"n{number}") for number in range(2)),
        *gang(2, {}, ports=port),
    )
    found = searched(state)
    assert leaving(found) == ["web-0", "web-1"]
    assert sorted(after(state, found).values()) == ["n0", "n1"]


def test_a_lone_pod_with_a_host_port_goes_where_it_costs_least() -> None:
    port = [{"hostPort": 80, "containerPort": 80}]
    state = state_of(
        *(build.node(f"n{number}", cpu=8) for number in range(2)),
        low("web-0", on="n0", ports=port, priority=3),
        low("web-1", on="n1", ports=port, priority=1),
        build.pod("new", priority=5, ports=port),
    )
    assert leaving(searched(state)) == ["web-1"]


def test_a_pod_whose_claim_is_missing_evicts_nobody() -> None:
    volume = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "nowhere"}}]}
    state = state_of(build.node("n0", cpu=1), low("a"), build.pod("new", priority=5, spec=volume))
    assert isinstance(searched(state), Refusal)


def test_those_who_are_leaving_already_keep_nobody_off() -> None:
    state = state_of(
        build.node("n0", cpu=8),
        low("loud", on="n0", labels={"app": "loud"}, deleted=True),
        low("other", on="n0"),
        build.pod("new", priority=5, labels={"app": "new"}, spec=keeps_off("loud")),
    )
    found = searched(state)
    assert isinstance(found, Refusal)
    assert found.waits


def test_a_more_important_pod_in_the_way_saves_everybody() -> None:
    state = state_of(
        build.node("n0", cpu=1),
        low("a", on="n0"),
        build.node("n1", cpu=8),
        build.pod("boss", on="n0", priority=9, cpu=0, labels={"app": "loud"}),
        build.pod("boss-1", on="n1", priority=9, cpu=0, labels={"app": "loud"}),
        build.pod("new", priority=5, spec=keeps_off("loud")),
    )
    assert isinstance(searched(state), Refusal)


def test_somebody_who_may_stay_because_another_one_stays_is_not_forgotten() -> None:
    kin: dict[str, Any] = {"labels": {"app": "new"}}
    state = state_of(
        build.node("n0", cpu=1),
        build.node("n1", cpu=1),
        low("keeper", 0, on="n0", created="2026-01-03T00:00:00Z", spec=keeps_off("new"), **kin),
        low("friend", 0, on="n0", created="2026-01-02T00:00:00Z", **kin),
        low("far", on="n1", created="2026-01-01T00:00:00Z", **kin),
        *gang(1, near("new")),
    )
    assert leaving(searched(state)) == ["keeper"]


def test_members_that_differ_in_their_labels_alone_are_told_apart_where_a_rule_speaks_of_these() -> None:
    rule = keeps_off("x")
    state = state_of(
        build.node("n0", cpu=2, labels={HOST: "n0"}),
        build.node("n1", cpu=1, labels={HOST: "n1"}),
        low("low-0", 2, on="n0"),
        low("low-1", 1, on="n1"),
        build.group("new", 3, priority=5),
        *(
            build.pod(f"new-{number}", group="new", priority=5, labels={"app": app}, spec=rule)
            for number, app in enumerate("xyy")
        ),
    )
    found = searched(state)
    assert leaving(found) == ["low-0", "low-1"]
    assert isinstance(found, Candidate)
    assert dict(found.places) == {"uid-of-new-0": "n1", "uid-of-new-1": "n0", "uid-of-new-2": "n0"}


def test_pods_on_nodes_that_do_not_count_for_a_spread_make_no_zone_emptier_by_leaving() -> None:
    state = state_of(
        build.node("n0", cpu=2, labels={ZONE: "a", "disk": "fast"}),
        build.node("n1", cpu=2, labels={ZONE: "a"}),
        build.node("n2", cpu=2, labels={ZONE: "b", "disk": "fast"}),
        low("low", 2, on="n0"),
        low("kin", on="n1", labels={"app": "new"}),
        build.pod("boss", cpu=2, on="n2", priority=9),
        *gang(2, {**evenly("new"), "nodeSelector": {"disk": "fast"}}),
    )
    assert searched(state) == Refusal(RefusalCode.TOO_FEW, need=2, scheduled=1, remaining=1)


def test_a_pod_stays_beside_those_that_spread_though_a_larger_group_cannot() -> None:
    rule = evenly("new")
    rule["topologySpreadConstraints"][0]["maxSkew"] = 2
    state = state_of(
        build.node("n0", cpu=8, labels={ZONE: "a"}),
        build.node("n1", cpu=1, labels={ZONE: "b"}),
        build.group("pair", 2, priority=1, leaves="all"),
        *(low(f"pair-{number}", on="n0", group="pair", labels={"app": "new"}) for number in range(2)),
        low("kin", on="n0", labels={"app": "new"}),
        build.pod("boss", on="n1", priority=9),
        *gang(1, rule),
    )
    assert leaving(searched(state)) == ["pair-0", "pair-1"]


def test_the_first_of_a_kind_starts_beside_those_of_another_that_it_spreads_over() -> None:
    state = state_of(
        build.node("n0", cpu=8, labels={ZONE: "a"}),
        build.node("n1", cpu=1, labels={ZONE: "b"}),
        *(low(f"other-{number}", on="n0", labels={"app": "other"}) for number in range(2)),
        build.pod("boss", on="n1", priority=9),
        *gang(1, near("new", ZONE) | evenly("other")),
    )
    assert len(leaving(searched(state))) == 1
