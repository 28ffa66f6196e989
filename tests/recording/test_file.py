"""Recordings in files: what is read is what was written, nothing private is in them, and bad files are told."""

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.errors import ConfigurationError
from api.meta import Metadata
from api.priorityclass import PriorityClass
from scheduler.cache.disruption_budgets import Budget
from scheduler.recording.capture import take
from scheduler.recording.file import (
    Recording,
    compressed,
    lines_of,
    lines_of_taken,
    read,
    write,
    write_parts,
)
from scheduler.recording.inputs import DecisionInputs
from scheduler.recording.journal import Journal
from scheduler.recording.listed import KINDS, from_manifests
from scheduler.recording.pods import PodWriter
from scheduler.recording.replay import repeat
from tests.recording.life import Life

SECRET = "hunter2"
PRIVATE: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "namespace": "ns",
        "uid": "u",
        "labels": {"app": "a"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": f'{{"env": "{SECRET}"}}', "note": SECRET},
        "managedFields": [{"manager": SECRET}],
        "finalizers": [SECRET],
    },
    "spec": {
        "schedulerName": "tutti",
        "serviceAccountName": SECRET,
        "imagePullSecrets": [{"name": SECRET}],
        "hostAliases": [{"ip": "1.2.3.4", "hostnames": [SECRET]}],
        "containers": [
            {
                "name": "main",
                "image": "app:1",
                "command": ["run", SECRET],
                "args": [SECRET],
                "env": [{"name": "PASSWORD", "value": SECRET}],
                "envFrom": [{"secretRef": {"name": SECRET}}],
                "volumeMounts": [{"name": "s", "mountPath": f"/{SECRET}", "bindMountOptions": ["noexec"]}],
                "resources": {"requests": {"cpu": "1"}},
                "lifecycle": {"postStart": {"exec": {"command": [SECRET]}}},
            }
        ],
        "initContainers": [{"name": "i", "env": [{"name": "PASSWORD", "value": SECRET}]}],
        "ephemeralContainers": [{"name": "debug", "env": [{"name": "PASSWORD", "value": SECRET}]}],
        "volumes": [
            {"name": "s", "secret": {"secretName": SECRET}},
            {"name": "c", "configMap": {"name": SECRET}},
            {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": SECRET}}]}},
            {"name": "e", "ephemeral": {"volumeClaimTemplate": {"metadata": {"annotations": {"a": SECRET}}}}},
            {"name": "r", "rbd": {"monitors": ["m"], "image": "i", "user": SECRET, "secretRef": {"name": SECRET}}},
            {"name": "i", "iscsi": {"iqn": "q", "secretRef": {"name": SECRET}, "initiatorName": SECRET}},
        ],
    },
    "status": {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "message": SECRET}],
        "message": SECRET,
    },
}


def written(tmp_path: Path, recording: Recording) -> Path:
    file = tmp_path / "file"
    write(file, lines_of(recording))
    return file


def of_life(seed: int = 1) -> DecisionInputs:
    life = Life(seed)
    life.live(40)
    return take(life.core, life.moment()).inputs()


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    inputs = of_life()
    found = read(written(tmp_path, Recording(inputs)))
    assert msgspec.json.decode(msgspec.json.encode(found.inputs)) == msgspec.json.decode(msgspec.json.encode(inputs))


def test_a_file_with_steps_is_repeated_as_it_was(tmp_path: Path) -> None:
    life = Life(2)
    life.live(20)
    life.outcomes.clear()
    life.journal = Journal(life.core, life.moment, lambda: life.now, 1000)
    life.live(40)
    recorded = life.journal.recorded()
    lines = lines_of_taken(recorded.inputs, recorded.each_step(PodWriter(life.state.texts())))
    file = tmp_path / "file"
    write_parts(file, compressed(lines, every_bytes=1000))
    found = read(file)
    repeated = list(repeat(found.inputs, found.steps))
    assert repeated
    assert all(one.is_same for one in repeated)
    assert [one.was for one in repeated] == life.outcomes


def test_only_its_owner_may_read_a_file(tmp_path: Path) -> None:
    assert written(tmp_path, Recording(of_life())).stat().st_mode & 0o777 == 0o600


def test_environment_secrets_and_data_are_never_in_a_file(tmp_path: Path) -> None:
    others = [{"kind": kind, "metadata": PRIVATE["metadata"]} for kind in KINDS]
    inputs = DecisionInputs(epoch_seconds=1.0, objects=from_manifests([PRIVATE, *others]))
    text = gzip.decompress(written(tmp_path, Recording(inputs)).read_bytes()).decode()
    assert SECRET not in text
    assert '"app:1"' in text


def test_objects_that_nobody_made_slim_are_made_so_when_they_are_written(tmp_path: Path) -> None:
    inputs = of_life()
    fat = msgspec.structs.replace(
        inputs.objects.pods[0].metadata, annotations={"note": SECRET, "tutti.scheduler/pod-group": "g"}
    )
    pods = (msgspec.structs.replace(inputs.objects.pods[0], metadata=fat), *inputs.objects.pods[1:])
    objects = msgspec.structs.replace(inputs.objects, pods=pods)
    file = written(tmp_path, Recording(msgspec.structs.replace(inputs, objects=objects)))
    assert SECRET not in gzip.decompress(file.read_bytes()).decode()


def test_annotations_that_a_scheduler_keeps_are_not_in_its_file(tmp_path: Path) -> None:
    life = Life(1)
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": SECRET}
    life.state.budgets.upsert(Budget(Metadata(name="b", namespace="ns", annotations=annotations)))
    life.state.set_priority_class(PriorityClass(Metadata(name="c", annotations=annotations), 7))
    text = b"".join(lines_of_taken(take(life.core, life.moment()))).decode()
    assert SECRET not in text
    assert '"kind":"poddisruptionbudgets"' in text
    assert '"kind":"priorityclasses"' in text


def good_lines() -> bytes:
    return b"".join(lines_of(Recording(of_life())))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no recording of tutti"),
        (b"kind: Pod\n", "is no recording of tutti"),
        (gzip.compress(b""), "is no recording of tutti"),
        (gzip.compress(b'{"kind":"List"}\n'), "is no recording of tutti"),
        (gzip.compress(b'{"format":"tutti-recording","version":99}\n'), "is a recording of version 99"),
        (gzip.compress(b'{"format":"tutti-recording","version":1}\n'), "is cut off"),
        (gzip.compress(b'{"format":"tutti-recording","version":1}\n{"kind":"pods","object":{"metadata":[]}}\n'), "is damaged"),
        (gzip.compress(b'{"format":"tutti-recording","version":1}\n{"kind":"poems","object":{}}\n'), "is damaged"),
        (gzip.compress(good_lines())[:-100], "is damaged or cut off"),
        (gzip.compress(good_lines()[: len(good_lines()) // 2].rpartition(b"\n")[0] + b"\n"), "is cut off"),
    ],
    ids=["empty", "text", "nothing", "other", "newer", "header", "misfit", "unknown", "truncated", "shortened"],
)  # fmt: skip
def test_a_bad_file_says_what_it_is_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=said) as caught:
        read(file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read .*No such file"):
        read(tmp_path / "nowhere")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot write .*No such file"):
        write(tmp_path / "nowhere" / "file", [b"{}"])
