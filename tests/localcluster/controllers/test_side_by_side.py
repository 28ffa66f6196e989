"""Small Jobs run by the stand-in and by the stock controller, on the same real server: the end is the same.

Needs KUBEBUILDER_ASSETS, and the better part of a minute: pauses after failures are the real ones.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcluster.shapes import NodeShape, node_manifest
from tests.localcluster.controllers.small_jobs import CASES, Case, Result, is_ready_for_more, is_settled, result
from verify.clusters.client import Api
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import REPOSITORY, kubelet_process
from verify.clusters.real import RealControlPlane
from verify.clusters.server import Server

START_SECONDS = 60.0
END_SECONDS = 90.0
QUIET_SECONDS = 2.0
CREATED = "2026-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd; see `make conformance`")
    plane = RealControlPlane(group_api="own", assets=Path(folder))
    plane.controller_manager.command.append("--controllers=-job-controller,-ttl-after-finished-controller")
    with plane:
        kubelet = kubelet_process(plane)
        for number in range(3):
            shape = NodeShape({"cpu": "8", "memory": "64Gi", "pods": "110"})
            plane.admin.create("nodes", node_manifest(f"n{number}", shape, now=CREATED))
        try:
            yield plane
        finally:
            kubelet.kill()


def stand_in(plane: ControlPlane) -> Server:
    command = [sys.executable, "-m", "localcluster.controllers", "--only=job"]
    return Server(
        "stand-in Job controller",
        [*command, "--kubeconfig", str(plane.kubeconfig_of(ADMIN))],
        log=plane.folder / "stand-in.log",
        environment={"PYTHONPATH": str(REPOSITORY)},
    )


def results(plane: ControlPlane, namespace: str) -> dict[str, Result]:
    """What becomes of all Jobs in a namespace of their own."""
    api = plane.admin
    api.create("namespaces", {"metadata": {"name": namespace}})
    for case in CASES:
        api.create("jobs", case.manifest, namespace)
    for case in CASES:
        if case.later is not None:
            eventually(lambda case=case: is_ready_for_more(api, namespace, case), within_seconds=START_SECONDS)  # type: ignore[misc]
            case.later(api, namespace, case.name)
    for case in CASES:
        eventually(lambda case=case: is_settled(api, namespace, case), within_seconds=END_SECONDS)  # type: ignore[misc]
    return eventually(lambda: quiet(api, namespace), within_seconds=END_SECONDS)


def quiet(api: Api, namespace: str) -> dict[str, Result]:
    """All results once they stay the same: events come a little later than what they tell of."""
    before = {case.name: result(api, namespace, case) for case in CASES}
    time.sleep(QUIET_SECONDS)
    after = {case.name: result(api, namespace, case) for case in CASES}
    return after if before == after else {}


@pytest.fixture(scope="module")
def both(control_plane: ControlPlane) -> tuple[dict[str, Result], dict[str, Result]]:
    """The stand-in's results, then the stock controller's."""
    server = stand_in(control_plane)
    server.start()
    try:
        ours = results(control_plane, "ours")
    finally:
        server.kill()
    control_plane.controller_manager.kill()
    control_plane.controller_manager.command.pop()
    control_plane.controller_manager.start()
    return ours, results(control_plane, "stock")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_job_ends_the_same(case: Case, both: tuple[dict[str, Result], dict[str, Result]]) -> None:
    ours, stock = both
    assert ours[case.name] == stock[case.name]
