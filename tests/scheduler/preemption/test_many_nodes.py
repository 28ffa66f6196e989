"""A lone pod on more nodes than are compared one by one: the promising ones are among those that are."""

from typing import Any

from api.pod import Pod
from scheduler.cache.cluster import ClusterState
from scheduler.preemption.domain_dry_run import MOST_COMPARED
from tests.placement.case import HOSTNAME, apart, selector, term
from tests.scheduler.core import build
from tests.scheduler.preemption.test_victims import PORT, leaving, low, searched, state_of

MANY = MOST_COMPARED + 2
LAST = f"n{MANY - 1}"
X = {"app": "x"}


def _cluster(elsewhere: list[dict[str, Any]], on_last: list[Pod], **new: Any) -> ClusterState:
    """Nodes of four cores with such pods on all of them but the last, and a pod that wants in."""
    nodes = [build.node(f"n{number}", cpu=4) for number in range(MANY)]
    others = [
        low(f"low-{node}-{number}", on=f"n{node}", **more)
        for node in range(MANY - 1)
        for number, more in enumerate(elsewhere)
    ]
    return state_of(*nodes, *others, *on_last, build.pod("new", priority=5, **new))


def test_the_node_with_the_least_important_pod_is_found_wherever_it_is() -> None:
    state = _cluster([{"cpu": 4, "priority": 1}], [low("least", 4, on=LAST)], cpu=4)
    assert leaving(searched(state)) == ["least"]


def test_so_is_the_node_where_fewest_take_the_room_of_a_pod_with_a_host_port() -> None:
    state = _cluster([{"cpu": 2}, {"cpu": 2}], [low("only", 4, on=LAST)], cpu=4, ports=PORT)
    assert leaving(searched(state)) == ["only"]


def test_who_leaves_room_for_the_pod_is_not_in_its_way_there() -> None:
    on_last = [low("web", on=LAST, ports=PORT), low("beside", on=LAST), low("more", on=LAST)]
    state = _cluster([{"cpu": 4, "priority": 1}], on_last, cpu=1, ports=PORT)
    assert leaving(searched(state)) == ["web"]


def test_so_is_the_node_with_the_fewest_whom_the_pod_keeps_away_from() -> None:
    rule = apart(term(selector(**X), HOSTNAME))
    state = _cluster([{"labels": X}, {"labels": X}], [low("only", on=LAST, labels=X)], spec=rule)
    assert leaving(searched(state)) == ["only"]


def test_so_is_the_node_with_the_fewest_who_keep_away_from_the_pod() -> None:
    rule = apart(term(selector(**X), HOSTNAME))
    state = _cluster([{"spec": rule}, {"spec": rule}], [low("only", on=LAST, spec=rule)], labels=X)
    assert leaving(searched(state)) == ["only"]


def test_a_whole_group_is_not_cheaper_because_its_node_has_room_for_a_second_pod() -> None:
    # Groups of three against two pods, of which only one is as important.
    count = MANY + 1 - (MANY + 1) % 3
    nodes = [build.node(f"n{number}", cpu=4) for number in range(count)]
    groups = [build.group(f"g{number}", 3, priority=1, leaves="all") for number in range(count // 3)]
    pods = [low(f"low-{number}", 4, on=f"n{number}", group=f"g{number // 3}") for number in range(count)]
    two = [low("two-0", 1, on="last"), low("two-1", 1, on="last", priority=1)]
    new = build.pod("new", cpu=2, priority=5)
    assert leaving(searched(state_of(*nodes, build.node("last", cpu=2), *groups, *pods, *two, new))) == [
        "two-0",
        "two-1",
    ]
