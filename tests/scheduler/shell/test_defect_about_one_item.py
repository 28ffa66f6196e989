"""A defect that one group brings to light, at whatever stage: it is set aside and says so, and everything else goes on."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from api.constants import MANAGED_BY, METRIC_ITEM_ERRORS, MIN_RESOURCES
from scheduler import schedule_one
from scheduler.binding.binder import Binder
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import StateChange
from scheduler.preemption.manager import PreemptionManager
from scheduler.queue.patience import Patience
from scheduler.queue.queueing_hints import QueueingHint
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.reporting.progress import Progress
from scheduler.reporting.reporter import Reporter
from scheduler.reporting.timeouts import Timeouts
from scheduler.reservations import future_reservations, starvation
from scheduler.reservations.future_reservations import FutureReservations
from scheduler.reservations.starvation import StarvationReservations
from scheduler.schedule_one import ItemScheduler
from scheduler.wiring import Scheduler
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import gang, node, pod

TRUE = ("True", "Scheduled")
REFUSED = ("False", "Unschedulable")
SET_ASIDE = ("False", "SchedulerError")


class Defect:
    """Makes a function raise when it is called about the group `bad`, or a pod of it."""

    def __init__(self, patch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.met = 0
        self._patch = patch
        sound = getattr(owner, name)

        def fragile(*given: Any, **named: Any) -> Any:
            if any(map(_is_about_bad, (*given, *named.values()))):
                self.met += 1
                raise ZeroDivisionError
            return sound(*given, **named)

        patch.setattr(owner, name, fragile)

    def mend(self) -> None:
        self._patch.undo()


def _is_about_bad(given: Any) -> bool:
    if isinstance(given, str):
        return given.startswith("bad") or given in _BAD_PODS
    if isinstance(given, list | tuple):
        return any(map(_is_about_bad, given))
    if isinstance(given, PodGroupState):
        return given.key.name.startswith("bad")
    key, metadata = getattr(given, "key", None), getattr(given, "metadata", None)
    named = (getattr(given, "name", ""), getattr(key, "name", ""), getattr(metadata, "name", ""))
    return any(isinstance(name, str) and name.startswith("bad") for name in named)


_BAD_PODS: set[str] = set()


def put_bad_pods(cluster: Cluster, count: int, *, first: int = 0) -> None:
    for number in range(first, first + count):
        made = cluster.api.put("pods", pod(f"bad-{number}", group="bad", owned=True))
        _BAD_PODS.add(made["metadata"]["uid"])


def put_bad(cluster: Cluster) -> None:
    cluster.api.put("podgroups", gang("bad", 2))
    put_bad_pods(cluster, 2)


@contextlib.asynccontextmanager
async def scheduler_with_bad(cluster: Cluster, *, nodes: int = 4, **settings: Any) -> AsyncIterator[Scheduler]:
    """A scheduler at work, to which the bad group comes."""
    cluster.add_nodes(nodes)
    async with cluster.scheduler(**settings) as scheduler:
        put_bad(cluster)
        yield scheduler


def errors_counted(cluster: Cluster) -> float:
    families = cluster.metrics.registry.collect()
    return sum(sample.value for family in families for sample in family.samples if sample.name == METRIC_ITEM_ERRORS)


@pytest.fixture
def cluster() -> Cluster:
    _BAD_PODS.clear()
    return Cluster()


async def others_start(cluster: Cluster, scheduler: Scheduler, name: str = "good") -> None:
    """Room comes, for them and for two pods more, and a gang and a lone pod with it: both start."""
    cluster.api.put("nodes", node(f"for-{name}", gpus=5))
    cluster.add_gang(name, 2)
    cluster.api.put("pods", pod(f"{name}-lone"))
    await cluster.api.until(lambda: cluster.group_says(name) == TRUE and f"{name}-lone" in cluster.api.bound())
    await scheduler.dispatcher.idle()


BEFORE_IT_IS_BOUND = {
    "asked whether it may be tried": (Patience, "judge"),
    "asked how many it would like": (SchedulingQueue, "aim"),
    "decided": (schedule_one, "decide"),
    "asked who should leave": (PreemptionManager, "post_filter"),
    "reduced to pods that exist": (schedule_one, "of_existing_pods"),
    "made a bind": (ItemScheduler, "_bind"),
    "assumed": (ClusterState, "assume"),
    "handed to the binder": (Binder, "submit"),
    "taken in, its group": (ClusterState, "upsert_group"),
    "taken in, its pods": (ClusterState, "upsert_pod"),
    "taken in, a record of its pods": (ClusterState, "slim_pod"),
    "shown to the preemptor": (PreemptionManager, "pod_group_seen"),
}


@pytest.mark.parametrize("spot", BEFORE_IT_IS_BOUND.values(), ids=BEFORE_IT_IS_BOUND)
async def test_before_it_is_bound(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, spot: tuple[Any, str]) -> None:
    defect = Defect(monkeypatch, *spot)
    async with scheduler_with_bad(cluster) as scheduler:
        await others_start(cluster, scheduler)
        assert defect.met
        assert errors_counted(cluster) >= 1
        assert not any(name.startswith("bad") for name in cluster.api.bound()) or spot == (
            PreemptionManager,
            "pod_group_seen",
        )
        assert scheduler.state.pods_total - len(cluster.api.bound()) in {0, 2}
        await others_start(cluster, scheduler, "later")


async def test_where_one_pod_cannot_be_assumed_none_of_its_siblings_stays_assumed(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound, met = ClusterState.assume, []

    def fragile(state: ClusterState, pod_uid: str, *given: Any) -> StateChange:
        found = state.pod(pod_uid)
        if found is not None and found.name == "bad-1":
            met.append(dict(state.assumptions))
            raise ZeroDivisionError
        return sound(state, pod_uid, *given)

    monkeypatch.setattr(ClusterState, "assume", fragile)
    async with scheduler_with_bad(cluster) as scheduler:
        await others_start(cluster, scheduler)
        assert _BAD_PODS & set(met[0])  # its sibling was on its way
        assert not _BAD_PODS & set(scheduler.state.assumptions)


SAID = [spot for spot in BEFORE_IT_IS_BOUND.values() if spot[0] is not ClusterState and spot[1] != "pod_group_seen"]


@pytest.mark.parametrize("spot", SAID, ids=lambda spot: spot[1])
async def test_it_says_so_and_starts_when_it_changes_after_the_defect_is_gone(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, spot: tuple[Any, str], caplog: pytest.LogCaptureFixture
) -> None:
    defect = Defect(monkeypatch, *spot)
    async with scheduler_with_bad(cluster, set_aside_seconds=600):
        await cluster.api.until(lambda: cluster.group_says("bad") == SET_ASIDE)
        assert "ZeroDivisionError" in cluster.group_message("bad")
        assert "setting group ns/bad aside" in caplog.text
        defect.mend()
        put_bad_pods(cluster, 1, first=2)
        await cluster.api.until(lambda: cluster.group_says("bad") == TRUE)
    assert {"bad-0", "bad-1"} <= set(cluster.api.bound())


async def test_it_is_tried_again_after_a_long_time(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    defect = Defect(monkeypatch, schedule_one, "decide")
    async with scheduler_with_bad(cluster, set_aside_seconds=0.3):
        await cluster.api.until(lambda: cluster.group_says("bad") == SET_ASIDE)
        defect.mend()
        await cluster.api.until(lambda: cluster.group_says("bad") == TRUE)


AFTER_IT_IS_BOUND = {
    "its remainder kept": (FutureReservations, "reserve"),
    "its claim taken back": (PreemptionManager, "after_decision"),
    "put back into the queue": (SchedulingQueue, "done"),
    "its reservation given back": (StarvationReservations, "decided"),
    "reported": (Reporter, "decided"),
    "shown to the reporter": (Reporter, "_item_changed"),
    "its progress looked at": (Progress, "update"),
    "its time-out looked at": (Timeouts, "update"),
}


@pytest.mark.parametrize("spot", AFTER_IT_IS_BOUND.values(), ids=AFTER_IT_IS_BOUND)
async def test_after_it_is_decided(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, spot: tuple[Any, str]) -> None:
    defect = Defect(monkeypatch, *spot)
    async with scheduler_with_bad(cluster) as scheduler:
        await others_start(cluster, scheduler)
        assert {"bad-0", "bad-1"} <= set(cluster.api.bound())
        assert defect.met
        assert errors_counted(cluster) >= 1
        await others_start(cluster, scheduler, "later")


@pytest.mark.parametrize("spot", [(QueueingHint, "fits"), (QueueingHint, "is_certain"), (QueueingHint, "take")])
async def test_when_room_appears(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, spot: tuple[Any, str]) -> None:
    defect = Defect(monkeypatch, *spot)
    async with scheduler_with_bad(cluster, nodes=1, initial_backoff_seconds=600, max_backoff_seconds=600):
        cluster.add_gang("good", 2)
        await cluster.api.until(lambda: cluster.group_says("bad") == cluster.group_says("good") == REFUSED)
        cluster.add_nodes(4, first=1)
        await cluster.api.until(lambda: cluster.group_says("good") == TRUE)
        await cluster.api.until(lambda: cluster.group_says("bad") == SET_ASIDE)
        assert defect.met


async def test_when_it_says_what_it_waits_for(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    defect = Defect(monkeypatch, Reporter, "_say_held")
    async with cluster.scheduler() as scheduler:
        for name in ("bad", "good"):
            cluster.api.put("podgroups", gang(name, 3))
        put_bad_pods(cluster, 1)
        cluster.add_members("good", 1)
        await cluster.api.until(lambda: cluster.group_says("good") == ("False", "WaitingForMembers"))
        await cluster.api.until(lambda: bool(defect.met))
        await others_start(cluster, scheduler, "later")


def announcing(name: str) -> Any:
    """The group of a leader that has workers to come."""
    made = gang(name, 1)
    roles = [{"role": "leader", "count": 1, "requests": {}}, {"role": "worker", "count": 1, "requests": {"cpu": "1"}}]
    made["metadata"]["annotations"] = {MANAGED_BY: "tutti", MIN_RESOURCES: json.dumps(roles)}
    return made


@pytest.mark.parametrize(
    "spot",
    [(future_reservations, "decide"), (Progress, "update"), (Timeouts, "update"), (FutureReservations, "reserve")],
    ids=lambda spot: spot[1],
)
async def test_at_every_start(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, spot: tuple[Any, str]) -> None:
    defect = Defect(monkeypatch, *spot)
    cluster.add_nodes(4)
    for name in ("bad", "fine"):
        cluster.api.put("podgroups", announcing(name))
        runs = pod(f"{name}-0", group=name, owned=True)
        runs["spec"]["nodeName"] = "n0" if name == "bad" else "n1"
        runs["status"]["phase"] = "Running"
        cluster.api.put("pods", runs)
    for name in ("good", "better"):
        async with cluster.scheduler() as scheduler:
            await others_start(cluster, scheduler, name)
            assert [kept.key.name for kept in scheduler.state.future_reservations] in (["fine"], ["bad", "fine"])
    assert defect.met


@pytest.mark.parametrize("spot", [(starvation, "review"), (future_reservations, "is_over")], ids=["reserved", "kept"])
async def test_while_room_is_held_for_it(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, spot: tuple[Any, str]
) -> None:
    cluster.add_nodes(2)
    async with cluster.scheduler(reserve_after_seconds=0) as scheduler:
        cluster.add_gang("blocker", 2)
        await cluster.api.until(lambda: cluster.group_says("blocker") == TRUE)
        if spot[0] is starvation:
            put_bad(cluster)
            held = scheduler.state.reservations
        else:
            cluster.api.put("podgroups", announcing("bad"))
            cluster.api.put("nodes", node("n9", gpus=1))
            put_bad_pods(cluster, 1)
            held = scheduler.state.future_reservations
        await cluster.api.until(lambda: len(held) == 1)
        defect = Defect(monkeypatch, *spot)
        await others_start(cluster, scheduler)
        assert defect.met
        assert errors_counted(cluster) >= 1


async def test_a_part_of_the_loop_that_raises_whatever_it_is_about_stops_no_other_part(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: Any) -> None:
        raise ZeroDivisionError

    for owner, name in ((StarvationReservations, "tick"), (FutureReservations, "tick"), (Reporter, "say_what_is_due")):
        monkeypatch.setattr(owner, name, broken)
    monkeypatch.setattr(FutureReservations, "restore", broken)
    cluster.add_nodes(1)
    async with cluster.scheduler() as scheduler:
        await others_start(cluster, scheduler)
        await others_start(cluster, scheduler, "later")
        assert errors_counted(cluster) < 30
