"""Fixtures of upgrades: both versions of Tutti, and what users have on the cluster meanwhile."""

from collections.abc import Iterator

import pytest

from tests.conformance.scenarios.preemption_stage import Stage
from tests.conformance.upgrades.gangs import SETTLE_SECONDS, Gangs
from tests.conformance.upgrades.older import check_out, older_tutti
from tests.conformance.upgrades.parents import Parents
from tests.conformance.upgrades.replacing import end
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs
from verify.clusters.jobsets import JobSets
from verify.clusters.lws import Sets
from verify.clusters.tutti_process import Tutti


@pytest.fixture(scope="module")
def older(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tutti]:
    files = tmp_path_factory.mktemp("older")
    if not check_out(files):
        pytest.skip("shallow")
    made = older_tutti(control_plane, files)
    yield made
    made.kill_everything()


@pytest.fixture
def newer(installation: Tutti, older: Tutti) -> Iterator[Tutti]:
    """This version; neither of both runs before and after the test."""
    end(installation)
    yield installation
    end(older)
    end(installation)


@pytest.fixture
def gangs(jobs: Jobs, nodes: HollowNodes) -> Iterator[Gangs]:
    made = Gangs(jobs, nodes, Stage(jobs, nodes, None))
    yield made
    for job in jobs.api.list("jobs", jobs.namespace):
        jobs.api.delete("jobs", job["metadata"]["name"], jobs.namespace)
    made.stage.clear()


@pytest.fixture
def parents(
    control_plane: ControlPlane, namespace: str, nodes: HollowNodes, lws_controller: None, jobset_stand_in: None
) -> Iterator[Parents]:
    api = control_plane.admin
    made = Parents(Sets(api, namespace), JobSets(api, namespace), nodes)
    yield made
    for kind in ("leaderworkersets", "jobsets"):
        for each in api.list(kind, namespace):
            api.delete(kind, each["metadata"]["name"], namespace, propagation="Background")
    eventually(lambda: not api.list("pods", namespace), within_seconds=SETTLE_SECONDS)
