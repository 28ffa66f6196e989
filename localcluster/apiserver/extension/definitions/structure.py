"""Whether a document is a structural schema that the real server would take, said in its words.

The rules are those of "Specifying a structural schema" in the documentation of CRDs, as far as one is likely to break them. The
rules in `x-kubernetes-validations` are compiled, and the fields of `self` they mention must be there.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from localcluster.apiserver import fielderrors
from localcluster.apiserver.extension.cel.names import escape
from localcluster.apiserver.extension.cel.program import CompileError, compile_expression, complaint_at
from localcluster.apiserver.extension.cel.tokens import mentions
from localcluster.apiserver.extension.schema.decode import prune
from localcluster.apiserver.extension.schema.patterns import BadPattern, compile_pattern
from localcluster.apiserver.extension.schema.structural import Schema, parse_schema
from localcluster.apiserver.extension.schema.values import check_value
from localcluster.apiserver.fielderrors import FieldError

TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
VARIABLES: Final = frozenset({"self", "oldSelf"})
_FIELD_PATH: Final = re.compile(r"(\.[A-Za-z_][\w-]*|\['[^']+'\])+\Z")
_FORBIDDEN: Final = {
    "$ref": "$ref is not supported",
    "definitions": "definitions is not supported",
    "dependencies": "dependencies is not supported",
    "id": "id is not supported",
    "patternProperties": "patternProperties is not supported",
}


def schema_errors(document: Mapping[str, Any], path: str, *, has_status: bool) -> list[FieldError]:
    """Everything that is wrong with the schema of a version."""
    found = document.get("type")
    errors = []
    if found and found != "object":
        if has_status:
            told = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            errors.append(fielderrors.invalid_value(f"{path}.type", found, told))
        return [*errors, fielderrors.invalid_value(f"{path}.type", found, "must be object at the root")]
    if not found:
        errors.append(fielderrors.required(f"{path}.type", "must not be empty at the root"))
    errors += _metadata(document, path)
    return errors + list(_node(document, path, "root"))


def _metadata(document: Mapping[str, Any], path: str) -> list[FieldError]:
    metadata = (document.get("properties") or {}).get("metadata") or {}
    if not (metadata.get("properties") or {}).keys() <= {"name", "generateName"}:
        told = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        return [fielderrors.forbidden_field(f"{path}.properties[metadata]", told)]
    return []


def _node(document: Mapping[str, Any], path: str, place: str) -> Iterator[FieldError]:
    yield from (
        fielderrors.forbidden_field(f"{path}.{key}", told) for key, told in _FORBIDDEN.items() if document.get(key)
    )
    if document.get("uniqueItems"):
        told = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield fielderrors.forbidden_field(f"{path}.uniqueItems", told)
    yield from _type(document, path, place)
    yield from _pattern(document, path)
    properties, additional, items = (document.get(key) for key in ("properties", "additionalProperties", "items"))
    if properties and isinstance(additional, dict):
        told = "additionalProperties and properties are mutual exclusive"
        yield fielderrors.forbidden_field(f"{path}.additionalProperties", told)
    yield from _list_type(document, path)
    yield from _default(document, path)
    yield from _rules(document, path)
    for name, each in (properties or {}).items():
        yield from _node(each, f"{path}.properties[{name}]", "field")
    if isinstance(additional, dict):
        yield from _node(additional, f"{path}.additionalProperties", "field")
    if isinstance(items, dict):
        yield from _node(items, f"{path}.items", "item")


def _type(document: Mapping[str, Any], path: str, place: str) -> Iterator[FieldError]:
    found = document.get("type")
    free = document.get("x-kubernetes-int-or-string") or document.get("x-kubernetes-preserve-unknown-fields")
    if not found and not free and place != "root":
        told = "object fields" if place == "field" else "array items"
        yield fielderrors.required(f"{path}.type", f"must not be empty for specified {told}")
    elif found and found not in TYPES:
        yield fielderrors.unsupported(f"{path}.type", found, TYPES)
    if found == "array" and not isinstance(document.get("items"), dict):
        yield fielderrors.required(f"{path}.items", "must be specified")


def _pattern(document: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    pattern = document.get("pattern")
    if not pattern:
        return
    try:
        compile_pattern(pattern)
    except BadPattern as error:
        told = f"must be a valid regular expression, but isn't: {error}"
        yield fielderrors.invalid_value(f"{path}.pattern", pattern, told)


def _list_type(document: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    kind, keys = document.get("x-kubernetes-list-type"), document.get("x-kubernetes-list-map-keys") or []
    items = document.get("items") if isinstance(document.get("items"), dict) else {}
    if kind and kind not in {"atomic", "set", "map"}:
        yield fielderrors.unsupported(f"{path}.x-kubernetes-list-type", kind, ("atomic", "map", "set"))
    if not isinstance(items, dict):
        return
    map_type = items.get("x-kubernetes-map-type")
    if kind == "set" and items.get("type") == "object" and map_type != "atomic":
        told = "must be atomic as item of a list with x-kubernetes-list-type=set"
        yield fielderrors.invalid_value(f"{path}.items.x-kubernetes-map-type", map_type, told)
    if kind != "map":
        return
    if not keys:
        told = "must not be empty if x-kubernetes-list-type is map"
        yield fielderrors.required(f"{path}.x-kubernetes-list-map-keys", told)
    properties, needed = items.get("properties") or {}, items.get("required") or []
    for index, key in enumerate(keys):
        if key not in properties:
            at = f"{path}.x-kubernetes-list-map-keys[{index}]"
            yield fielderrors.invalid_value(at, key, "entries must all be names of item properties")
        elif key not in needed and "default" not in properties[key]:
            told = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            yield fielderrors.required(f"{path}.items.properties[{key}].default", told)


def _default(document: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    if "default" not in document or not document.get("type"):
        return
    value = document["default"]
    # A copy without the default: what is pruned from it must be in the default itself.
    schema = parse_schema({key: each for key, each in document.items() if key != "default"})
    if isinstance(value, dict) and prune({**value}, schema):
        yield fielderrors.invalid_value(f"{path}.default", value, "must not have unknown fields")
    for error in check_value(value, schema, base=f"{path}.default"):
        if error.field != "<nil>":
            yield error


def _rules(document: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    rules = document.get("x-kubernetes-validations") or ()
    schema = parse_schema({**document, "x-kubernetes-validations": ()}) if rules else None
    for index, rule in enumerate(rules):
        at = f"{path}.x-kubernetes-validations[{index}]"
        yield from _words(rule, at)
        if schema is not None and rule.get("rule", "").strip():
            yield from _expressions(rule, schema, at, is_root=_is_root(path))


def _is_root(path: str) -> bool:
    return path.endswith("openAPIV3Schema")


def _words(rule: Mapping[str, Any], at: str) -> Iterator[FieldError]:
    source, message = rule.get("rule", ""), rule.get("message")
    if not source.strip():
        yield fielderrors.required(f"{at}.rule", "rule is not specified")
    if message and not message.strip():
        yield fielderrors.invalid_value(f"{at}.message", message, "must be non-empty if specified")
    elif message and "\n" in message.strip():
        yield fielderrors.invalid_value(f"{at}.message", message, "must not contain line breaks")
    elif not message and "\n" in source.strip():
        yield fielderrors.required(f"{at}.message", "message must be specified if rule contains line breaks")
    if rule.get("reason") and rule["reason"] not in REASONS:
        yield fielderrors.unsupported(f"{at}.reason", rule["reason"], REASONS)


def _expressions(rule: Mapping[str, Any], schema: Schema, at: str, *, is_root: bool) -> Iterator[FieldError]:
    shown = {
        "Rule": rule["rule"],
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    uses: frozenset[str] = frozenset()
    for field in ("rule", "messageExpression"):
        source = rule.get(field) or ""
        if not source:
            continue
        try:
            uses |= compile_expression(source, VARIABLES).uses
            complaint = _unknown_field(source, schema, is_root=is_root)
        except CompileError as error:
            complaint = str(error)
        if complaint:
            yield fielderrors.invalid_value(f"{at}.{field}", shown, complaint)
    field_path = rule.get("fieldPath") or ""
    if field_path and not (_FIELD_PATH.match(field_path) and _leads_somewhere(field_path, schema)):
        yield fielderrors.invalid_value(f"{at}.fieldPath", field_path, "must be a valid path")
    if rule.get("optionalOldSelf") is not None and "oldSelf" not in uses:
        told = "may not be set if oldSelf is not used in rule"
        yield fielderrors.invalid_value(f"{at}.optionalOldSelf", rule["optionalOldSelf"], told)


def _unknown_field(source: str, schema: Schema, *, is_root: bool) -> str:
    """The complaint about the first field of `self` that the schema does not have; empty when there is none."""
    for mention in mentions(source):
        if mention.name not in VARIABLES:
            continue
        node, depth = schema, 0
        for name, dot, _ in mention.fields:
            implied = {"apiVersion", "kind", "metadata"} if (is_root and not depth) or node.embedded else set()
            if name in implied or node.type != "object" or node.additional is not None or node.keep_unknown:
                break
            known = {escape(each): child for each, child in node.properties.items()} | dict(node.properties)
            if name not in known:
                is_tested = depth + 1 == len(mention.fields) and source[: mention.start].rstrip().endswith("has(")
                start = source.rindex("(", 0, mention.start) if is_tested else dot
                return "compilation failed: " + complaint_at(source, start, f"undefined field '{name}'")
            node, depth = known[name], depth + 1
    return ""


def _leads_somewhere(field_path: str, schema: Schema) -> bool:
    node: Schema | None = schema
    for dotted, quoted in re.findall(r"\.([A-Za-z_][\w-]*)|\['([^']+)'\]", field_path):
        node = node.child(dotted or quoted) if node is not None else None
        if node is None:
            return False
    return True
