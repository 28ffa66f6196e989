"""A control plane of their own for these tests: the installation is that of `config/`, the processes are the tests'."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.replicas.deployments import Deployments
from tests.conformance.scenarios.preemption_stage import Stage
from verify.auditor.audit_log import AuditLog
from verify.auditor.auditor import Auditor
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes, kubelet_process
from verify.clusters.jobs import Jobs
from verify.clusters.real import RealControlPlane

REPOSITORY = Path(__file__).parents[3]
PARTS = ("crd", "rbac", "policy", "webhook")
SERVED_SECONDS = 30


class RoutingControlPlane(RealControlPlane):
    """An API server that calls webhooks at the endpoints of their Service: there is no proxy of Services on this machine."""

    def _apiserver_flags(self, port: int, etcd: int) -> list[str]:
        return [*super()._apiserver_flags(port, etcd), "--enable-aggregator-routing=true"]


@pytest.fixture(scope="package")
def control_plane(request: pytest.FixtureRequest) -> Iterator[RoutingControlPlane]:
    if request.config.getoption("--cluster", default="real") == "embedded":
        pytest.skip("a real cluster only: the embedded server reaches webhooks by URL")
    assets: Path = request.getfixturevalue("assets")
    running = RoutingControlPlane(group_api="own", assets=assets, stock_scheduler=False)
    with running:
        for part in PARTS:
            running.kubectl("apply", "--server-side", "-k", str(REPOSITORY / "config" / part))
        eventually(lambda: running.admin.list("podgroups") == [], within_seconds=SERVED_SECONDS)
        # The garbage collector looks for new kinds every 30 s only.
        running.restart_controller_manager()
        yield running


@pytest.fixture(scope="package")
def kubelet(control_plane: RoutingControlPlane) -> Iterator[None]:
    server = kubelet_process(control_plane)
    yield
    server.kill()


@pytest.fixture(scope="package")
def session_auditor() -> Auditor:
    return Auditor()


@pytest.fixture(scope="package")
def audit_log(control_plane: RoutingControlPlane) -> AuditLog:
    return AuditLog(control_plane.audit_log)


@pytest.fixture(scope="package")
def audit_position() -> list[int]:
    return [0]


@pytest.fixture
def deployments(control_plane: RoutingControlPlane, tmp_path: Path) -> Iterator[Deployments]:
    """What runs of Tutti: nothing, until the test starts it; all of it ends with the test."""
    made = Deployments(control_plane, tmp_path, prefix=f"r{secrets.token_hex(2)}")
    yield made
    made.end()


@pytest.fixture
def stage(jobs: Jobs, nodes: HollowNodes) -> Iterator[Stage]:
    made = Stage(jobs, nodes, None)
    yield made
    made.clear()
