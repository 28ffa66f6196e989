"""Two tenants and room for both: what the tests of hostile tenants begin with."""

from collections.abc import Iterator

import pytest

from tests.conformance.conftest import empty
from tests.conformance.tenants.attacks import empty_namespace
from tests.conformance.tenants.bind_times import LENIENT_SECONDS, STRICT_SECONDS, BindTimes, ordinary_job
from tests.conformance.tenants.tenant import Tenant, tenant
from verify.auditor.audit_log import AuditLog
from verify.clusters.controlplane import ControlPlane
from verify.clusters.hollow import HollowNodes
from verify.clusters.tutti_process import Tutti


@pytest.fixture
def victim(control_plane: ControlPlane, nodes: HollowNodes, tutti: Tutti) -> Iterator[Tenant]:
    """Has the role `edit` in his namespace."""
    made = tenant(control_plane, "victim", "edit")
    yield made
    empty(control_plane, made.namespace)
    leave(control_plane, made)


@pytest.fixture
def attacker(control_plane: ControlPlane, nodes: HollowNodes, tutti: Tutti) -> Iterator[Tenant]:
    """Has the role `admin` in his namespace."""
    made = tenant(control_plane, "attacker", "admin")
    yield made
    empty_namespace(control_plane.admin, made.namespace)
    empty(control_plane, made.namespace)
    leave(control_plane, made)


def leave(control_plane: ControlPlane, who: Tenant) -> None:
    """The tenant's namespace goes."""
    control_plane.admin.delete("namespaces", who.namespace)
    who.api.close()


@pytest.fixture
def times(request: pytest.FixtureRequest, victim: Tenant, nodes: HollowNodes, audit_log: AuditLog) -> BindTimes:
    """The victim's, with room for all that he asks for."""
    nodes.add(2, cpu="16")
    made = BindTimes(victim, audit_log, STRICT_SECONDS if request.config.getoption("--slow") else LENIENT_SECONDS)
    made.one()  # whatever is done for the first time only
    return made


@pytest.fixture
def ordinary(times: BindTimes) -> BindTimes:
    """The victim's Jobs that are none of Tutti's: the control where an attack keeps the API server busy."""
    made = BindTimes(times.tenant, times.log, times.noise_seconds, ordinary_job)
    made.one()
    return made
