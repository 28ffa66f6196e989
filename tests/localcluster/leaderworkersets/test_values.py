"""Status and restart policies of LeaderWorkerSets as values."""

import msgspec
import pytest

from localcluster.controllers.leaderworkersets.model import LeaderWorkerSet
from localcluster.controllers.leaderworkersets.restart import failed_pod
from localcluster.controllers.leaderworkersets.status import Group, StatusUpdate, status_update
from tests.localcluster.leaderworkersets.values import PREFIX, group_pod, viewed

NOW = "2026-01-01T00:00:00Z"
LATER = "2026-01-01T01:00:00Z"


# --- status ----------------------------------------------------------------------------------------------------------


def update(groups: list[Group], view: LeaderWorkerSet | None = None, *, now: str = NOW) -> StatusUpdate:
    return status_update(view or viewed(replicas=2), groups, leaders=len(groups), now=now)


def conditions(found: StatusUpdate) -> dict[str, str]:
    return {each.type: each.status for each in found.status.conditions}


def group(index: int, *, ready: bool = True, updated: bool = True, has_workers: bool = True) -> Group:
    return Group(index, ready, updated, has_workers)


def test_all_groups_ready_is_available() -> None:
    found = update([group(0), group(1)])
    assert conditions(found) == {"Available": "True"}
    assert found.is_done
    assert found.status.hpa_pod_selector == f"{PREFIX}name=g,{PREFIX}worker-index=0"
    assert (found.status.observed_generation, found.status.ready_replicas, found.status.updated_replicas) == (2, 2, 2)


def test_a_leader_that_is_ready_alone_makes_no_group_ready() -> None:
    found = update([group(0), group(1, ready=False)])
    assert conditions(found) == {"Progressing": "True"}
    assert (found.status.ready_replicas, found.is_done) == (1, False)


def test_groups_whose_workers_are_not_there_yet_do_not_count() -> None:
    found = update([group(0), group(1, has_workers=False)])
    assert (found.status.ready_replicas, found.status.updated_replicas, found.status.replicas) == (1, 1, 2)
    assert conditions(found) == {"Progressing": "True"}


def test_an_old_group_is_an_update_in_progress() -> None:
    found = update([group(0, updated=False), group(1)])
    assert conditions(found) == {"UpdateInProgress": "True", "Progressing": "True"}


def test_groups_below_the_partition_may_be_old() -> None:
    view = viewed(replicas=2, rolling={"partition": 1})
    found = update([group(0, updated=False), group(1)], view)
    assert (conditions(found), found.is_done) == ({"Available": "True"}, False)


def test_surge_groups_are_counted_but_make_nothing_available() -> None:
    found = update([group(0), group(1, ready=False), group(2)])
    assert (conditions(found), found.status.ready_replicas) == ({"Progressing": "True"}, 2)


def test_available_and_the_other_two_exclude_each_other() -> None:
    updating = update([group(0, updated=False), group(1)])
    view = msgspec.structs.replace(viewed(replicas=2), status=updating.status)
    done = update([group(0), group(1)], view, now=LATER)
    assert conditions(done) == {"UpdateInProgress": "False", "Progressing": "False", "Available": "True"}
    assert [each.type for each in done.news] == ["Available"]
    assert {each.last_transition_time for each in done.status.conditions} == {LATER}


def test_what_holds_already_is_no_news() -> None:
    first = update([group(0), group(1)])
    view = msgspec.structs.replace(viewed(replicas=2), status=first.status)
    again = update([group(0), group(1)], view, now=LATER)
    assert (again.status, again.news) == (first.status, ())


def test_no_groups_wanted_and_none_there_is_available() -> None:
    assert conditions(update([], viewed(replicas=0))) == {"Available": "True"}


# --- restart policies ------------------------------------------------------------------------------------------------

LEADER = group_pod("g-0")


@pytest.mark.parametrize(
    ("policy", "worker", "expected"),
    [
        ("RecreateGroupOnPodRestart", group_pod("g-0-1"), False),
        ("RecreateGroupOnPodRestart", group_pod("g-0-1", going=True), True),
        ("RecreateGroupOnPodRestart", group_pod("g-0-1", restarts=1), True),
        ("RecreateGroupOnPodRestart", group_pod("g-0-1", restarts=1, phase="Failed"), False),
        ("RecreateGroupOnPodRestart", group_pod("g-0-1", going=True, revision="older"), False),
        ("RecreateGroupAfterStart", group_pod("g-0-1", going=True), True),
        ("RecreateGroupAfterStart", group_pod("g-0-1", going=True, phase="Pending"), False),
        ("None", group_pod("g-0-1", going=True), False),
        ("None", group_pod("g-0-1", restarts=3), False),
    ],
)
def test_a_worker_in_trouble(policy: str, worker: object, expected: bool) -> None:
    view = viewed(size=2, restartPolicy=policy)
    assert (failed_pod(view, 2, LEADER, [LEADER, worker], []) is worker) is expected  # type: ignore[list-item]


def test_a_worker_that_is_gone_already_counts() -> None:
    lost = group_pod("g-0-1")
    assert failed_pod(viewed(size=2), 2, LEADER, [LEADER], [lost]) is lost


def test_an_incomplete_group_waits_when_its_policy_does() -> None:
    worker = group_pod("g-0-1", going=True)
    view = viewed(size=3, restartPolicy="RecreateGroupAfterStart")
    assert failed_pod(view, 3, LEADER, [LEADER, worker], []) is None
    assert failed_pod(view, 3, LEADER, [LEADER, worker, group_pod("g-0-2")], []) is worker


def test_the_older_annotation_makes_a_group_wait_too() -> None:
    worker = group_pod("g-0-1", going=True)
    view = viewed(size=3)
    annotated = {f"{PREFIX}experimental-recreate-group-after-start": "true"}
    waiting = msgspec.structs.replace(view, metadata=msgspec.structs.replace(view.metadata, annotations=annotated))
    assert failed_pod(view, 3, LEADER, [LEADER, worker], []) is worker
    assert failed_pod(waiting, 3, LEADER, [LEADER, worker], []) is None


def test_a_leader_that_goes_already_needs_nothing_more() -> None:
    going = group_pod("g-0", going=True)
    assert failed_pod(viewed(size=2), 2, going, [going, group_pod("g-0-1", going=True)], []) is None


def test_a_restarted_leader_is_its_own_culprit() -> None:
    leader = group_pod("g-0", restarts=1)
    assert failed_pod(viewed(size=1), 1, leader, [leader], []) is leader
