"""The three CRDs whole, as they are applied: names, columns and schema."""

from typing import Any

from api.compositepodgroup import COMPOSITE_KIND
from api.constants import GROUP, VERSION
from api.crds import compositepodgroup, podgroup, workload
from api.crds.schema import Schema
from api.podgroup import POD_GROUP_KIND, WORKLOAD

Definition = dict[str, Any]


def definitions() -> dict[str, Definition]:
    """By plural, the CustomResourceDefinitions that stand in for the built-in group API."""
    group_object = _object(podgroup.DESCRIPTION, podgroup.spec(), podgroup.status())
    group_object["x-kubernetes-validations"] = [podgroup.CLAIM_RULE]
    group_version = _version(podgroup.COLUMNS, group_object, subresources={"status": {}})
    workload_version = _version(workload.COLUMNS, _object(workload.DESCRIPTION, workload.spec()))
    composite_object = _object(compositepodgroup.DESCRIPTION, compositepodgroup.spec(), compositepodgroup.status())
    composite_version = _version(compositepodgroup.COLUMNS, composite_object, subresources={"status": {}})
    return {
        "compositepodgroups": _definition(COMPOSITE_KIND, short_name="gangtree", version=composite_version),
        "podgroups": _definition(POD_GROUP_KIND, short_name="gang", version=group_version),
        "workloads": _definition(WORKLOAD, short_name="tw", version=workload_version),
    }


def _object(description: str, spec: Schema, status: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "description": description,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            **({} if status is None else {"status": status}),
        },
    }


def _version(columns: list[dict[str, Any]], schema: Schema, **more: Any) -> dict[str, Any]:
    served = {"name": VERSION, "served": True, "storage": True, **more}
    return served | {"additionalPrinterColumns": columns, "schema": {"openAPIV3Schema": schema}}


def _definition(kind: str, *, short_name: str, version: dict[str, Any]) -> Definition:
    singular = kind.lower()
    plural = f"{singular}s"
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": singular,
        "shortNames": [short_name],
        "categories": ["tutti"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{GROUP}",
            "labels": {"app.kubernetes.io/name": "tutti", "app.kubernetes.io/part-of": "tutti"},
        },
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }
