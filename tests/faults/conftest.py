"""Fixtures of the matrix: those of the conformance tests, with a proxy between Tutti's processes and the API server."""

import json
import ssl
from collections.abc import Iterator

import pytest

from tests.conformance import cluster_files as files
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
from tests.conformance.controlplane import ControlPlane
from tests.conformance.eventually import eventually
from tests.conformance.lws import SERVED_SECONDS, is_followed
from tests.conformance.tutti_process import Tutti
from tests.placement import profiles
from verify.auditor.end_state import State
from verify.auditor.identities import INSTALLER
from verify.faults.proxy import LOOPBACK, FaultProxy

HASTY = {"lease_seconds": 8, "renew_seconds": 6, "retry_seconds": 0.5}
"""A leader that was killed is followed at once, so that a cell of the matrix takes seconds."""


@pytest.fixture(scope="session")
def proxy(control_plane: ControlPlane) -> Iterator[FaultProxy]:  # noqa: F811
    to_clients = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    to_clients.load_cert_chain(control_plane.folder / "apiserver.crt", control_plane.folder / "apiserver.key")
    to_server = ssl.create_default_context(cafile=str(control_plane.ca))
    made = FaultProxy(control_plane.url, to_server=to_server, to_clients=to_clients)
    with made.in_thread():
        yield made


@pytest.fixture(scope="session")
def installation(control_plane: ControlPlane, proxy: FaultProxy) -> Iterator[Tutti]:  # noqa: F811
    """`tutti run`, which knows no other server than the proxy, and neither do the processes that it starts."""
    made = Tutti(control_plane)
    kubeconfig = control_plane.kubeconfig_of(INSTALLER)
    files.write_kubeconfig(kubeconfig, server=f"https://{LOOPBACK}:{proxy.port}", ca=control_plane.ca, user=INSTALLER)
    usual = profiles.settings()
    hasty = {**usual, "scheduler": {**usual["scheduler"], **HASTY}, "controllers": HASTY}
    (control_plane.folder / "tutti.yaml").write_text(json.dumps(hasty))
    yield made
    made.kill_everything()


@pytest.fixture
def tutti(installation: Tutti, control_plane: ControlPlane, kubelet: None, lws_controller: None) -> Tutti:  # noqa: F811
    control_plane.require_running()
    installation.ensure_running()
    eventually(lambda: is_followed(control_plane.admin), within_seconds=SERVED_SECONDS)
    return installation


@pytest.fixture(scope="session")
def undisturbed(control_plane: ControlPlane) -> dict[str, State]:  # noqa: F811
    """The end states of undisturbed runs by workflow, as far as they were needed."""
    return {}
