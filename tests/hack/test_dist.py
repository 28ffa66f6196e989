"""The files of a release: the same bytes for the same commit, and everything in them that must be."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from hack.chart.render import rendered
from hack.dist import __main__ as dist
from hack.dist import image
from hack.dist.archive import chart_archive
from hack.dist.checksums import checksums
from hack.dist.install_file import install_yaml
from hack.dist.project import REPOSITORY, project
from hack.dist.sbom import sbom
from install.manifests import load
from tests.programs import tool

EPOCH = 1_767_225_600


def test_the_chart_is_the_same_archive_every_time_and_holds_all_its_files() -> None:
    archive = chart_archive(EPOCH)
    assert archive == chart_archive(EPOCH)
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        found = {entry.name.removeprefix("tutti/"): opened.extractfile(entry) for entry in opened}
        assert {name: file.read().decode() for name, file in found.items() if file is not None} == rendered()


def test_helm_takes_the_archive(tmp_path: Path) -> None:
    (tmp_path / "chart.tgz").write_bytes(chart_archive(EPOCH))
    command: list[str | Path] = [tool("helm", "helm"), "template", "tutti", tmp_path / "chart.tgz"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_the_one_file_holds_what_the_folder_installs_and_the_namespace_first() -> None:
    bodies = list(yaml.safe_load_all(install_yaml()))
    assert bodies[0]["kind"] == "Namespace"
    expected = [each.body for each in load("default")]
    assert len(bodies) == len(expected)
    assert all(body in bodies for body in expected)


def names(document: dict[str, Any]) -> set[str]:
    return {component["name"] for component in document["components"]}


def test_the_bill_of_materials_names_what_runs_and_nothing_that_only_builds_or_tests() -> None:
    document = json.loads(sbom(EPOCH))
    direct = {re.split(r"[><=;\[]", each)[0].lower() for each in project()["dependencies"]}
    assert direct <= names(document)
    assert not {"pytest", "ruff", "mypy", "common-expression-language"} & names(document)


def test_its_versions_are_those_that_were_tried() -> None:
    tried = dict(
        line.lower().replace("_", "-").split("==")
        for line in (REPOSITORY / "hack" / "constraints.txt").read_text().splitlines()
        if "==" in line
    )
    for component in json.loads(sbom(EPOCH))["components"]:
        assert tried[component["name"]] == component["version"]


def test_every_reference_in_it_leads_somewhere_and_it_is_the_same_every_time() -> None:
    document = json.loads(sbom(EPOCH))
    known = {component["bom-ref"] for component in document["components"]} | {"tutti"}
    assert {each["ref"] for each in document["dependencies"]} == known
    assert {each for one in document["dependencies"] for each in one["dependsOn"]} <= known
    assert sbom(EPOCH) == sbom(EPOCH)
    assert sbom(EPOCH) != sbom(EPOCH + 1)


def test_the_checksums_are_what_sha256sum_reads(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("two")
    (tmp_path / "a").write_text("one")
    (tmp_path / "SHA256SUMS").write_text(checksums(tmp_path))
    assert [line.split()[1] for line in checksums(tmp_path).splitlines()] == ["a", "b"]
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0


def test_a_machine_that_cannot_build_the_image_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 65532)
    assert image.obstacle() == "that needs root"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "go" else f"/usr/bin/{name}")
    assert image.obstacle() == "that needs Go"
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert image.obstacle() == ""


@pytest.mark.parametrize("option", [[], ["--require-image"]])
def test_without_the_image_one_line_says_so_and_the_rest_is_written_unless_it_is_required(
    option: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dist, "FOLDER", tmp_path / "dist")
    monkeypatch.setattr(dist, "obstacle", lambda: "that needs root")
    wheel = tmp_path / "dist" / f"tutti-{project()['version']}-py3-none-any.whl"
    monkeypatch.setattr(dist, "_build_packages", lambda _: wheel.write_bytes(b"a wheel"))
    monkeypatch.setattr(sys, "argv", ["dist", *option])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH))
    assert dist.main() == len(option)
    said = capsys.readouterr().err
    if option:
        assert said == "dist: the image is required and cannot be built: that needs root\n"
        assert not (tmp_path / "dist").exists()
    else:
        assert said == f"dist: {image.archive_name()} is left out: that needs root\n"
        written = {path.name for path in (tmp_path / "dist").iterdir()}
        assert {"install.yaml", "sbom.cdx.json", "SHA256SUMS"} < written


def test_the_image_is_built_for_one_time_and_put_where_the_release_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "image"
    script.write_text('#!/bin/sh\necho "$SOURCE_DATE_EPOCH $2" > "$ARCHIVE"\n')
    script.chmod(0o755)
    monkeypatch.setattr(image, "_SCRIPT", script)
    image.build_image(EPOCH, tmp_path / "tutti.tar")
    assert (tmp_path / "tutti.tar").read_text() == f"{EPOCH} tutti:{project()['version']}\n"
