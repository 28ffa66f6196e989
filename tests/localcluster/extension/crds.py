"""Builders of CRDs, schemas and admission requests for the tests of the extension."""

from typing import Any

from localcluster.apiserver.admission import AdmissionAttributes, Verb
from localcluster.apiserver.kinds.kind import KindInfo, User
from localcluster.apiserver.kinds.plain import PlainStrategy

Object = dict[str, Any]

CONFIG_MAP = KindInfo("", "v1", "ConfigMap", "configmaps", PlainStrategy())
POD = KindInfo("", "v1", "Pod", "pods", PlainStrategy(has_status=True), subresources=frozenset({"status"}))
NODE = KindInfo("", "v1", "Node", "nodes", PlainStrategy(), namespaced=False)
NAMESPACE = KindInfo("", "v1", "Namespace", "namespaces", PlainStrategy(), namespaced=False)
PRIORITY_CLASS = KindInfo(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", PlainStrategy(), namespaced=False
)
ADMIN = User("admin", ("system:masters",), uid="u-1")


def object_schema(**properties: Object) -> Object:
    return {"type": "object", "properties": properties}


def definition(schema: Object, *, plural: str = "things", kind: str = "Thing", **version: Any) -> Object:
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [served],
        },
    }


def asked(
    verb: Verb = "CREATE",
    *,
    kind: KindInfo = CONFIG_MAP,
    obj: Object | None = None,
    old: Object | None = None,
    subresource: str = "",
    dry_run: bool = False,
) -> AdmissionAttributes:
    """A write in the namespace `here`."""
    metadata = ((obj or old or {}).get("metadata")) or {}
    return AdmissionAttributes(
        verb=verb,
        kind=kind,
        subresource=subresource,
        namespace="here" if kind.namespaced else "",
        name=metadata.get("name", ""),
        obj=obj,
        old=old,
        options={"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        user=ADMIN,
        dry_run=dry_run,
        object_api_version=kind.api_version,
        object_kind=kind.kind,
    )


def config_map(name: str = "c", labels: dict[str, str] | None = None, **data: str) -> Object:
    metadata: Object = {"name": name, "namespace": "here"}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
