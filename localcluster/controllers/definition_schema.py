"""Of what the CustomResourceDefinitions of the stand-ins are made. Pure."""

from collections.abc import Sequence
from typing import Any

from kube.client.resources import Resource
from localcluster.controllers.definitions import MANAGED_BY, Object, Schema


def namespaced(
    resource: Resource,
    schema: Schema,
    columns: Sequence[Schema],
    *,
    scale: Schema | None = None,
    short_names: Sequence[str] = (),
) -> Object:
    """The definition of a kind with one version and a status.

    Args:
        resource: the kind.
        schema: of a whole object.
        columns: what a list shows beside the name and the age.
        scale: the paths of its subresource `scale`; None when it has none.
        short_names: what people may call it.
    """
    names: dict[str, Any] = {
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "plural": resource.plural,
        "singular": resource.kind.lower(),
    }
    if short_names:
        names["shortNames"] = list(short_names)
    version = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}} if scale is None else {"status": {}, "scale": scale},
        "additionalPrinterColumns": [
            *columns,
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{resource.group}", "labels": dict(MANAGED_BY)},
        "spec": {"group": resource.group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def column(name: str, kind: str, path: str, about: str) -> Schema:
    """A column of a list."""
    return {"name": name, "type": kind, "jsonPath": path, "description": about}


def whole(about: str, spec: Schema, status: Schema) -> Schema:
    """The schema of a whole object."""
    return fields(
        about,
        apiVersion={"type": "string"},
        kind={"type": "string"},
        metadata={"type": "object"},
        spec=spec,
        status=status,
    )


def fields(about: str, **properties: Schema) -> Schema:
    """An object with these properties."""
    return {"type": "object", "description": about, "properties": properties}
