"""Which control planes can be built, what `hack/controlplane/ensure` says about others, and of one that is not built yet."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from kube.groups.server_version import OLDEST_MINOR
from verify.clusters.versions import NEWEST, NEXT

FOLDER = Path(__file__).parents[2] / "hack" / "controlplane"


def kubernetes_of(modules: Path) -> int:
    found = re.search(r"^\s*k8s\.io/kubernetes v1\.(\d+)\.\d+(?:-\S+)?$", modules.read_text(), re.MULTILINE)
    assert found, f"{modules} requires no Kubernetes"
    return int(found.group(1))


def ensure(*arguments: str, wanted: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KUBERNETES_VERSION": wanted, "XDG_CACHE_HOME": str(cache)}
    command = [str(FOLDER / "ensure"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_the_newest_the_oldest_supported_version_and_the_next_one_can_be_built() -> None:
    assert kubernetes_of(FOLDER / "go.mod") == NEWEST
    for minor in (OLDEST_MINOR, NEXT):
        assert kubernetes_of(FOLDER / f"kubernetes-1.{minor}.mod") == minor


@pytest.mark.parametrize("wanted", ["1.29", "v1.29"])
def test_another_version_is_refused_with_those_that_are_there(wanted: str, tmp_path: Path) -> None:
    done = ensure(wanted=wanted, cache=tmp_path)
    assert done.returncode == 2
    assert f"known are 1.{NEWEST}, 1.{OLDEST_MINOR}, 1.{NEXT}\n" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wanted", ["", f"1.{OLDEST_MINOR}", f"1.{NEXT}"])
def test_a_version_that_is_looked_for_is_found_where_it_was_built_and_not_built(wanted: str, tmp_path: Path) -> None:
    looked_for = ensure("--find", wanted=wanted, cache=tmp_path)
    assert (looked_for.returncode, looked_for.stdout) == (1, "")
    assert list(tmp_path.iterdir()) == []
