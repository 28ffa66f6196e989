"""Among whom room is looked for: the lowest priorities that suffice, and whom budgets let go."""

from collections.abc import Sequence

import pytest

from scheduler.cache.cluster import ClusterState
from tests.scheduler.core import build
from tests.scheduler.preemption.test_victims import PORT, leaving, low, searched, spares, state_of


def _wanting_ports(priorities: Sequence[int], count: int) -> ClusterState:
    """A full node for each of these priorities, and a gang with a host port: nodes are not cleared by count for it."""
    return state_of(
        *(build.node(f"n{number}", cpu=1) for number in range(len(priorities))),
        *(low(f"low-{number}", on=f"n{number}", priority=priority) for number, priority in enumerate(priorities)),
        build.group("new", count, priority=5),
        *(build.pod(f"new-{number}", group="new", priority=5, ports=PORT) for number in range(count)),
    )


@pytest.mark.parametrize("priorities", [(3, 2, 1, 0), (0, 1, 2, 3), (2, 3, 0, 1)])
@pytest.mark.parametrize("count", [2, 3])
def test_no_higher_priorities_leave_for_a_gang_than_must(priorities: Sequence[int], count: int) -> None:
    expected = [f"low-{number}" for number, priority in enumerate(priorities) if priority < count]
    assert leaving(searched(_wanting_ports(priorities, count))) == expected


@pytest.mark.parametrize("priorities", [(0, 2, 1, 1), (0, 1, 2, 1), (0, 1, 1, 2)])
def test_nor_do_they_where_budgets_spare_some(priorities: Sequence[int]) -> None:
    expected = [f"low-{number}" for number, priority in enumerate(priorities) if priority == 1]
    assert leaving(searched(_wanting_ports(priorities, 2), violators=spares("low-0"))) == expected


def test_a_lone_pod_breaks_fewer_budgets_rather_than_take_lower_priorities() -> None:
    state = state_of(
        *(build.node(f"n{number}", cpu=2) for number in range(2)),
        *(low(f"low-{number}", on="n0") for number in range(2)),
        low("more", 2, on="n1", priority=1),
        build.pod("new", cpu=2, priority=5),
    )
    assert leaving(searched(state, violators=spares("low-0", "low-1", "more"))) == ["more"]
