"""There is one set of manifests: kustomize and our own reading of it give the same objects."""

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from api import constants
from install.manifests import CONFIG_FOLDER, Area, load
from tests.programs import kustomized

LISTS = sorted(CONFIG_FOLDER.rglob("kustomization.yaml"))
AREAS = [area for area in get_args(Area) if area != "default" and not area.startswith("components/")]


def identity(body: dict[str, Any]) -> tuple[str, str, str, str]:
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"]


def folder_name(listing: Path) -> str:
    return listing.parent.name


@pytest.mark.parametrize("area", get_args(Area))
def test_kustomize_builds_exactly_what_we_load(area: Area) -> None:
    expected = {identity(body): body for body in kustomized(CONFIG_FOLDER / area)}
    assert {identity(each.body): each.body for each in load(area)} == expected


def test_default_is_the_sum_of_all_areas() -> None:
    assert sorted(identity(each.body) for each in load("default")) == sorted(
        identity(each.body) for area in AREAS for each in load(area)
    )


@pytest.mark.parametrize("listing", LISTS, ids=folder_name)
def test_every_file_of_a_folder_is_in_its_list(listing: Path) -> None:
    document = yaml.safe_load(listing.read_text())
    # One file may go in under several names, as `name=file`.
    given = [each.split("=")[-1] for one in document.get("configMapGenerator", ()) for each in one["files"]]
    generated = sorted(set(given))
    patches = {patch["path"] for patch in document.get("patches", ())}
    named = [entry for entry in document.get("resources", ()) if not (listing.parent / entry).is_dir()]
    listed = [*named, *generated, *patches]
    files = {path.name for path in listing.parent.iterdir() if path.is_file()} - {"kustomization.yaml"}
    assert files == {entry for entry in listed if not entry.startswith("..")}
    assert len(listed) == len(set(listed))


def test_namespaces_are_written_out() -> None:
    for each in load("default"):
        assert (each.namespace is not None) == each.resource.namespaced, each.title


def test_no_object_comes_twice() -> None:
    found = [identity(each.body) for each in load("default")]
    assert len(found) == len(set(found))


def test_names_are_those_the_code_uses() -> None:
    names = {(each.resource.kind, each.name) for each in load("default")}
    for account in (constants.CONTROLLERS_NAME, constants.SCHEDULER_NAME, constants.WEBHOOKS_NAME):
        assert {("ServiceAccount", account), ("Deployment", account)} <= names
    assert {
        ("Namespace", constants.SYSTEM_NAMESPACE),
        ("Service", constants.WEBHOOK_SERVICE),
        ("MutatingWebhookConfiguration", constants.MUTATING_CONFIGURATION),
        ("ValidatingWebhookConfiguration", constants.VALIDATING_CONFIGURATION),
        ("CustomResourceDefinition", f"podgroups.{constants.GROUP}"),
        ("CustomResourceDefinition", f"workloads.{constants.GROUP}"),
    } <= names


@pytest.mark.parametrize("each", load("default"), ids=lambda each: each.title)
def test_everything_carries_the_labels_by_which_people_find_it(each: Any) -> None:
    labels = each.body["metadata"]["labels"]
    assert labels["app.kubernetes.io/name"] == labels["app.kubernetes.io/part-of"] == "tutti"
