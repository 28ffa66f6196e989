"""Both ways of installing, each rendered by the program that people use: kubectl's kustomize, and helm."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from hack.chart.render import FOLDER
from install.manifests import CONFIG_FOLDER
from tests.programs import kustomized, tool

Objects = dict[tuple[str, str, str], dict[str, Any]]

SETTINGS_NAME = re.compile(r"tutti-scheduler-settings-\w{10}")
"""Both put a digest of the content behind the name, each in its own way."""


def by_helm(values: Mapping[str, Any], *, namespace: str = "tutti-system") -> Objects:
    """What `helm install` would send with these values."""
    done = run_helm(values, namespace=namespace)
    assert done.returncode == 0, done.stderr
    return by_identity(done.stdout)


def refusal(values: Mapping[str, Any]) -> str:
    """What helm says against these values."""
    done = run_helm(values)
    assert done.returncode != 0, "these values were accepted"
    return done.stderr


def run_helm(values: Mapping[str, Any], *, namespace: str = "tutti-system") -> "subprocess.CompletedProcess[str]":
    command: list[str | Path] = [tool("helm", "helm"), "template", "tutti", FOLDER]
    command += ["--namespace", namespace, "--values", "-"]
    return subprocess.run(command, input=yaml.safe_dump(dict(values)), capture_output=True, text=True, check=False)


def by_kustomize(folder: Path, *, components: Sequence[str] = (), base: str = "default", **more: Any) -> Objects:
    """What `kubectl apply -k` would send of a kustomization in this folder that has these parts, and more of its own."""
    listing = {
        "resources": [os.path.relpath(CONFIG_FOLDER / base, folder)],
        "components": [os.path.relpath(CONFIG_FOLDER / "components" / each, folder) for each in components],
        **more,
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(listing))
    return by_identity(yaml.safe_dump_all(kustomized(folder)))


def by_identity(text: str) -> Objects:
    """The objects by kind, namespace and name; one that comes twice is an error."""
    bodies = [
        comparable(body) for body in yaml.safe_load_all(SETTINGS_NAME.sub("tutti-scheduler-settings", text)) if body
    ]
    found = {(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each for each in bodies}
    assert len(found) == len(bodies)
    return found


def comparable(body: dict[str, Any]) -> dict[str, Any]:
    """The object without what is another text of the same: settings are compared as settings."""
    if body["kind"] == "ConfigMap":
        body["data"] = {name: yaml.safe_load(text) or {} for name, text in body["data"].items()}
    return body
