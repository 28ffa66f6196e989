"""Programs of other projects that some tests ask. Where one has not been built, such a test is skipped and says how to build it."""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ENSURE = Path(__file__).resolve().parents[1] / "hack" / "tools" / "ensure"


@cache
def kubectl() -> Path:
    """kubectl of the control plane that KUBEBUILDER_ASSETS names, or of one that was built."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    if named:
        return Path(named) / "kubectl"
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tutti-controlplane"
    built = sorted(cached.glob("kubernetes-*/kubectl"))
    if not built:
        pytest.skip("there is no kubectl: KUBEBUILDER_ASSETS names no folder, and `make controlplane` was not run")
    return built[-1]


@cache
def tool(folder: str, name: str) -> Path:
    """A program of `hack/tools`, if it was built."""
    found = subprocess.run([ENSURE, "--find", folder], capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(f"there is no {name}: `make tools` was not run")
    return Path(found.stdout.strip()) / name


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
