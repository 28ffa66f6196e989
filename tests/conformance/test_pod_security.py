"""Every pod of ours is admitted at the level *restricted*, by the word of the API server, whatever an installation chose."""

import copy
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from install.manifests import CONFIG_FOLDER
from tests.chart.rendering import by_helm
from tests.chart.test_same_objects import EVERYTHING
from tests.programs import kustomized
from verify.clusters.client import ApiError, Object
from verify.clusters.controlplane import ControlPlane

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("no stand-in knows the levels of pod security")]
LEVEL = {"pod-security.kubernetes.io/enforce": "restricted"}
COMPONENTS = sorted(path.name for path in (CONFIG_FOLDER / "components").iterdir())
ADDS_TO = {"metrics-authentication": ["prometheus"]}
"""Components that come after others."""
OVERLAYS = ["default", "cert-manager", "profiles", "uninstall"]


@pytest.fixture(scope="module")
def restricted(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace that lets only such pods in."""
    name = f"restricted-{secrets.token_hex(3)}"
    control_plane.admin.create("namespaces", {"metadata": {"name": name, "labels": LEVEL}})
    yield name
    control_plane.admin.delete("namespaces", name)


def pods_of(objects: list[Object]) -> list[Object]:
    """A pod as each Deployment and Job would make it."""
    found = []
    for each in objects:
        if each["kind"] in {"Deployment", "Job"}:
            template = each["spec"]["template"]
            metadata = {"name": each["metadata"]["name"], "labels": template["metadata"]["labels"]}
            found.append({"metadata": metadata, "spec": template["spec"]})
    return found


def refusals(control_plane: ControlPlane, namespace: str, pods: list[Object]) -> list[str]:
    """What the server says against these pods; nothing is stored."""
    said = []
    for pod in pods:
        try:
            control_plane.admin.create("pods", pod, namespace, dry_run=True)
        except ApiError as error:
            said.append(f"{pod['metadata']['name']}: {error.message}")
    return said


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_of_every_overlay_are_admitted(control_plane: ControlPlane, restricted: str, overlay: str) -> None:
    pods = pods_of(kustomized(CONFIG_FOLDER / overlay))
    assert len(pods) == (1 if overlay == "uninstall" else 3)
    assert refusals(control_plane, restricted, pods) == []


@pytest.mark.parametrize("component", COMPONENTS)
def test_pods_with_a_component_are_admitted(
    control_plane: ControlPlane, restricted: str, component: str, tmp_path: Path
) -> None:
    added = [*ADDS_TO.get(component, []), component]
    listing = {
        "resources": [os.path.relpath(CONFIG_FOLDER / "default", tmp_path)],
        "components": [os.path.relpath(CONFIG_FOLDER / "components" / each, tmp_path) for each in added],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(listing))
    pods = pods_of(kustomized(tmp_path))
    assert len(pods) == 3
    assert refusals(control_plane, restricted, pods) == []


def test_pods_of_the_chart_with_everything_are_admitted(control_plane: ControlPlane, restricted: str) -> None:
    pods = pods_of(list(by_helm(EVERYTHING).values()))
    assert len(pods) == 3
    assert refusals(control_plane, restricted, pods) == []


def test_a_pod_of_ours_that_were_not_hardened_would_be_refused(control_plane: ControlPlane, restricted: str) -> None:
    """The level is in force: the tests above would fail."""
    pods = copy.deepcopy(pods_of(kustomized(CONFIG_FOLDER / "default")))
    for pod in pods:
        del pod["spec"]["containers"][0]["securityContext"]["capabilities"]
    said = refusals(control_plane, restricted, pods)
    assert len(said) == 3
    assert all("violates PodSecurity" in each and "capabilities" in each for each in said)


def test_our_namespaces_ask_for_that_level() -> None:
    for overlay in ("default", "uninstall"):
        spaces = [each for each in kustomized(CONFIG_FOLDER / overlay) if each["kind"] == "Namespace"]
        assert [each["metadata"]["labels"].items() >= LEVEL.items() for each in spaces] == [True]
