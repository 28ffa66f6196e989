"""One OpenAPI v3 document per group-version: what can be sent where, and what the objects look like.

Pure. Two things in it steer kubectl. The PATCH operation of a kind lists the parameter `fieldValidation`: kubectl then
leaves validation to the server. It does not list the strategic content type: kubectl would compute patches from merge
keys in these schemas, which have none; so it computes them from its own types, and still sends them as strategic ones.
"""

from typing import Any

from localcluster.apiserver.discovery.groups import GroupVersion, subresources
from localcluster.apiserver.discovery.openapi.schemas import (
    LIST_META,
    OBJECT_META,
    REFERENCE,
    Schema,
    closure,
    component_name,
    reference,
    schema_of,
)
from localcluster.apiserver.discovery.version import MAJOR, MINOR
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.protobuf.messages import MESSAGES

Document = dict[str, Any]

PATCH_TYPES = ("application/json-patch+json", "application/merge-patch+json")
METHODS = {
    "get": ("get", "read the specified {kind}"),
    "update": ("put", "replace the specified {kind}"),
    "patch": ("patch", "partially update the specified {kind}"),
    "delete": ("delete", "delete a {kind}"),
}
COLLECTION_METHODS = {
    "list": ("get", "list objects of kind {kind}"),
    "create": ("post", "create a {kind}"),
    "deletecollection": ("delete", "delete collection of {kind}"),
}
WRITE_PARAMETERS = {
    "dryRun": "With All, nothing is stored.",
    "fieldManager": "Who is making the change.",
    "fieldValidation": "What unknown and duplicate fields do: Ignore, Warn or Strict.",
}


def document(group_version: GroupVersion) -> Document:
    """The document of one group-version."""
    paths: Document = {}
    schemas: dict[str, Schema] = {}
    for kind in group_version.kinds:
        paths |= _paths(kind)
        schemas |= _components(kind)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": f"{MAJOR}.{MINOR}"},
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _paths(kind: KindInfo) -> Document:
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    scoped = f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    found: Document = {}
    if collection := _operations(kind, COLLECTION_METHODS):
        found[scoped] = collection
    if kind.namespaced and "list" in kind.verbs:
        found[f"{root}/{kind.plural}"] = _operations(kind, {"list": COLLECTION_METHODS["list"]})
    if single := _operations(kind, METHODS):
        found[f"{scoped}/{{name}}"] = single
    for inner in subresources(kind):
        methods = {verb: METHODS[verb] for verb in inner.verbs if verb in METHODS} or {
            "create": COLLECTION_METHODS["create"]
        }
        body = (inner.group or kind.group, inner.version or kind.version, inner.kind)
        found[f"{scoped}/{{name}}/{inner.name}"] = {
            method: _operation(verb, told.format(kind=inner.kind), body) for verb, (method, told) in methods.items()
        }
    return found


def _operations(kind: KindInfo, methods: dict[str, tuple[str, str]]) -> Document:
    body = (kind.group, kind.version, kind.kind)
    return {
        method: _operation(verb, told.format(kind=kind.kind), body)
        for verb, (method, told) in methods.items()
        if verb in kind.verbs
    }


def _operation(verb: str, told: str, body: tuple[str, str, str]) -> Document:
    group, version, kind = body
    operation: Document = {
        "description": told,
        "x-kubernetes-action": verb,
        "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": kind},
        "responses": {"200": {"description": "OK"}},
    }
    if verb in {"create", "update", "patch"}:
        operation["parameters"] = [
            {"name": name, "in": "query", "description": about, "schema": {"type": "string", "uniqueItems": True}}
            for name, about in WRITE_PARAMETERS.items()
        ]
    if verb == "patch":
        operation["requestBody"] = {
            "content": {kind: {"schema": {"type": "object"}} for kind in PATCH_TYPES},
            "required": True,
        }
    return operation


def _components(kind: KindInfo) -> dict[str, Schema]:
    """The schema of the kind, of its list and of all they refer to, by component name."""
    name, schema, needed = _custom(kind) if kind.definition is not None else _built_in(kind)
    marked = {**schema, "x-kubernetes-group-version-kind": [_group_version_kind(kind, kind.kind)]}
    components = {name: marked}
    if "list" in kind.verbs:
        components[f"{name}List"] = _list_schema(kind, name)
        needed = {*needed, LIST_META}
    for message in sorted({inner for each in needed for inner in closure(each)}):
        components.setdefault(component_name(message), schema_of(message))
    return components


def _built_in(kind: KindInfo) -> tuple[str, Schema, set[str]]:
    """Component name, schema, and the messages that it needs."""
    message = f"{kind.group.partition('.')[0] or 'core'}.{kind.version}.{kind.kind}"
    if message not in MESSAGES:
        return component_name(message), _bare(kind), {OBJECT_META}
    schema = schema_of(message)
    return component_name(message), {**schema, "properties": {**schema["properties"], **_object_fields()}}, {message}


def _bare(kind: KindInfo) -> Schema:
    """The schema of a kind that no message describes: whatever is sent is taken."""
    return {
        "description": f"A {kind.kind}; its fields are not described here.",
        "type": "object",
        "properties": {**_object_fields()},
        "x-kubernetes-preserve-unknown-fields": True,
    }


def _object_fields() -> Schema:
    metadata = {"description": "Name, labels and the like.", "allOf": [reference(OBJECT_META)]}
    return {
        "apiVersion": {"type": "string", "description": "The group and version of this form of the object."},
        "kind": {"type": "string", "description": "The kind of the object."},
        "metadata": metadata,
    }


def _custom(kind: KindInfo) -> tuple[str, Schema, set[str]]:
    declared = _declared_schema(kind)
    name = ".".join([*reversed(kind.group.split(".")), kind.version, kind.kind])
    schema = {**declared, "properties": {**declared.get("properties", {}), **_object_fields()}}
    return name, schema, {OBJECT_META}


def _declared_schema(kind: KindInfo) -> Object:
    versions = (kind.definition or {})["spec"]["versions"]
    declared: Object = next((each for each in versions if each["name"] == kind.version), {})
    schema: Object = declared.get("schema", {}).get("openAPIV3Schema", {"type": "object"})
    return schema


def _list_schema(kind: KindInfo, name: str) -> Schema:
    fields = _object_fields()
    metadata = {"description": "Which state the list shows.", "allOf": [reference(LIST_META)]}
    items = {"description": "The objects.", "type": "array", "items": {"$ref": REFERENCE + name}}
    return {
        "description": f"A list of objects of kind {kind.kind}.",
        "type": "object",
        "required": ["items"],
        "properties": {**fields, "metadata": metadata, "items": items},
        "x-kubernetes-group-version-kind": [_group_version_kind(kind, kind.kind_of_list)],
    }


def _group_version_kind(kind: KindInfo, name: str) -> Document:
    return {"group": kind.group, "version": kind.version, "kind": name}
