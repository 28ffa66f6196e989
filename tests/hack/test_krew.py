"""The kubectl plugin for krew: the same archive every time, and a program that installs the wheel once."""

import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path

import yaml

from hack.dist.krew import PROGRAM, archive_name, manifest, plugin_archive

EPOCH = 1_767_225_600
FAKE_PYTHON = """#!/bin/sh
case "$1 $2" in
  "-m venv")
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    for name in kubectl-gang kubectl_complete-gang; do
      printf '#!/bin/sh\\necho "%s: $*"\\n' "$name" > "$3/bin/$name"
      chmod +x "$3/bin/$name"
    done ;;
  "-m pip") echo installed >> "$LOG" ;;
esac
"""


def test_the_archive_is_the_same_every_time_and_the_manifest_names_it(tmp_path: Path) -> None:
    wheel = tmp_path / "tutti-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    archive = plugin_archive(wheel, EPOCH)
    assert archive == plugin_archive(wheel, EPOCH)
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        assert {entry.name: entry.mode for entry in opened} == {PROGRAM: 0o755, "LICENSE": 0o644, wheel.name: 0o644}
    said = yaml.safe_load(manifest(archive, f"https://there/{archive_name()}"))
    assert said["metadata"]["name"] == "gang"
    for platform in said["spec"]["platforms"]:
        assert platform["sha256"] == hashlib.sha256(archive).hexdigest()
        assert platform["bin"] == PROGRAM


def test_the_wheel_is_installed_at_the_first_call_only_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "tutti-1-py3-none-any.whl").write_bytes(b"wheel")
    with tarfile.open(fileobj=io.BytesIO(plugin_archive(tmp_path / "tutti-1-py3-none-any.whl", EPOCH))) as opened:
        opened.extractall(tmp_path / "store", filter="data")
    python = tmp_path / "python"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    (tmp_path / "bin").mkdir()
    for name in ("kubectl-gang", "kubectl_complete-gang"):
        (tmp_path / "bin" / name).symlink_to(tmp_path / "store" / PROGRAM)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "TUTTI_PYTHON": str(python),
        "LOG": str(tmp_path / "log"),
    }

    def run(name: str) -> str:
        command = [str(tmp_path / "bin" / name), "list", "-n", "a b"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        return done.stdout

    assert run("kubectl-gang") == "kubectl-gang: list -n a b\n"
    assert run("kubectl-gang") == "kubectl-gang: list -n a b\n"
    assert run("kubectl_complete-gang") == "kubectl_complete-gang: list -n a b\n"
    assert (tmp_path / "log").read_text() == "installed\n"
