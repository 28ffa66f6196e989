"""The local cluster is an extra: production imports nothing of it, the image lacks it, and who lacks it is told."""

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from localcluster.extra import MODULES

REPOSITORY = Path(__file__).resolve().parents[2]
OF_KOPF = "jsonpatch"
"""Comes with every installation, because kopf needs it too."""
PROCESSES = ("scheduler.main", "controllers.main", "webhooks.main", "install.run", "install.uninstall")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
PACKAGES = {each.partition("/")[0] for each in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["include"]}


def names(requirements: list[str]) -> set[str]:
    return {each.split(">")[0].lower() for each in requirements}


def run(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=REPOSITORY,
    )


def without(modules: list[str], then: str) -> "subprocess.CompletedProcess[str]":
    """Runs code where these modules are not installed."""
    return run(f"import sys; sys.modules.update(dict.fromkeys({modules!r})); {then}")


@pytest.mark.parametrize("process", PROCESSES)
def test_the_processes_start_without_the_local_cluster_and_what_it_needs(process: str) -> None:
    hidden = ["localcluster", *(name for name in MODULES if name != OF_KOPF)]
    done = without(hidden, f"import tutti, {process}")
    assert done.returncode == 0, done.stderr


def test_the_modules_that_are_looked_for_are_those_of_the_extra() -> None:
    extra = names(PROJECT["project"]["optional-dependencies"]["local"])
    provided_by = packages_distributions()
    assert {provided_by[module][0].lower() for module in MODULES} == extra
    assert not extra & names(PROJECT["project"]["dependencies"])


@pytest.mark.parametrize("missing", [["localcluster"], *([module] for module in MODULES)])
def test_tutti_cluster_without_the_extra_says_what_to_install(missing: list[str]) -> None:
    done = without(missing, "import tutti; sys.exit(tutti.main(['cluster']))")
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith("error: ")
    assert "install tutti[local]" in line


@pytest.mark.parametrize("missing", MODULES)
def test_the_demo_without_the_extra_says_what_to_install(missing: str) -> None:
    done = without([missing], "import runpy; runpy.run_module('localcluster.demo', run_name='__main__')")
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith("error: ")
    assert missing in line
    assert "install tutti[local]" in line


def copied_into_the_image() -> set[str]:
    lines = (REPOSITORY / "Dockerfile").read_text().splitlines()
    return {part for line in lines if line.startswith("COPY ") and "--from" not in line for part in line.split()[1:-1]}


def test_the_image_has_every_package_but_the_local_cluster() -> None:
    assert copied_into_the_image() >= PACKAGES - {"localcluster"}
    assert "localcluster" not in copied_into_the_image()
    assert "[local" not in (REPOSITORY / "Dockerfile").read_text()


def test_what_the_image_is_built_from_is_sent_to_its_build() -> None:
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    assert {line.removeprefix("!") for line in lines if line.startswith("!")} == copied_into_the_image()
