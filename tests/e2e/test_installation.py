"""What `config/default` puts on a cluster: pods that start as the image's own user, soon, and need little."""

import datetime as dt
import json
import sys
from statistics import median

import pytest

from tests.e2e.containers import started_at
from tests.e2e.node import NAME, SYSTEM, Node
from verify.clusters.jobs import Object, condition_entry

READY_SECONDS = 10.0
AT_WORST_SECONDS = 20.0
AT_REST_MEBIBYTES = 100.0
IMAGE_USER = "65532"


def test_every_process_runs_as_the_user_of_the_image_and_was_never_started_again(tutti: Node) -> None:
    pods = tutti.api.list("pods", SYSTEM)
    assert len(pods) == 6
    for pod in pods:
        assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
    pids = tutti.processes()
    assert len(pids) == 6
    for pid in pids:
        owner = [
            line.split()[1]
            for line in tutti.inside("cat", f"/proc/{pid}/status").splitlines()
            if line.startswith("Uid:")
        ]
        assert owner == [IMAGE_USER]


def test_every_pod_is_ready_soon_after_its_container_has_started(
    tutti: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    """All six at once, on however few processors the machine has."""
    took = {pod["metadata"]["name"]: seconds_to_ready(pod) for pod in tutti.api.list("pods", SYSTEM)}
    say(capsys, f"seconds from the start of a container to Ready: {took}")
    assert median(took.values()) <= READY_SECONDS, took
    assert max(took.values()) <= AT_WORST_SECONDS, took


def seconds_to_ready(pod: Object) -> float:
    """From the start of its container to the moment it was Ready."""
    ready = condition_entry(pod, "Ready")
    assert ready is not None
    return (dt.datetime.fromisoformat(ready["lastTransitionTime"]) - started_at(pod)).total_seconds()


def say(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Says a figure to whoever reads the run."""
    with capsys.disabled():
        sys.stdout.write(f"\n{line}\n")


COMPILED_EACH_TIME = """
import os, sys
import {module}
print([each.__name__ for each in list(sys.modules.values())
       if getattr(each, "__cached__", None) and not os.path.exists(each.__cached__)])
"""


@pytest.mark.parametrize("process", ["scheduler", "controllers", "webhooks"])
def test_nothing_is_compiled_when_a_process_starts(tutti: Node, process: str) -> None:
    """Nobody could keep what was compiled: the file system is not to be written to."""
    code = COMPILED_EACH_TIME.format(module=f"{process}.main")
    python = ("/tutti/bin/python", "-c", code)
    assert tutti.kubectl("-n", SYSTEM, "exec", f"deployment/tutti-{process}", "--", *python).strip() == "[]"


def test_its_pods_meet_the_restricted_standard(tutti: Node) -> None:
    level = "pod-security.kubernetes.io/enforce=restricted"
    told = tutti.kubectl("label", "namespace", SYSTEM, level, "--dry-run=server", "--overwrite")
    assert "violate" not in told


def test_a_process_at_rest_needs_little_memory(tutti: Node, capsys: pytest.CaptureFixture[str]) -> None:
    summary = json.loads(tutti.kubectl("get", "--raw", f"/api/v1/nodes/{NAME}/proxy/stats/summary"))
    used = {
        pod["podRef"]["name"]: pod["memory"]["workingSetBytes"] / 2**20
        for pod in summary["pods"]
        if pod["podRef"]["namespace"] == SYSTEM and pod.get("memory", {}).get("workingSetBytes")
    }
    assert used
    say(capsys, f"MiB at rest: { {name: round(mib, 1) for name, mib in used.items()} }")
    assert max(used.values()) <= AT_REST_MEBIBYTES, used
