"""The chart on a real API server, by the real helm: installed, changed, taken away; and who may then read metrics."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import yaml

from hack.chart.render import FOLDER
from kube.client.credentials import load_credentials
from kube.process.metrics_access import MetricsAccess
from tests.programs import tool
from verify.clusters.controlplane import ControlPlane
from verify.clusters.real import RealControlPlane

NAMESPACE = "batch-system"
PROFILE = {"scheduler_name": "tutti-packed", "resources_fit": {"strategy": "MostAllocated"}}
CHANGED = {"profiles": [PROFILE], "webhooks": {"replicas": 3}, "networkPolicy": {"enabled": True}}

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("helm wants a server with everything")]


@pytest.fixture
def own_plane(assets: Path) -> Iterator[ControlPlane]:
    """A control plane without anything of ours: the chart names what `tutti run` installs, too."""
    with RealControlPlane(group_api="own", assets=assets, stock_scheduler=False, audited=False) as running:
        yield running


def helm(plane: ControlPlane, *arguments: str | Path, stdin: str = "") -> str:
    command = [tool("helm", "helm"), *arguments, "--namespace", NAMESPACE, "--kubeconfig", plane.kubeconfig]
    environment = {**os.environ, "HOME": str(plane.folder)}
    done = subprocess.run(command, input=stdin, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_installed_changed_and_taken_away_and_the_kinds_stay(own_plane: ControlPlane) -> None:
    notes = helm(own_plane, "install", "tutti", FOLDER, "--create-namespace")
    assert f"installed in the namespace {NAMESPACE}" in notes
    assert deployment(own_plane, "tutti-scheduler")["spec"]["replicas"] == 2
    assert_metrics_are_for_the_reader(own_plane)

    helm(own_plane, "upgrade", "tutti", FOLDER, "--values", "-", stdin=yaml.safe_dump(CHANGED))
    webhooks = deployment(own_plane, "tutti-webhooks")
    assert webhooks["spec"]["replicas"] == 3
    (container,) = webhooks["spec"]["template"]["spec"]["containers"]
    assert "--config=/etc/tutti/webhooks.yaml" in container["args"]

    helm(own_plane, "uninstall", "tutti")
    assert own_plane.kubectl("get", "deployments", "--namespace", NAMESPACE, "--output=name").out == ""
    assert own_plane.kubectl("get", "mutatingwebhookconfigurations", "--output=name").out == ""
    kinds = own_plane.kubectl("get", "customresourcedefinitions", "--output=name").out
    assert "podgroups.tutti.scheduler" in kinds


def deployment(plane: ControlPlane, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        plane.kubectl("get", "deployment", name, "--namespace", NAMESPACE, "--output=json").out
    )
    return found


def assert_metrics_are_for_the_reader(plane: ControlPlane) -> None:
    """The rights that the chart gives are those that our process needs to ask, and the reader to read."""
    ours = plane.kubectl("create", "token", "tutti-scheduler", "--namespace", NAMESPACE).out.strip()
    reader = plane.kubectl("create", "token", "tutti-metrics-reader", "--namespace", NAMESPACE).out.strip()
    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": ours}
    file = plane.folder / "scheduler.kubeconfig"
    file.write_text(yaml.safe_dump(config))

    async def statuses() -> list[HTTPStatus]:
        async with MetricsAccess(load_credentials(str(file)), user_agent="test") as access:
            return [await access.decide(f"Bearer {token}") for token in (reader, ours, "made-up")]

    assert asyncio.run(statuses()) == [HTTPStatus.OK, HTTPStatus.FORBIDDEN, HTTPStatus.UNAUTHORIZED]
