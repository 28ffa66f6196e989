"""`tutti why` and `tutti fit` as a person types them, on a snapshot: what is printed, which exit code."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.recording.file import Recording, lines_of, write
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.listed import from_manifests
from tests.explain.scenes import NOW_SECONDS
from tests.explain.test_fit import job
from tutti import main

BECAUSE = "minCount (2) cannot be satisfied: 0 of 2 pods can be placed; 0/2 nodes are available: 2 Insufficient cpu."
GROUP: dict[str, Any] = {
    "kind": "PodGroup",
    "metadata": {
        "name": "train",
        "namespace": "team",
        "uid": "g",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": {"tutti.scheduler/managed-by": "tutti"},
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j", "controller": True}],
    },
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}


def _node(name: str, cpu: str) -> dict[str, Any]:
    status = {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110"}}
    labels = {"kubernetes.io/hostname": name}
    return {"kind": "Node", "metadata": {"name": name, "uid": name, "labels": labels}, "spec": {}, "status": status}


def _pod(name: str, cpu: str, *, uid: str = "j") -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": name,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {"tutti.scheduler/pod-group": "train"},
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": uid, "controller": True}
            ],
        },
        "spec": {"schedulerName": "tutti", "containers": [{"resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Pending"},
    }


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """Two nodes of 8 CPUs, and a gang of two pods that ask for 9 and, beside them, nobody."""
    return _written(tmp_path, "9")


def _written(folder: Path, cpu: str) -> str:
    manifests = [_node("n0", "8"), _node("n1", "8"), GROUP, _pod("p0", cpu), _pod("p1", cpu)]
    inputs = DecisionInputs(
        epoch_seconds=NOW_SECONDS,
        monotonic_seconds=1000.0,
        settings={},
        group_api="own",
        server_version="",
        objects=from_manifests(manifests),
    )
    path = folder / "snapshot"
    write(path, lines_of(Recording(inputs)))
    return str(path)


def test_why_on_one_screen(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "job/train", "-n", "team", "--snapshot", snapshot]) == 4
    assert capsys.readouterr().out.splitlines() == [
        "job/train in team: cannot start on this cluster, however empty (room, for 1 min 40 s)",
        "  because   " + BECAUSE,
        "  pods      needs 2 together, 2 wait, 0 have a node, 0 could be placed now",
        "  turn      1 of 1 that wait",
        "  blocks    cpu: each pod asks for 9",
        "              2 nodes have room for 0 pods: cpu=8 (at most 8 free on one, 2 too small even when empty)",
        "  evicts    No preemption victims found for incoming preemptor",
        "  hint      `cpu: 8` instead of 9 fits",
    ]


def test_the_namespace_is_that_of_the_kubeconfigs_context(
    snapshot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kubeconfig"
    context = {"cluster": "c", "user": "u", "namespace": "team"}
    written = {"current-context": "here", "contexts": [{"name": "here", "context": context}]}
    others = {"clusters": [{"name": "c", "cluster": {"server": "https://nowhere.example"}}], "users": []}
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **written, **others}))
    manifest = tmp_path / "job.yaml"
    manifest.write_text(yaml.safe_dump(job("small", 2)))
    for given in (["--kubeconfig", str(file)], []):
        monkeypatch.setenv("KUBECONFIG", str(file))
        assert main(["why", "job/train", "--snapshot", snapshot, *given]) == 4
        assert main(["fit", "-f", str(manifest), "--snapshot", snapshot, *given]) == 0
        assert "job/small in team: yes" in capsys.readouterr().out
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert main(["fit", "-f", str(manifest), "--snapshot", snapshot]) == 0
    assert "job/small in default: yes" in capsys.readouterr().out


def test_why_as_json_for_each_way_to_name_it(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    for target in ("job/train", "podgroup/train", "pod/p1"):
        assert main(["why", target, "-n", "team", "--snapshot", snapshot, "-o", "json"]) == 4
        (answer,) = json.loads(capsys.readouterr().out)
        assert answer["item"] == {"kind": "group", "namespace": "team", "name": "train", "owner": "job/train"}
        assert answer["hint"] == {
            "kind": "lower-request",
            "message": "`cpu: 8` instead of 9 fits",
            "resource": "cpu",
            "amount": "8",
        }


def test_what_can_start_has_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "job/train", "-n", "team", "--snapshot", _written(tmp_path, "8")]) == 0
    assert "starts (turn" in capsys.readouterr().out


def test_mistakes_are_one_line_and_exit_code_2(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [
        ["why", "deployment/x", "--snapshot", snapshot],
        ["why", "job/x", "--snapshot", snapshot],
        ["why", "job/x", "--snapshot", f"{snapshot}-not"],
        ["fit", "-f", f"{snapshot}-not", "--snapshot", snapshot],
        ["fit", "-f", snapshot, "--nodes", "4", "--snapshot", snapshot],
    ]
    for words in wrong:
        assert main(words) == 2, words
        said = capsys.readouterr()
        assert said.out == ""
        assert len(said.err.splitlines()) == 1, said.err


def test_fit_says_where_and_what_not(snapshot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(yaml.safe_dump_all([job("small", 2, cpu="7"), job("large", 3, cpu="7")]))
    words = ["fit", "-f", str(file), "-n", "team", "--snapshot", snapshot]
    assert main(words) == 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "job/small in team: yes, 2 pods"
    assert lines[1] == "  n0 (1), n1 (1)"
    assert lines[2] == "job/large in team: no"
    assert main([*words, "--nodes", "3", "--like", "n0", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["fits"] for one in found["items"]] == [True, True]
