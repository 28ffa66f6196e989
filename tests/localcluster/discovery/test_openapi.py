"""OpenAPI documents: complete in themselves, and telling kubectl what it must know."""

from collections.abc import Iterator
from typing import Any

import pytest

from localcluster.apiserver.discovery.groups import arrange
from localcluster.apiserver.discovery.openapi.document import document
from localcluster.apiserver.kinds.kind import KindInfo
from tests.localcluster.discovery.kinds import JOB, POD, Object, kind, toy

SCHEMA = {
    "type": "object",
    "description": "A toy.",
    "properties": {
        "metadata": {"type": "object"},
        "spec": {"type": "object", "properties": {"size": {"type": "integer", "description": "How big."}}},
    },
}


def made(*kinds: KindInfo) -> Object:
    """The document of kinds of one group-version."""
    (group,) = arrange(kinds)
    return document(group.versions[0])


def references(value: Any) -> Iterator[str]:
    """All that a document refers to."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner
            else:
                yield from references(inner)
    if isinstance(value, list):
        for inner in value:
            yield from references(inner)


@pytest.mark.parametrize(
    "kinds",
    [
        (POD,),
        (JOB,),
        (toy(schema=SCHEMA),),
        (kind("policy", "v1", "Unheard", "unheard"),),
        (kind("", "v1", "Node", "nodes", namespaced=False),),
    ],
    ids=["pod", "job", "custom", "unknown", "node"],
)
def test_every_reference_leads_somewhere(kinds: tuple[KindInfo, ...]) -> None:
    whole = made(*kinds)
    names = {f"#/components/schemas/{name}" for name in whole["components"]["schemas"]}
    assert set(references(whole)) <= names


def test_patching_a_kind_takes_the_parameter_that_leaves_validation_to_the_server() -> None:
    patch = made(JOB)["paths"]["/apis/batch/v1/namespaces/{namespace}/jobs/{name}"]["patch"]
    assert "fieldValidation" in [each["name"] for each in patch["parameters"]]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "batch", "version": "v1", "kind": "Job"}
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]


def test_kinds_are_found_by_their_group_version_kind() -> None:
    schemas = made(JOB)["components"]["schemas"]
    found = [
        name
        for name, each in schemas.items()
        if {"group": "batch", "version": "v1", "kind": "Job"} in each.get("x-kubernetes-group-version-kind", [])
    ]
    assert found == ["io.k8s.api.batch.v1.Job"]


def test_fields_are_explained_down_to_the_container() -> None:
    schemas = made(JOB)["components"]["schemas"]
    name = "io.k8s.api.batch.v1.Job"
    for step in ("spec", "template", "spec", "containers"):
        field = schemas[name]["properties"][step]
        (reference,) = references(field)
        name = reference.removeprefix("#/components/schemas/")
    assert name == "io.k8s.api.core.v1.Container"


def test_a_custom_kind_is_explained_by_its_own_schema() -> None:
    schemas = made(toy(schema=SCHEMA))["components"]["schemas"]
    shown = schemas["org.example.v1.Toy"]
    assert shown["properties"]["spec"] == SCHEMA["properties"]["spec"]  # type: ignore[index]
    assert list(references(shown["properties"]["metadata"])) == [
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    ]
    assert shown["x-kubernetes-group-version-kind"] == [{"group": "example.org", "version": "v1", "kind": "Toy"}]


def test_a_kind_without_a_table_takes_anything() -> None:
    schema = made(kind("policy", "v1", "Unheard", "unheard"))["components"]["schemas"]["io.k8s.api.policy.v1.Unheard"]
    assert schema["x-kubernetes-preserve-unknown-fields"] is True


def test_subresources_have_operations_of_their_own() -> None:
    paths = made(kind("apps", "v1", "Deployment", "deployments", subresources=frozenset({"scale"})))["paths"]
    scale = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]
    assert sorted(scale) == ["get", "patch", "put"]
    assert scale["get"]["x-kubernetes-group-version-kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
