"""What a real server leaves out of its answers: empty lists, empty maps and zeros that mean nothing.

Pure. A real server reads every object into typed fields and writes it anew, so a field that holds nothing is not there
afterwards, unless its zero is a value (`parallelism: 0`) or it is an object (`resources: {}`). Which is which, the message
tables know. Of custom resources only the metadata is typed.
"""

from typing import Any

from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.protobuf.messages import MESSAGES, Field, Shape, flat_fields

_METADATA = "meta.v1.ObjectMeta"
_OPAQUE = frozenset(
    {
        *("RawExtension", "FieldsV1", "Quantity", "IntOrString", "Time", "MicroTime"),
        *("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"),
    }
)


def drop_empties(kind: KindInfo, obj: Object) -> None:
    """Drop the fields that hold nothing; in place."""
    name = f"{kind.group.partition('.')[0] or 'core'}.{kind.version}.{kind.kind}"
    if kind.definition is None and name in MESSAGES:
        _walk(name, obj)
    else:
        _walk(_METADATA, obj["metadata"])


def drop_empty_fields(message: str, obj: Object) -> None:
    """Drop the fields that hold nothing from an object of the type so named, such as `core.v1.PodTemplateSpec`; in place."""
    _walk(message, obj)


def _walk(name: str, obj: Object) -> None:
    fields = flat_fields(name)
    empty = []
    for key, value in obj.items():
        # Most values are texts and numbers that say something: they need no look at the table.
        if value:
            if isinstance(value, dict | list) and (field := fields.get(key)) is not None:
                _walk_into(field, value)
        elif (field := fields.get(key)) is not None and _means_nothing(field, value):
            empty.append(key)
    for key in empty:
        del obj[key]


def _walk_into(field: Field, value: Any) -> None:
    if field.type not in MESSAGES:
        return
    if field.shape is Shape.ONE:
        if isinstance(value, dict):
            _walk(field.type, value)
        return
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict):
            _walk(field.type, each)


def _means_nothing(field: Field, value: Any) -> bool:
    """Whether this empty value is left out."""
    if field.zero_counts or value is None:
        return False
    if field.shape is Shape.ONE:
        return field.type not in MESSAGES and field.type not in _OPAQUE
    return True
