"""The leader of scheduler or controllers dies, is paused beyond its lease, or is cut off from the API server.

The other replica takes over within 20 s, the old one writes nothing any more, and gangs in the middle of being bound or of a
preemption end right: the auditor judges each from the audit log. Each test prints its figures.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conformance.replicas.deployments import Deployments
from tests.conformance.replicas.faults import (
    FAULTS,
    SETTLE_SECONDS,
    Fault,
    Pair,
    Takeover,
    cut_off,
    killed,
    paused,
    require_lease_lost,
    started,
)
from tests.conformance.scenarios.preemption_stage import HIGH, LOW, Stage
from tests.conformance.slow_webhook import slow_binds
from verify.auditor.audit_log import AuditLog
from verify.auditor.auditor import Auditor
from verify.auditor.identities import SCHEDULER_USER
from verify.clusters.client import Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, condition, indexed_job, is_gang
from verify.faults.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("the embedded server reaches webhooks by URL")]

COMPONENTS = ("scheduler", "controllers")
WORKERS = 3
PAUSE_SECONDS = 0.5
LARGE, SOME = 100, 20
AT_ONCE_SECONDS = 0.005
LEAVES = "DisruptionTarget"


def each_fault(*usual: tuple[str, Fault]) -> pytest.MarkDecorator:
    """Every fault of every component; without --slow only the usual ones."""
    cases = [
        pytest.param(component, fault, marks=() if (component, fault) in usual else pytest.mark.slow)
        for component in COMPONENTS
        for fault in FAULTS
    ]
    return pytest.mark.parametrize(("component", "fault"), cases)


@pytest.fixture
def pairs(deployments: Deployments, control_plane: ControlPlane) -> Iterator[dict[str, Pair]]:
    """Two replicas of everything; those with a lease are each behind a proxy."""
    deployments.serve(deployments.start_webhooks(), deployments.start_webhooks())
    server = urlsplit(control_plane.url)
    assert server.hostname is not None
    assert server.port is not None
    with ExitStack() as ended:

        def proxy() -> TcpProxy:
            return ended.enter_context(TcpProxy(str(server.hostname), int(server.port or 0)))

        yield {component: started(deployments, component, proxy(), proxy()) for component in COMPONENTS}
        deployments.end()


class Stream:
    """Small gangs, one after the other, for as long as the block runs."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._create)
        self.names: list[str] = []
        self.plain: list[str] = []

    def __enter__(self) -> "Stream":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _create(self) -> None:
        while not self._stop.wait(PAUSE_SECONDS):
            name = f"stream-{len(self.names)}"
            made = self._jobs.create(indexed_job(name, WORKERS, cpu="100m", run_seconds=1))
            self.names.append(name)
            if not is_gang(made):
                self.plain.append(name)


