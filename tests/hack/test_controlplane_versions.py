"""Which control planes can be built, and what `hack/controlplane/ensure` says about others."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from kube.groups.server_version import OLDEST_MINOR
from verify.clusters.versions import NEWEST

FOLDER = Path(__file__).parents[2] / "hack" / "controlplane"


def kubernetes_of(modules: Path) -> int:
    found = re.search(r"^\s*k8s\.io/kubernetes v1\.(\d+)\.\d+$", modules.read_text(), re.MULTILINE)
    assert found, f"{modules} requires no Kubernetes"
    return int(found.group(1))


def test_the_newest_and_the_oldest_supported_version_can_be_built() -> None:
    assert kubernetes_of(FOLDER / "go.mod") == NEWEST
    assert kubernetes_of(FOLDER / f"kubernetes-1.{OLDEST_MINOR}.mod") == OLDEST_MINOR


@pytest.mark.parametrize("wanted", ["1.29", "v1.29"])
def test_another_version_is_refused_with_those_that_are_there(wanted: str, tmp_path: Path) -> None:
    environment = {**os.environ, "KUBERNETES_VERSION": wanted, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([FOLDER / "ensure"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert f"known are 1.{NEWEST} and 1.{OLDEST_MINOR}" in done.stderr
    assert list(tmp_path.iterdir()) == []
