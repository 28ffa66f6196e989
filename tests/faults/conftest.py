"""Fixtures of the matrix: those of the conformance tests, with a proxy between Tutti's processes and the API server."""

from collections.abc import Iterator

import pytest

from tests.conformance.conftest import (  # noqa: F401 (fixtures and options are found by their names)
    assets,
    audit_log,
    audit_position,
    auditor,
    chance,
    control_plane,
    group_api,
    kubelet,
    lws_controller,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_makereport,
    session_auditor,
)
from tests.faults.cell import await_ready
from verify.auditor.end_state import State
from verify.clusters.behind_proxy import proxy_before, tutti_behind
from verify.clusters.controlplane import ControlPlane
from verify.clusters.tutti_process import Tutti
from verify.faults.proxy import FaultProxy


@pytest.fixture(scope="session")
def proxy(control_plane: ControlPlane) -> Iterator[FaultProxy]:  # noqa: F811
    with proxy_before(control_plane) as made:
        yield made


@pytest.fixture(scope="session")
def installation(control_plane: ControlPlane, proxy: FaultProxy) -> Iterator[Tutti]:  # noqa: F811
    """`tutti run`, which knows no other server than the proxy, and neither do the processes that it starts."""
    made = tutti_behind(control_plane, proxy)
    yield made
    made.kill_everything()


@pytest.fixture
def tutti(
    installation: Tutti,
    control_plane: ControlPlane,  # noqa: F811
    proxy: FaultProxy,
    kubelet: None,  # noqa: F811
    lws_controller: None,  # noqa: F811
) -> Tutti:
    await_ready(installation, control_plane, proxy)
    return installation


@pytest.fixture(scope="session")
def undisturbed(control_plane: ControlPlane) -> dict[str, State]:  # noqa: F811
    """The end states of undisturbed runs by workflow, as far as they were needed."""
    return {}
