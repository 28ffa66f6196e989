"""Small kinds and objects for the tests in this folder."""

from typing import Any

from localcluster.apiserver.discovery.tables.render import Tables
from localcluster.apiserver.kinds.kind import KindInfo
from localcluster.apiserver.kinds.plain import PlainStrategy

Object = dict[str, Any]

NOW = 1_800_000_000.0
CREATED = "2027-01-15T07:58:20Z"
"""A hundred seconds before NOW."""


def kind(group: str, version: str, name: str, plural: str, **more: Any) -> KindInfo:
    """A kind without rules."""
    return KindInfo(group, version, name, plural, PlainStrategy(), **more)


def metadata(name: str = "it", **more: Any) -> Object:
    """Metadata of an object made a hundred seconds ago."""
    return {"name": name, "namespace": "ns", "uid": "u", "resourceVersion": "7", "creationTimestamp": CREATED, **more}


def table(shown: KindInfo, *objects: Object, **options: Any) -> Object:
    """The Table of these objects."""
    return Tables(lambda: NOW).render(shown, list(objects), list_metadata=None, **options)


def row(shown: KindInfo, obj: Object) -> dict[str, Any]:
    """The cells of one object by the names of their columns."""
    made = table(shown, obj)
    (only,) = made["rows"]
    return dict(zip([column["name"] for column in made["columnDefinitions"]], only["cells"], strict=True))


POD = kind("", "v1", "Pod", "pods")
JOB = kind("batch", "v1", "Job", "jobs")


def definition(*columns: Object, version: str = "v1", schema: Object | None = None) -> Object:
    """A CRD of one version."""
    declared = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or {"type": "object"}},
    }
    if columns:
        declared["additionalPrinterColumns"] = list(columns)
    names = {"kind": "Toy", "plural": "toys", "singular": "toy", "shortNames": ["ty"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata("toys.example.org"),
        "spec": {"group": "example.org", "scope": "Namespaced", "names": names, "versions": [declared]},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }


def toy(*columns: Object, schema: Object | None = None) -> KindInfo:
    """A custom kind with these columns."""
    made = definition(*columns, schema=schema)
    return kind("example.org", "v1", "Toy", "toys", short_names=("ty",), definition=made)
