"""The words our schemas are written in: types, names as Kubernetes checks them, unions, and fields that cannot change.

Every rule says in CEL what the built-in API checks in code, with the same message (apimachinery's validation, KEP-4671).
"""

from typing import Any, Final

Schema = dict[str, Any]

INVALID: Final = "FieldValueInvalid"
FORBIDDEN: Final = "FieldValueForbidden"
IMMUTABLE: Final = "field is immutable"

SUBDOMAIN_LENGTH: Final = 253
LABEL_LENGTH: Final = 63
QUALIFIED_NAME_LENGTH: Final = SUBDOMAIN_LENGTH + 1 + LABEL_LENGTH

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = f"{_LABEL}([.]{_LABEL})*"
_NAME_PART: Final = "[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?"

_SUBDOMAIN_MESSAGE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com')"
)
_LABEL_MESSAGE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name', or '123-abc')"
)
_LABEL_KEY_MESSAGE: Final = (
    "name part must consist of at most 63 alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName', or 'example.com/MyName')"
)


def rule(expression: str, message: str, *, reason: str = INVALID, field: str = "") -> Schema:
    """One validation in CEL (`x-kubernetes-validations`).

    Args:
        expression: true for what is allowed; `self` is the object it stands at, `oldSelf` that object before an update.
        message: what the user reads.
        reason: `INVALID` or `FORBIDDEN`.
        field: where it is reported; "" for the object itself.
    """
    at = {"fieldPath": f".{field}"} if field else {}
    return {"rule": expression, **at, "message": message, "reason": reason}


def fields(
    description: str, properties: dict[str, Schema], *, required: tuple[str, ...] = (), rules: tuple[Schema, ...] = ()
) -> Schema:
    """An object with these fields.

    Args:
        description: "" leaves it to the list it is an item of.
        properties: schemas by field name.
        required: fields that must be there.
        rules: validations of the object as a whole.
    """
    schema: Schema = {"type": "object"}
    if description:
        schema["description"] = description
    if required:
        schema["required"] = list(required)
    if properties:
        schema["properties"] = properties
    if rules:
        schema["x-kubernetes-validations"] = list(rules)
    return schema


def text(description: str, **limits: Any) -> Schema:
    """A string, with limits as OpenAPI names them."""
    return {"type": "string", "description": description, **limits}


def number(description: str, *, bits: int = 32, **limits: Any) -> Schema:
    """A whole number of so many bits."""
    return {"type": "integer", "format": f"int{bits}", "description": description, **limits}


def keyed_list(description: str, key: str, items: Schema, **limits: Any) -> Schema:
    """A list whose items are told apart by one of their fields.

    Args:
        description: of the list.
        key: the field; no two items have the same value of it.
        items: schema of an item.
        limits: such as `maxItems`, named as in OpenAPI.
    """
    kind = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
    return {"type": "array", "description": description, **limits, **kind, "items": items}


def subdomain(description: str, *, may_be_empty: bool = False) -> Schema:
    """A name as most objects have it: an RFC 1123 subdomain."""
    limits = {} if may_be_empty else {"minLength": 1}
    check = rule(f"self == '' || self.matches('^{_SUBDOMAIN}$')", _SUBDOMAIN_MESSAGE)
    return text(description, **limits, maxLength=SUBDOMAIN_LENGTH) | {"x-kubernetes-validations": [check]}


def label(description: str) -> Schema:
    """An RFC 1123 label."""
    check = rule(f"self == '' || self.matches('^{_LABEL}$')", _LABEL_MESSAGE)
    return text(description, minLength=1, maxLength=LABEL_LENGTH) | {"x-kubernetes-validations": [check]}


def template_name(description: str) -> Schema:
    """A label whose dots are refused in words of their own."""
    checks = [
        rule("!self.contains('.')", "must not contain dots"),
        rule(f"self.contains('.') || self.matches('^{_LABEL}$')", _LABEL_MESSAGE),
    ]
    return text(description, minLength=1, maxLength=LABEL_LENGTH) | {"x-kubernetes-validations": checks}


def path_segment(description: str) -> Schema:
    """Anything that can be one segment of a URL path."""
    refused = [rule(f"self != '{each}'", f"may not be '{each}'") for each in (".", "..")]
    refused += [rule(f"!self.contains('{each}')", f"may not contain '{each}'") for each in ("/", "%")]
    return text(description, minLength=1, maxLength=SUBDOMAIN_LENGTH) | {"x-kubernetes-validations": refused}


def label_key(description: str) -> Schema:
    """The key of a label: an optional subdomain and a slash, then a name."""
    check = rule(
        f"self == '' || (self.matches('^({_SUBDOMAIN}/)?{_NAME_PART}$') && "
        f"self.matches('^([^/]{{1,{SUBDOMAIN_LENGTH}}}/)?[^/]{{1,{LABEL_LENGTH}}}$'))",
        _LABEL_KEY_MESSAGE,
    )
    return text(description, minLength=1, maxLength=QUALIFIED_NAME_LENGTH) | {"x-kubernetes-validations": [check]}


def one_of(first: str, second: str) -> tuple[Schema, Schema]:
    """Exactly one of two fields is set."""
    names = f"`{first}`, `{second}`"
    return (
        rule(f"has(self.{first}) || has(self.{second})", f"must specify one of: {names}"),
        rule(f"!(has(self.{first}) && has(self.{second}))", f"must specify exactly one of: {names}"),
    )


def immutable(field: str) -> Schema:
    """A field that keeps its value, or its absence."""
    same = f"(!has(self.{field}) || self.{field} == oldSelf.{field})"
    return rule(f"has(self.{field}) == has(oldSelf.{field}) && {same}", IMMUTABLE, field=field)


def immutable_text(field: str) -> Schema:
    """A string that keeps its value; absent and empty are the same."""
    return rule(f"{or_empty('self', field)} == {or_empty('oldSelf', field)}", IMMUTABLE, field=field)


def or_empty(holder: str, field: str) -> str:
    """CEL for a string field, or the empty string."""
    return f"(has({holder}.{field}) ? {holder}.{field} : '')"
