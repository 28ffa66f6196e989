"""Programs of other projects that some tests ask. Where one has not been built, such a test is skipped and says how to build it."""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

HACK = Path(__file__).resolve().parents[1] / "hack"


@cache
def kubectl() -> Path:
    """kubectl of the control plane that KUBEBUILDER_ASSETS names, or of the one that was built."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    folder = Path(named) if named else servers()
    if folder is None:
        pytest.skip("there is no kubectl: KUBEBUILDER_ASSETS names no folder, and `make controlplane` was not run")
    return folder / "kubectl"


@cache
def servers(version: str = "") -> Path | None:
    """The control plane of this version, such as 1.38, if it was built; without a version the usual one."""
    return _found(HACK / "controlplane" / "ensure", version=version)


@cache
def tool(folder: str, name: str) -> Path:
    """A program of `hack/tools`, if it was built."""
    found = _found(HACK / "tools" / "ensure", folder)
    if found is None:
        pytest.skip(f"there is no {name}: `make tools` was not run")
    return found / name


def _found(ensure: Path, *arguments: str, version: str = "") -> Path | None:
    environment = {**os.environ, "KUBERNETES_VERSION": version}
    command = [str(ensure), "--find", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return None if found.returncode else Path(found.stdout.strip())


def kustomized(folder: Path) -> list[dict[str, Any]]:
    """What `kubectl kustomize` builds of a folder, which may name others outside it."""
    done = subprocess.run(
        [kubectl(), "kustomize", folder, "--load-restrictor=LoadRestrictionsNone"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [body for body in yaml.safe_load_all(done.stdout) if body is not None]
