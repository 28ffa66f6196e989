"""Fields of a CRD that nobody knows: dropped, and told. Most of all a misspelt keyword of a schema is found here."""

from collections.abc import Iterator
from typing import Any, Final

Object = dict[str, Any]

_SPEC: Final = frozenset({"group", "names", "scope", "versions", "conversion", "preserveUnknownFields"})
_NAMES: Final = frozenset({"plural", "singular", "shortNames", "kind", "listKind", "categories"})
_VERSION: Final = frozenset(
    {
        "name", "served", "storage", "deprecated", "deprecationWarning", "schema", "subresources",
        "additionalPrinterColumns", "selectableFields",
    }
)  # fmt: skip
_SCHEMA: Final = frozenset(
    {
        "id", "$schema", "$ref", "description", "type", "format", "title", "default", "maximum", "exclusiveMaximum",
        "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems",
        "multipleOf", "enum", "maxProperties", "minProperties", "required", "items", "allOf", "oneOf", "anyOf", "not",
        "properties", "additionalProperties", "patternProperties", "dependencies", "additionalItems", "definitions",
        "externalDocs", "example", "nullable", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type",
        "x-kubernetes-validations",
    }
)  # fmt: skip
_RULE: Final = frozenset({"rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"})


def drop_unknown(crd: Object) -> list[str]:
    """Drops, in place, what is no field of a CRD; the paths, sorted."""
    spec = crd.get("spec")
    return sorted(_spec(spec)) if isinstance(spec, dict) else []


def _spec(spec: Object) -> Iterator[str]:
    yield from _dropped(spec, _SPEC, "spec")
    if isinstance(spec.get("names"), dict):
        yield from _dropped(spec["names"], _NAMES, "spec.names")
    for index, version in enumerate(spec.get("versions") or []):
        if not isinstance(version, dict):
            continue
        at = f"spec.versions[{index}]"
        yield from _dropped(version, _VERSION, at)
        document = (version.get("schema") or {}).get("openAPIV3Schema")
        if isinstance(document, dict):
            yield from _schema(document, f"{at}.schema.openAPIV3Schema")


def _schema(document: Object, at: str) -> Iterator[str]:
    yield from _dropped(document, _SCHEMA, at)
    if document.get("enum") == []:
        del document["enum"]
    for name, each in (document.get("properties") or {}).items():
        if isinstance(each, dict):
            yield from _schema(each, f"{at}.properties.{name}")
    for key in ("items", "additionalProperties", "not"):
        if isinstance(document.get(key), dict):
            yield from _schema(document[key], f"{at}.{key}")
    for key in ("allOf", "anyOf", "oneOf"):
        for index, each in enumerate(document.get(key) or []):
            yield from _schema(each, f"{at}.{key}[{index}]")
    for index, rule in enumerate(document.get("x-kubernetes-validations") or []):
        yield from _dropped(rule, _RULE, f"{at}.x-kubernetes-validations[{index}]")


def _dropped(value: Object, known: frozenset[str], at: str) -> Iterator[str]:
    for name in [each for each in value if each not in known]:
        del value[name]
        yield f"{at}.{name}"
