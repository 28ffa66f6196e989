"""Which pods a StatefulSet gets or loses next."""

import datetime
from typing import Any

import pytest

from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.statefulsets.plan import Plan, Revisions, plan_pods, scaled
from tests.localcluster.statefulsets.builders import NEW, OLD, pod, stateful_set

NOW = datetime.datetime(2026, 1, 1, 0, 1, tzinfo=datetime.UTC)
SETTLED = Revisions(NEW, NEW)
ROLLING = Revisions(OLD, NEW)


def plan(pods: list[Pod], revisions: Revisions = SETTLED, *, parallel: bool = False, **spec: Any) -> Plan:
    return plan_pods(stateful_set(parallel=parallel, **spec), pods, revisions, NOW)


def created(made: Plan) -> list[tuple[int, str]]:
    return [(each.ordinal, each.revision) for each in made.create]


def deleted(made: Plan) -> list[str]:
    return [each.metadata.name for each in made.delete]


def rolling(**settings: Any) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": settings}


def test_an_ordered_set_makes_one_pod_at_a_time() -> None:
    assert created(plan([], replicas=3)) == [(0, NEW)]
    assert created(plan([pod(0, ready=False)], replicas=3)) == []
    assert created(plan([pod(0)], replicas=3)) == [(1, NEW)]


def test_a_parallel_set_makes_all_at_once() -> None:
    assert created(plan([], parallel=True, replicas=3)) == [(0, NEW), (1, NEW), (2, NEW)]


def test_numbering_starts_where_it_is_told_to() -> None:
    made = plan([pod(0), pod(2)], parallel=True, replicas=2, ordinals={"start": 1})
    assert (created(made), deleted(made)) == ([(1, NEW)], ["web-0"])


def test_pods_with_other_names_are_left_alone() -> None:
    strange = pod(0)
    other = Pod(metadata=strange.metadata.__class__(name="web-x", namespace="ns", uid="z"))
    made = plan([other], parallel=True, replicas=0)
    assert (created(made), deleted(made)) == ([], [])


def test_a_gap_below_the_partition_is_filled_with_the_old_revision() -> None:
    made = plan([], ROLLING, parallel=True, replicas=3, updateStrategy=rolling(partition=2))
    assert created(made) == [(0, OLD), (1, OLD), (2, NEW)]


def test_an_ended_pod_is_deleted_and_made_again_once_it_is_gone() -> None:
    made = plan(
        [pod(0, phase="Failed", ready=False), pod(1, phase="Succeeded", ready=False)], parallel=True, replicas=2
    )
    assert (created(made), deleted(made), len(made.ended)) == ([], ["web-0", "web-1"], 2)
    going = plan([pod(0, phase="Failed", ready=False, going=True)], replicas=1)
    assert (created(going), deleted(going)) == ([], [])


def test_an_ordered_set_shrinks_from_the_top_one_by_one() -> None:
    assert deleted(plan([pod(0), pod(1), pod(2)], replicas=1)) == ["web-2"]
    assert deleted(plan([pod(0), pod(1), pod(2, going=True)], replicas=1)) == []
    assert deleted(plan([pod(0), pod(1, ready=False), pod(2)], replicas=1)) == ["web-2"]


def test_an_ordered_set_does_not_shrink_while_a_pod_that_stays_is_not_ready() -> None:
    assert deleted(plan([pod(0, ready=False), pod(1)], replicas=1)) == []


def test_a_parallel_set_shrinks_at_once() -> None:
    assert deleted(plan([pod(0, ready=False), pod(1), pod(2)], parallel=True, replicas=1)) == ["web-2", "web-1"]


def test_a_set_that_is_deleted_does_nothing() -> None:
    going = stateful_set(replicas=3)
    metadata = going.metadata.__class__(name="web", uid="u", deletion_timestamp="2026-01-01T00:00:00Z")
    made = plan_pods(going.__class__(metadata=metadata, spec=going.spec), [], SETTLED, NOW)
    assert (created(made), deleted(made)) == ([], [])


def test_an_update_goes_from_the_top_and_waits_for_each() -> None:
    assert deleted(plan([pod(0, OLD), pod(1, OLD), pod(2, OLD)], ROLLING, replicas=3)) == ["web-2"]
    assert deleted(plan([pod(0, OLD), pod(1, OLD), pod(2, ready=False)], ROLLING, replicas=3)) == []
    assert deleted(plan([pod(0, OLD), pod(1, OLD), pod(2)], ROLLING, replicas=3)) == ["web-1"]


def test_an_update_stops_at_the_partition() -> None:
    pods = [pod(0, OLD), pod(1, OLD), pod(2)]
    assert deleted(plan(pods, ROLLING, replicas=3, updateStrategy=rolling(partition=2))) == []


def test_the_partition_counts_from_the_first_ordinal() -> None:
    pods = [pod(1, OLD), pod(2, OLD)]
    made = plan(pods, ROLLING, parallel=True, replicas=2, ordinals={"start": 1}, updateStrategy=rolling(partition=1))
    assert deleted(made) == ["web-2"]


def test_as_many_pods_at_a_time_as_may_be_unavailable() -> None:
    pods = [pod(number, OLD) for number in range(4)]
    two = plan(pods, ROLLING, parallel=True, replicas=4, updateStrategy=rolling(maxUnavailable="50%"))
    assert deleted(two) == ["web-3", "web-2"]
    one = plan(
        [*pods[:3], pod(3, ready=False)], ROLLING, parallel=True, replicas=4, updateStrategy=rolling(maxUnavailable=2)
    )
    assert deleted(one) == ["web-2"]


def test_a_parallel_set_replaces_pods_that_are_unavailable_anyway_at_no_cost() -> None:
    pods = [pod(0, OLD), pod(1, OLD, ready=False), pod(2, OLD, ready=False)]
    assert deleted(plan(pods, ROLLING, parallel=True, replicas=3)) == ["web-2", "web-1"]


def test_pods_that_are_to_go_are_not_deleted_for_an_update_too() -> None:
    made = plan([pod(0), pod(1, OLD)], ROLLING, parallel=True, replicas=1)
    assert deleted(made) == ["web-1"]


def test_an_update_on_delete_waits_for_people() -> None:
    made = plan([pod(0, OLD)], ROLLING, replicas=2, updateStrategy={"type": "OnDelete"})
    assert (created(made), deleted(made)) == ([(1, NEW)], [])


def test_a_pod_must_have_been_ready_for_long_enough() -> None:
    assert created(plan([pod(0)], replicas=2, minReadySeconds=59)) == [(1, NEW)]
    assert created(plan([pod(0)], replicas=2, minReadySeconds=61)) == []


@pytest.mark.parametrize(
    ("value", "total", "down", "up"),
    [(3, 10, 3, 3), ("25%", 10, 2, 3), ("0%", 10, 0, 0), ("100%", 3, 3, 3), ("1%", 10, 0, 1)],
)
def test_percentages_are_rounded_as_asked(value: int | str, total: int, down: int, up: int) -> None:
    assert (scaled(value, total, round_up=False), scaled(value, total, round_up=True)) == (down, up)
