"""`tutti snapshot` and `tutti replay` as people run them: what they say, their exit codes, and no traceback."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import tutti
from scheduler.recording.capture import take
from scheduler.recording.file import Recording, lines_of, read, write
from scheduler.recording.journal import Journal
from scheduler.recording.pods import PodWriter
from tests.recording.life import Life


def of_life(folder: Path, seed: int = 4, turns: int = 60) -> Path:
    life = Life(seed)
    life.live(turns)
    file = folder / "snapshot"
    write(file, lines_of(Recording(take(life.core, life.moment()).inputs())))
    return file


def recorded(folder: Path, seed: int = 4) -> Path:
    life = Life(seed)
    life.live(20)
    life.journal = Journal(life.core, life.moment, lambda: life.now, 1000)
    life.live(40)
    found = life.journal.recorded()
    steps = tuple(found.each_step(PodWriter(life.state.texts())))
    file = folder / "decisions"
    write(file, lines_of(Recording(found.inputs.inputs(), steps)))
    return file


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = tutti.main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_recorded_decisions_are_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "replay", str(recorded(tmp_path)))
    assert code == 0
    assert out.endswith(" identical, 0 different\n")


def test_repeated_decisions_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "replay", str(recorded(tmp_path)), "--output", "json")
    found = json.loads(out)
    assert code == 0
    assert found["decisions"] == found["same"] > 10
    assert found["differences"] == []


def test_other_settings_show_which_decisions_they_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = '[{"scheduler_name": "tutti-packed", "limits": {"members": 1}}]'
    file = str(recorded(tmp_path))
    code, out, _ = said(capsys, "replay", file, "--set", f"profiles={profile}")
    assert code == 1
    assert "podgroup/g" in out
    code, out, _ = said(capsys, "replay", file, "--set", f"profiles={profile}", "--output", "json")
    one = json.loads(out)["differences"][0]
    assert one["was"] != one["is"]
    assert one["item"]["kind"] in {"PodGroup", "Pod"}


def test_what_waits_in_a_snapshot_is_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "replay", str(of_life(tmp_path)))
    assert code == 0
    assert " items wait: " in out.splitlines()[-1]


def test_what_waits_is_compared_under_other_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(of_life(tmp_path))
    assert said(capsys, "replay", file, "--set", "max_backoff_seconds=20")[0] == 0
    code, out, _ = said(capsys, "replay", file, "--set", "preemption=false", "--output", "json")
    found = json.loads(out)
    assert code == (1 if found["different"] else 0)
    assert found["different"] == sum(not item["same"] for item in found["items"])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("decision_steps", "is no NAME=VALUE"),
        ("colour=red", "unknown setting 'colour'"),
        ("log_level=debug", "has no part in decisions"),
        ("decision_steps=many", "decision_steps"),
        ("profiles=[", "is no YAML"),
    ],
)
def test_a_setting_that_cannot_be_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, word: str
) -> None:
    code, _, err = said(capsys, "replay", str(of_life(tmp_path, turns=5)), "--set", change)
    assert code == 2
    assert word in err
    assert len(err.splitlines()) == 1


def test_a_file_that_is_none_ends_with_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("kind: Pod")
    code, _, err = said(capsys, "replay", str(file))
    assert (code, len(err.splitlines())) == (2, 1)
    assert "is no recording of tutti" in err


def test_a_file_whose_lines_contradict_each_other_ends_with_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = read(recorded(tmp_path))
    less = Recording(_without_pods(found), found.steps)
    file = tmp_path / "less"
    write(file, lines_of(less))
    code, _, err = said(capsys, "replay", str(file))
    assert code in {1, 2}
    assert "Traceback" not in err


def _without_pods(found: Recording) -> Any:
    return msgspec.structs.replace(found.inputs, objects=msgspec.structs.replace(found.inputs.objects, pods=()))


def test_a_snapshot_is_taken_from_a_recording_with_made_up_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, file = of_life(tmp_path), tmp_path / "hidden"
    code, out, _ = said(capsys, "snapshot", "--from", str(source), "-o", str(file), "--anonymous", "--output", "json")
    assert code == 0
    assert json.loads(out)["anonymous"] is True
    assert read(file).is_anonymous
    assert said(capsys, "replay", str(file))[0] == 0


def test_a_cluster_that_cannot_be_reached_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(json.dumps(KUBECONFIG))
    code, _, err = said(capsys, "snapshot", "-o", str(tmp_path / "file"), "--kubeconfig", str(kubeconfig))
    assert code == 2
    assert "cannot reach" in err
    assert not (tmp_path / "file").exists()


KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "current-context": "c",
}
