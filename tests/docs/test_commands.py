"""Commands in the documents name what exists: files, folders, targets of make, commands of tutti, values of the chart.

They are not run here: most of them need a cluster, and `tests/e2e/test_documents.py` has one.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hack.dist.install_file import install_yaml
from tests.docs.markdown import DOCS, REPOSITORY, blocks, commands
from tests.programs import kubectl
from tutti import parser

WITH_COMMANDS = ("install.md", "operations.md", "users-guide.md", "troubleshooting.md", "security.md", "logs.md")
OURS = ("config/", "charts/", "docs/", "hack/")
MADE_ELSEWHERE = {"FILE", "SHA256SUMS", "install.yaml"}
"""Stand-ins for names of the reader's, and what the commands before have made."""


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def words(command: str) -> list[str]:
    """The words of a command, without what the shell is told in a document."""
    return shlex.split(command.partition("<<")[0].replace("&&", " ; ").replace(";", " ; "))


def written(text: str) -> dict[str, str]:
    """The files that the commands write themselves, with their content."""
    found = {}
    for command in commands(text):
        match = re.search(r"cat > (\S+) <<(\w+)\n(.*)\n\2$", command, re.DOTALL)
        if match:
            found[match[1]] = match[3]
    return found


def kustomizations(text: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every kustomization that a document shows, with the folder it is for."""
    for name, content in written(text).items():
        yield (REPOSITORY / name).parent, yaml.safe_load(content)
    for block in blocks(text):
        shown: Any = yaml.safe_load(block.text) if block.language == "yaml" else None
        if isinstance(shown, dict) and shown.get("kind") == "Kustomization":
            yield REPOSITORY / "mine", shown


def value_after(option: str, command: str) -> list[str]:
    found = words(command)
    return [found[at + 1] for at, word in enumerate(found[:-1]) if word == option]


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_paths_of_ours_exist(name: str) -> None:
    named = {word for command in commands(text_of(name)) for word in words(command) if word.startswith(OURS)}
    named |= set(re.findall(r"`((?:config|charts|docs|hack)/[\w./-]+)`", text_of(name)))
    assert {path for path in named if not (REPOSITORY / path).exists()} == set()


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_what_is_applied_as_a_kustomization_is_one(name: str) -> None:
    text = text_of(name)
    folders = {folder for command in commands(text) for folder in value_after("-k", command)}
    missing = {
        folder
        for folder in folders
        if not (REPOSITORY / folder / "kustomization.yaml").is_file()
        and str(Path(folder) / "kustomization.yaml") not in written(text)
    }
    assert missing == set()


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_what_a_kustomization_refers_to_exists(name: str) -> None:
    for folder, content in kustomizations(text_of(name)):
        for path in [*content.get("resources", []), *content.get("components", [])]:
            assert path in MADE_ELSEWHERE or (folder / path).resolve().exists(), path


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_files_that_commands_read_exist(name: str) -> None:
    for command in commands(text_of(name)):
        for file in [*value_after("-f", command), *value_after("--filename", command)]:
            assert (REPOSITORY / file).is_file(), command


@pytest.mark.parametrize("name", ["install.md", "operations.md"])
def test_what_the_commands_write_builds_as_they_call_it_and_names_the_image_of_the_reader(
    name: str, tmp_path: Path
) -> None:
    """As `kubectl apply -k` does it, without any option; the rest of applying it is tested on clusters."""
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    (tmp_path / "install.yaml").write_text(install_yaml(), encoding="utf-8")
    for folder, content in kustomizations(text_of(name)):
        target = tmp_path / folder.relative_to(REPOSITORY)
        target.mkdir(exist_ok=True)
        (target / "kustomization.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
        done = subprocess.run([kubectl(), "kustomize", target], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert set(re.findall(r"^ +image: (\S+)$", done.stdout, re.MULTILINE)) == {"REGISTRY/tutti:0.1.0"}


def test_every_component_is_in_the_table_of_the_installation() -> None:
    components = {f"config/components/{path.name}" for path in (REPOSITORY / "config" / "components").iterdir()}
    assert set(re.findall(r"^\| `(config/components/[\w-]+)` \|", text_of("install.md"), re.MULTILINE)) == components


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_targets_of_make_exist(name: str) -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"(?:`|\$ )make ([a-z0-9-]+)", text_of(name))) <= targets


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_tutti_knows_its_commands_and_options(name: str) -> None:
    for command in commands(text_of(name)):
        if command.startswith((".venv/bin/tutti ", "tutti ")):
            parser().parse_args(words(command)[1:])


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_values_that_helm_is_given_are_values_of_the_chart(name: str) -> None:
    values = yaml.safe_load((REPOSITORY / "charts" / "tutti" / "values.yaml").read_text(encoding="utf-8"))
    for command in commands(text_of(name)):
        for path in (each.partition("=")[0] for each in value_after("--set", command)):
            found: Any = values
            for key in path.split("."):
                assert key in found, path
                found = found[key]


@pytest.mark.parametrize("name", ["install.md", "operations.md"])
def test_the_version_of_the_image_is_that_of_the_project(name: str) -> None:
    found = re.search(r'^version = "(.+)"$', (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    tags = re.findall(r"(?:tutti:|newTag: |image\.tag=|tutti-chart-|tutti-image-)(\d+\.\d+\.\d+)", text_of(name))
    assert set(tags) == {found[1]}
