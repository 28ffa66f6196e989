"""What only a defect of ours, or a machine that is too slow, could cause is told by its alert, too, and until it is over.

Tutti runs with a defect planted in one function (`planted`), which a test has in force and lifts; everything else is as shipped:
what is counted, how it is served, Prometheus and the rules.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from tests.conformance import planted as defects
from tests.conformance.slow_webhook import slow_binds
from tests.conformance.watched import SOON_SECONDS, Watched
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job, plain_pod
from verify.clusters.tutti_process import Tutti

SETTINGS = {"self_check_seconds": 1, "bind_give_up_seconds": 5}
POLL_SECONDS = 0.3
CROWD = 12

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.slow,
    pytest.mark.real_only("admission, and what becomes of slow calls, are the API server's"),
]


class InForce(Protocol):
    def __call__(self, defect: str) -> AbstractContextManager[None]: ...


@pytest.fixture(scope="module")
def in_force(control_plane: ControlPlane) -> InForce:
    """Has a defect in force as long as the block."""
    folder = control_plane.folder / "defects"
    folder.mkdir()

    @contextmanager
    def put(defect: str) -> Iterator[None]:
        (folder / defect).touch()
        try:
            yield
        finally:
            (folder / defect).unlink()

    return put


@pytest.fixture(scope="module")
def defective(control_plane: ControlPlane, installation: Tutti, in_force: InForce) -> Iterator[Tutti]:
    """A Tutti that can have defects, instead of the usual one."""
    installation.stop()
    made = Tutti(
        control_plane,
        command=[sys.executable, defects.__file__],
        settings=SETTINGS,
        variables={defects.FOLDER: str(control_plane.folder / "defects")},
        name="tutti-with-defects",
    )
    yield made
    made.stop()
    made.kill_everything()


@pytest.fixture
def tutti(defective: Tutti, control_plane: ControlPlane) -> Tutti:
    control_plane.require_running()
    defective.ensure_running()
    return defective


def test_a_view_of_the_cluster_that_is_wrong(
    watching: Watched, tutti: Tutti, jobs: Jobs, nodes: HollowNodes, in_force: InForce
) -> None:
    """Mended as its runbook says: another process takes over, with a fresh view."""
    (node,) = nodes.add(cpu="4")
    name = defects.FORGETS_NO_POD
    jobs.api.create("pods", plain_pod(name, node=node, cpu="3"), jobs.namespace)
    eventually(lambda: jobs.api.get("pods", name, jobs.namespace)["spec"]["nodeName"], within_seconds=SOON_SECONDS)
    jobs.create(indexed_job("before", 2, cpu="2"))
    eventually(lambda: jobs.waits("before"), within_seconds=SOON_SECONDS)
    with in_force(name):
        jobs.api.delete("pods", name, jobs.namespace, gracePeriodSeconds=0)
        watching.tells("TuttiCacheDrift")
        assert jobs.waits("before")
    os.kill(tutti.children()["scheduler"], signal.SIGTERM)
    watching.no_longer_tells("TuttiCacheDrift")
    eventually(lambda: jobs.whole("before"), within_seconds=SOON_SECONDS)


def test_an_exception_about_one_gang(watching: Watched, jobs: Jobs, nodes: HollowNodes, in_force: InForce) -> None:
    nodes.add(cpu="4")
    with in_force(defects.RAISES):
        jobs.create(indexed_job(defects.RAISES, 2))
        watching.tells("TuttiItemErrors")
        jobs.create(indexed_job("another", 2))
        eventually(lambda: jobs.whole("another"), within_seconds=SOON_SECONDS)
        assert jobs.waits(defects.RAISES)
    watching.no_longer_tells("TuttiItemErrors")
    for suspended in (True, False):  # as its runbook says
        jobs.api.patch("jobs", defects.RAISES, {"spec": {"suspend": suspended}}, jobs.namespace)
        eventually(lambda: bool(jobs.pods(defects.RAISES)) is not suspended, within_seconds=SOON_SECONDS)  # noqa: B023
    eventually(lambda: jobs.whole(defects.RAISES), within_seconds=SOON_SECONDS)


def test_a_scheduler_that_tries_nobody_from_its_start(
    watching: Watched, tutti: Tutti, jobs: Jobs, nodes: HollowNodes, in_force: InForce
) -> None:
    nodes.add(cpu="4")
    with in_force(defects.TAKES_NOTHING):
        os.kill(tutti.children()["scheduler"], signal.SIGTERM)
        jobs.create(indexed_job("stuck", 2))
        eventually(lambda: jobs.waits("stuck"), within_seconds=SOON_SECONDS)
        watching.tells("TuttiSchedulerStuck")
    watching.no_longer_tells("TuttiSchedulerStuck")
    eventually(lambda: jobs.whole("stuck"), within_seconds=SOON_SECONDS)


def test_retries_that_take_most_of_the_time(
    watching: Watched, jobs: Jobs, nodes: HollowNodes, in_force: InForce
) -> None:
    """Gangs whose members keep away from each other, for whom any change of the only node may be news."""
    (node,) = nodes.add(cpu="100")
    apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"keeps": "apart"}}}
    for number in range(CROWD):
        job = indexed_job(f"apart-{number}", 2, cpu="10m", template_labels={"keeps": "apart"})
        rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
        job["spec"]["template"]["spec"]["affinity"] = rule
        jobs.create(job)
    turns = iter(range(1_000_000))

    def tells_while_the_node_changes() -> bool:
        jobs.api.patch("nodes", node, {"metadata": {"labels": {"turn": str(next(turns))}}})
        return "TuttiRetriesDominate" in watching.firing()

    with in_force(defects.DECIDES_LONG):
        eventually(tells_while_the_node_changes, within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)
    watching.no_longer_tells("TuttiRetriesDominate")


def test_admission_that_takes_long(watching: Watched, jobs: Jobs, in_force: InForce) -> None:
    def tells_while_jobs_are_made() -> bool:
        jobs.api.create("jobs", indexed_job("asked", 2), jobs.namespace, dry_run=True)
        return "TuttiAdmissionSlow" in watching.firing()

    with in_force(defects.ADMITS_LATE):
        eventually(tells_while_jobs_are_made, within_seconds=SOON_SECONDS)
    watching.no_longer_tells("TuttiAdmissionSlow")


def test_binds_that_take_longer_than_anybody_waits(
    watching: Watched, jobs: Jobs, nodes: HollowNodes, auditor: Auditor, control_plane: ControlPlane, tmp_path: Path
) -> None:
    """Nothing of ours is wrong: a webhook of somebody else's holds every bind up, for longer than a request lasts."""
    auditor.windows.bind_seconds = 2 * SOON_SECONDS
    nodes.add(cpu="4")
    with slow_binds(control_plane, jobs.namespace, tmp_path) as webhook:
        with webhook.slow():
            jobs.create(indexed_job("held-up", 2))
            watching.tells("TuttiBindsSlow")
        watching.no_longer_tells("TuttiBindsSlow")
    eventually(lambda: jobs.whole("held-up"), within_seconds=SOON_SECONDS)
