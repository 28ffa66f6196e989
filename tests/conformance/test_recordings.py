"""What was recorded of a scheduler on a real control plane is decided again as it was; so is what users read themselves."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.test_preemption import Classes, classes, gang
from verify.clusters.cluster_files import ADMIN, token_of
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import Tutti, run_tutti

__all__ = ["classes"]

REVIEWS = "tutti-asks-who-may"


@pytest.fixture
def reviews(control_plane: ControlPlane) -> Iterator[None]:
    """The right to ask whose a token is, which the component `metrics-authentication` gives."""
    api = control_plane.admin
    rules = [
        {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
    ]
    api.create("clusterroles", {"metadata": {"name": REVIEWS}, "rules": rules})
    account = {"kind": "ServiceAccount", "name": "tutti-scheduler", "namespace": "tutti-system"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": REVIEWS}
    api.create("clusterrolebindings", {"metadata": {"name": REVIEWS}, "roleRef": role, "subjects": [account]})
    yield
    api.delete("clusterrolebindings", REVIEWS)
    api.delete("clusterroles", REVIEWS)


def fetch(tutti: Tutti, path: str, file: Path, token: str) -> int:
    """The status of the answer, whose body is in the file."""
    port = tutti.metrics_ports()["scheduler"]
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            file.write_bytes(answer.read())
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_recorded_decisions_and_snapshots_are_decided_again(
    jobs: Jobs,
    nodes: HollowNodes,
    tutti: Tutti,
    classes: Classes,
    control_plane: ControlPlane,
    reviews: None,
    tmp_path: Path,
) -> None:
    low, high = classes.make("low", 10), classes.make("high", 100)
    nodes.add(2, cpu="4")
    jobs.create(gang("early", low, run_seconds=60))
    eventually(lambda: jobs.whole("early"), within_seconds=15)
    jobs.create(gang("urgent", high, run_seconds=60))
    eventually(lambda: jobs.whole("urgent"), within_seconds=15)
    jobs.create(indexed_job("waits", 20))
    eventually(lambda: jobs.waits("waits"), within_seconds=15)

    decisions, inputs = tmp_path / "decisions", tmp_path / "inputs"
    admin, nobody = token_of(ADMIN), control_plane.token_of_account("tutti-webhooks")
    eventually(lambda: fetch(tutti, "/debug/decisions", decisions, admin) == 200, within_seconds=10)
    assert fetch(tutti, "/debug/snapshot", inputs, admin) == 200
    assert fetch(tutti, "/debug/snapshot", tmp_path / "none", nobody) == 403
    assert fetch(tutti, "/debug/snapshot", tmp_path / "none", "made-up") == 401

    repeated = run_tutti("replay", str(decisions), "--output", "json", folder=tmp_path)
    found = json.loads(repeated.out)
    assert repeated.code == 0, repeated.out + repeated.err
    assert found["decisions"] == found["same"] > 2

    waiting = run_tutti("replay", str(inputs), "--output", "json", folder=tmp_path)
    assert waiting.code == 0, waiting.err
    group = jobs.group("waits")["metadata"]["name"]
    item = next(item for item in json.loads(waiting.out)["items"] if item["item"]["name"] == group)
    assert item["is"]["decision"]["result"] == "unschedulable"

    mine = tmp_path / "mine"
    kubeconfig = str(control_plane.kubeconfig_of(ADMIN))
    taken = run_tutti("snapshot", "-o", str(mine), "--anonymous", "--kubeconfig", kubeconfig, folder=tmp_path)
    assert taken.code == 0, taken.err
    assert run_tutti("replay", str(mine), folder=tmp_path).code == 0
