"""Devices on a real control plane: recorded decisions about them are made again, and a gang that waits for some is answered."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.devices import Devices, own, with_claims
from tests.conformance.test_recordings import fetch, reviews
from verify.clusters.cluster_files import ADMIN, token_of
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import Tutti, run_tutti

__all__ = ["reviews"]

SOON_SECONDS = 30

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.usefixtures("tutti"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]


def asked(control_plane: ControlPlane, folder: Path, namespace: str, *words: str) -> tuple[int, Any]:
    kubeconfig = str(control_plane.kubeconfig_of(ADMIN))
    ran = run_tutti(*words, "-n", namespace, "-o", "json", "--kubeconfig", kubeconfig, folder=folder)
    assert ran.code in {0, 3, 4}, ran.err
    return ran.code, json.loads(ran.out)


def two_gangs(devices: Devices, jobs: Jobs) -> None:
    """One has three of five devices of a node, the other one waits for all five."""
    devices.add_node("n1")
    devices.add_class()
    devices.offer("n1", *(f"g{number}" for number in range(5)))
    devices.template("t", devices.request())
    devices.gang("first", 3, own("t"))
    eventually(lambda: jobs.whole("first"), within_seconds=SOON_SECONDS)
    devices.gang("second", 5, own("t"))
    eventually(lambda: jobs.waits("second"), within_seconds=SOON_SECONDS)
    eventually(lambda: len(devices.claims()) == 8, within_seconds=SOON_SECONDS)


def test_decisions_about_devices_are_made_again_from_a_recording(
    control_plane: ControlPlane,
    namespace: str,
    devices: Devices,
    jobs: Jobs,
    tutti: Tutti,
    reviews: None,
    tmp_path: Path,
) -> None:
    api, admin = control_plane.admin, token_of(ADMIN)
    two_gangs(devices, jobs)
    inputs, decisions = tmp_path / "inputs", tmp_path / "decisions"
    eventually(lambda: fetch(tutti, "/debug/snapshot", inputs, admin) == 200, within_seconds=10)
    api.delete("jobs", "first", namespace)
    eventually(lambda: jobs.whole("second"), within_seconds=2 * SOON_SECONDS)
    assert fetch(tutti, "/debug/decisions", decisions, admin) == 200

    repeated = run_tutti("replay", str(decisions), "--output", "json", folder=tmp_path)
    found = json.loads(repeated.out)
    assert repeated.code == 0, repeated.out + repeated.err
    assert found["decisions"] == found["same"] > 2

    waiting = run_tutti("replay", str(inputs), "--output", "json", folder=tmp_path)
    group = jobs.group("second")["metadata"]["name"]
    item = next(item for item in json.loads(waiting.out)["items"] if item["item"]["name"] == group)
    assert "cannot allocate all claims" in item["is"]["decision"]["message"]


def test_a_gang_that_waits_for_devices_is_told_so_and_what_would_do(
    control_plane: ControlPlane, namespace: str, devices: Devices, jobs: Jobs, tmp_path: Path
) -> None:
    api = control_plane.admin
    two_gangs(devices, jobs)
    code, (answer,) = asked(control_plane, tmp_path, namespace, "why", "job/second")
    assert (code, answer["reason"]) == (3, "devices"), answer
    assert answer["hint"]["kind"] == "wait-for"
    assert answer["hint"]["what"] == "job/first"

    manifest = tmp_path / "job.yaml"
    third = indexed_job("third", 2)
    with_claims(third["spec"]["template"]["spec"], [own("t")])
    manifest.write_text(yaml.safe_dump({"apiVersion": "batch/v1", "kind": "Job", **third}))
    code, found = asked(control_plane, tmp_path, namespace, "fit", "-f", str(manifest))
    assert (code, found["items"][0]["nodes"]) == (0, [{"node": devices.nodes["n1"], "pods": 2}]), found

    taken = tmp_path / "snapshot"
    kubeconfig = str(control_plane.kubeconfig_of(ADMIN))
    made = run_tutti("snapshot", "-o", str(taken), "--anonymous", "--kubeconfig", kubeconfig, folder=tmp_path)
    assert made.code == 0, made.err
    decided = json.loads(run_tutti("replay", str(taken), "--output", "json", folder=tmp_path).out)
    assert any("cannot allocate all claims" in item["is"]["decision"]["message"] for item in decided["items"])

    api.delete("jobs", "first", namespace)
    eventually(lambda: jobs.whole("second"), within_seconds=2 * SOON_SECONDS)