@each_fault(("scheduler", paused), ("controllers", killed))
def test_the_other_replica_takes_over_and_no_gang_is_lost(
    pairs: dict[str, Pair],
    jobs: Jobs,
    nodes: HollowNodes,
    auditor: Auditor,
    audit_log: AuditLog,
    component: str,
    fault: Fault,
) -> None:
    # A gang whose scheduler is gone stays as it is until the next one may act.
    auditor.windows.widen(SETTLE_SECONDS)
    nodes.add(4, cpu="16")
    with Stream(jobs) as stream:
        eventually(lambda: jobs.succeeded("stream-1"), within_seconds=SETTLE_SECONDS)
        takeover = Takeover(pairs[component], audit_log)
        takeover.begin(fault)
        takeover.await_successor()
        takeover.undo()
        count = len(stream.names)
        eventually(lambda: jobs.succeeded(f"stream-{count}"), within_seconds=SETTLE_SECONDS)
    for name in stream.names:
        eventually(lambda each=name: jobs.succeeded(each), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
    takeover.judge(f"{component} {fault.__name__}")
    assert not stream.plain
    if fault is not killed:
        require_lease_lost(takeover.old)


@pytest.mark.parametrize(
    "fault", [pytest.param(killed, marks=pytest.mark.slow), paused, pytest.param(cut_off, marks=pytest.mark.slow)]
)
def test_a_gang_in_the_middle_of_being_bound_becomes_whole(
    pairs: dict[str, Pair],
    jobs: Jobs,
    nodes: HollowNodes,
    auditor: Auditor,
    audit_log: AuditLog,
    control_plane: ControlPlane,
    tmp_path: Path,
    fault: Fault,
) -> None:
    auditor.windows.widen(SETTLE_SECONDS)
    nodes.add(4, cpu="32")
    takeover = Takeover(pairs["scheduler"], audit_log)
    with slow_binds(control_plane, jobs.namespace, tmp_path) as webhook:
        # The API server keeps the others waiting until the fault is there, so that it comes in the middle.
        with webhook.slow(after=SOME):
            jobs.create(indexed_job("large", LARGE))
            eventually(lambda: jobs.bound("large") >= SOME, within_seconds=SETTLE_SECONDS)
            takeover.begin(fault)
        bound = jobs.bound("large")
        assert bound < LARGE
        takeover.await_successor()
        takeover.undo()
        eventually(lambda: jobs.whole("large"), within_seconds=SETTLE_SECONDS)
    takeover.judge(f"scheduler {fault.__name__} with {bound} of {LARGE} bound")


def gang(name: str, size: int, priority: str) -> Object:
    job = indexed_job(name, size)
    job["spec"]["template"]["spec"]["priorityClassName"] = priority
    return job


def was_asked(log: AuditLog, position: int) -> bool:
    """Whether a group has been asked to leave since; it may be gone again in less time than a list takes."""
    return any(
        record.resource == "podgroups/status" and record.succeeded and condition(record.request, LEAVES) == "True"
        for record in log.since(position)
    )


def asked(stage: Stage) -> list[str]:
    """The groups that are asked to leave."""
    groups = stage.api.list("podgroups", stage.namespace)
    return [group["metadata"]["name"] for group in groups if condition(group, LEAVES) == "True"]


@each_fault(("scheduler", paused))
def test_a_preemption_that_has_begun_is_ended_and_nobody_leaves_for_nothing(
    pairs: dict[str, Pair], stage: Stage, auditor: Auditor, audit_log: AuditLog, component: str, fault: Fault
) -> None:
    auditor.windows.widen(SETTLE_SECONDS)
    size = 4
    for name in ("first", "second"):
        stage.node(size)
        stage.jobs.create(gang(name, size, LOW))
        eventually(lambda each=name: stage.jobs.whole(each), within_seconds=SETTLE_SECONDS)  # type: ignore[misc]
    changed = changes_of_spec(stage)
    began = audit_log.position()
    takeover = Takeover(pairs[component], audit_log)
    stage.jobs.create(gang("urgent", size, HIGH))
    eventually(lambda: was_asked(audit_log, began), within_seconds=SETTLE_SECONDS, poll_seconds=AT_ONCE_SECONDS)
    takeover.begin(fault)
    takeover.await_successor()
    takeover.undo()
    eventually(lambda: stage.jobs.whole("urgent"), within_seconds=SETTLE_SECONDS)
    eventually(lambda: not asked(stage), within_seconds=SETTLE_SECONDS)
    throughout(lambda: stage.jobs.whole("urgent"), seconds=1)
    takeover.judge(f"{component} {fault.__name__} in a preemption")
    deleted = [
        record.name
        for record in audit_log.since(began)
        if (record.user, record.verb, record.resource) == (SCHEDULER_USER, "delete", "pods")
        and (record.succeeded or record.is_unknown)
    ]
    # Suspended, and as a rule resumed to wait at the gate: one change or two.
    suspended = {name: (changes + 1 - changed[name]) // 2 for name, changes in changes_of_spec(stage).items()}
    assert (sorted(suspended.values()), deleted) == ([0, 1], []), "exactly one gang leaves, once"
    (spared,) = (name for name, times in suspended.items() if not times)
    assert stage.jobs.whole(spared)


def changes_of_spec(stage: Stage) -> dict[str, int]:
    """How often the spec of each of both Jobs was changed: once they run, by being suspended and resumed alone.

    The audit log does not tell: what a process had asked for that was killed may be carried out, and count as not answered.
    """
    return {name: int(stage.jobs.get(name)["metadata"]["generation"]) for name in ("first", "second")}
