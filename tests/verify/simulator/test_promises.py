"""Each promise is seen to be broken in a history in which it is."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from kube.client.connection import Request
from localcluster.apiserver.store.memory import Store
from verify.simulator.loop import Process
from verify.simulator.promises.at_rest import at_rest, waiting_though_there_is_room
from verify.simulator.promises.objects import CLAIMS, GROUPS, JOBS, NODES, PODS, WORKLOADS
from verify.simulator.promises.watchdog import Watchdog

Object = dict[str, Any]
LATE = 100_000.0


class History:
    """Objects that come and change."""

    def __init__(self) -> None:
        self.store = Store()
        self.seconds = 0.0
        self.watchdog = Watchdog(self.store, lambda: self.seconds)
        self._numbers: Iterator[int] = count(1)
        self.node = self.put(NODES, "n0", spec={}, status={"allocatable": {"cpu": "4", "pods": "110"}})
        self.seconds = LATE

    def put(self, resource: tuple[str, str], name: str, owner: str = "", **fields: Any) -> str:
        uid = f"uid-{next(self._numbers)}"
        metadata: Object = {"name": name, "namespace": "" if resource == NODES else "default", "uid": uid}
        metadata |= fields.pop("metadata", {})
        if owner:
            metadata["ownerReferences"] = [{"kind": "Job", "name": "owner", "uid": owner, "controller": True}]
        self.store.put(resource, {"kind": "Any", "apiVersion": "v1", "metadata": metadata, **fields})
        return uid

    def pod(self, name: str, *, cpu: str = "1", group: str = "", owner: str = "", volume: bool = False) -> None:
        container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
        metadata = {"annotations": {"tutti.scheduler/pod-group": group}} if group else {}
        spec: Object = {"schedulerName": "tutti", "containers": [container]}
        if volume:
            spec["volumes"] = [{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
        self.put(PODS, name, owner, metadata=metadata, spec=spec)

    def gang(self, name: str, minimum: int, owner: str = "") -> str:
        return self.put(GROUPS, name, owner, spec={"schedulingPolicy": {"gang": {"minCount": minimum}}})

    def leave_behind(self, group: str) -> None:
        stored = self.store.get(GROUPS, "default", group)
        assert stored is not None
        changed = stored.copy()
        del changed["metadata"]["ownerReferences"]
        self.store.replace(GROUPS, stored, changed)

    def leave_for_restart(self, pod: str) -> None:
        stored = self.store.get(PODS, "default", pod)
        assert stored is not None
        left = {"type": "DisruptionTarget", "status": "True", "reason": "GangRestart"}
        self.store.replace(PODS, stored, stored.copy() | {"status": {"conditions": [left]}})

    def end(self, name: str, phase: str = "Failed") -> None:
        stored = self.store.get(PODS, "default", name)
        assert stored is not None
        self.store.replace(PODS, stored, stored.copy() | {"status": {"phase": phase}})

    def bind(self, name: str, node: str = "n0") -> None:
        stored = self.store.get(PODS, "default", name)
        assert stored is not None
        changed = stored.copy()
        changed["spec"]["nodeName"] = node
        self.store.replace(PODS, stored, changed)


@pytest.fixture
def history() -> History:
    return History()


def test_a_node_that_is_over_committed(history: History) -> None:
    for number in range(5):
        history.pod(f"p{number}")
        history.bind(f"p{number}")

    assert history.watchdog.violations == ["I2: n0 is over-committed: 5000 of 4000 cpu (milli)"]


def test_a_node_that_is_full_is_fine(history: History) -> None:
    history.pod("p", cpu="4")
    history.bind("p")

    assert history.watchdog.violations == []
    assert history.watchdog.binds == 1


def test_a_gang_of_which_only_some_were_bound(history: History) -> None:
    uid = history.gang("g", 3)
    for number in range(3):
        history.pod(f"p{number}", group="g")
    history.bind("p0")
    history.bind("p1")

    assert list(history.watchdog.partial_groups()) == [f"I1: of group {uid} 2 members are bound, 3 have to be"]

    history.bind("p2")

    assert list(history.watchdog.partial_groups()) == []
    assert history.watchdog.starts == 1


@pytest.mark.parametrize(("seconds", "bound", "found"), [(61.0, 2, 1), (5.0, 2, 0), (61.0, 3, 0)])
def test_a_gang_that_was_begun_and_leaves_again(history: History, seconds: float, bound: int, found: int) -> None:
    uid = history.gang("g", 3)
    for number in range(3):
        history.pod(f"p{number}", group="g")
    for number in range(bound):
        history.bind(f"p{number}")
    history.seconds += seconds
    for number in range(bound):
        history.end(f"p{number}")

    said = f"I1: of group {uid} 2 members are bound, 3 have to be, for {seconds:.0f} s"
    assert list(history.watchdog.given_up()) == [said] * found


def test_a_gang_that_has_ended_half_of_its_work_holds_nothing_and_is_told_where_nothing_disturbed_it(
    history: History,
) -> None:
    uid = history.gang("g", 3)
    for number in range(3):
        history.pod(f"p{number}", group="g")
    history.bind("p0")
    history.bind("p1")
    history.seconds += 61.0
    history.end("p0", "Succeeded")
    said = f"I1: of group {uid} 2 members are bound, 3 have to be"

    assert list(history.watchdog.partial_groups()) == [said]
    assert list(history.watchdog.given_up()) == []

    history.end("p1", "Succeeded")

    assert list(history.watchdog.partial_groups()) == []
    assert list(history.watchdog.given_up()) == [f"{said}, for 61 s"]

    history.bind("p2")

    assert history.watchdog.starts == 1


def _leave_for(history: History, name: str, uid: str) -> None:
    stored = history.store.get(GROUPS, "default", "victim")
    assert stored is not None
    changed = stored.copy()
    changed["status"] = {
        "conditions": [
            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": ""},
            {"type": "PreemptedBy", "status": "True", "reason": "PodGroup", "message": f"default/{name}/{uid}"},
        ]
    }
    history.store.replace(GROUPS, stored, changed)


def test_an_eviction_for_a_gang_that_does_not_start(history: History) -> None:
    history.gang("victim", 1)
    uid = history.gang("g", 1)
    history.pod("p", group="g")
    _leave_for(history, "g", uid)

    assert list(history.watchdog.wasted_evictions()) == ["I3: victim had to leave for g, which has not started"]

    history.bind("p")

    assert list(history.watchdog.wasted_evictions()) == []
    assert history.watchdog.evictions == 1


@pytest.mark.parametrize(
    ("is_left_behind", "seconds", "found"), [(True, 201.0, 1), (True, 199.0, 0), (False, 201.0, 0)]
)
def test_a_gang_that_starts_anew_although_its_owner_has_left_it_behind(
    history: History, *, is_left_behind: bool, seconds: float, found: int
) -> None:
    history.gang("g", 2, owner="job")
    history.pod("p", group="g")
    if is_left_behind:
        history.leave_behind("g")
    history.seconds += seconds
    history.leave_for_restart("p")

    assert history.watchdog.violations == ["I3: pod p left for a restart, and nobody makes it anew"] * found


def test_a_gang_that_was_left_behind_need_not_become_whole(history: History) -> None:
    history.gang("victim", 1)
    uid = history.gang("g", 2, owner="job")
    history.pod("p0", group="g")
    history.pod("p1", group="g")
    _leave_for(history, "g", uid)
    history.bind("p0")
    history.leave_behind("g")

    assert list(history.watchdog.partial_groups()) == []
    assert list(history.watchdog.wasted_evictions()) == []


def test_a_write_that_is_forbidden(history: History) -> None:
    request = Request("create", "pods", "POST", "/api/v1/pods", {})

    history.watchdog.requested(Process("scheduler-1"), request, 403)

    assert history.watchdog.violations == ["POST /api/v1/pods was forbidden"]


@pytest.mark.parametrize("resource", [PODS, GROUPS, WORKLOADS])
def test_an_object_whose_owner_is_gone(history: History, resource: tuple[str, str]) -> None:
    history.put(resource, "left", owner="nobody", spec={})

    assert list(at_rest(history.store)) == [f"I5: {resource[1]} left has lost its owner owner"]


def _gang_job(history: History, **metadata: Any) -> str:
    labels = {"tutti.scheduler/managed": "embedded"}
    return history.put(JOBS, "job", metadata=metadata, spec={"template": {"metadata": {"labels": labels}}})


def test_a_gang_job_without_its_group(history: History) -> None:
    job = _gang_job(history)
    history.put(WORKLOADS, "w", owner=job, spec={})

    assert list(at_rest(history.store)) == ["I5: Job job has 0 podgroups"]


def test_a_gang_job_with_two_groups(history: History) -> None:
    job = _gang_job(history)
    history.put(WORKLOADS, "w", owner=job, spec={})
    history.put(GROUPS, "g", owner=job, spec={})
    history.put(GROUPS, "h", owner=job, spec={})

    assert list(at_rest(history.store)) == ["I5: Job job has 2 podgroups"]


def test_a_gang_job_that_is_left_behind_its_gate(history: History) -> None:
    job = _gang_job(history, annotations={"tutti.scheduler/gate": "pod-group"})
    history.put(WORKLOADS, "w", owner=job, spec={})
    history.put(GROUPS, "g", owner=job, spec={})

    assert list(at_rest(history.store)) == ["I8: Job job is still behind its gate"]


def test_a_gang_that_waits_though_it_fits(history: History) -> None:
    history.gang("g", 2)
    history.pod("p0", cpu="2", group="g")
    history.pod("p1", cpu="2", group="g")

    assert list(waiting_though_there_is_room(history.store)) == [
        "liveness: g waits with 2 pods, and there is room for all of them"
    ]


@pytest.mark.parametrize(("cpu", "minimum"), [("3", 2), ("1", 3)])
def test_a_gang_that_does_not_fit_or_is_not_whole_may_wait(history: History, cpu: str, minimum: int) -> None:
    history.gang("g", minimum)
    history.pod("p0", cpu=cpu, group="g")
    history.pod("p1", cpu=cpu, group="g")

    assert list(waiting_though_there_is_room(history.store)) == []


@pytest.mark.parametrize(("is_bound", "said"), [(False, 1), (True, 0)])
def test_a_lone_pod_whose_volume_is_somewhere_may_wait(history: History, is_bound: bool, said: int) -> None:
    history.pod("p", volume=True)
    history.put(CLAIMS, "p-data", spec={"volumeName": "v"} if is_bound else {})

    assert len(list(waiting_though_there_is_room(history.store))) == said


@pytest.mark.parametrize(("is_bound", "said"), [(False, 1), (True, 0)])
def test_and_so_may_a_gang_one_of_whose_volumes_is_somewhere(history: History, is_bound: bool, said: int) -> None:
    history.gang("g", 2)
    history.pod("p0", group="g", volume=True)
    history.pod("p1", group="g", volume=True)
    history.put(CLAIMS, "p1-data", spec={"volumeName": "v"} if is_bound else {})

    assert len(list(waiting_though_there_is_room(history.store))) == said
