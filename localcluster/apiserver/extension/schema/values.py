"""Whether a value fits its schema, said in the words of the real server.

The order of the complaints follows the real validator: the type first, then what depends on it, the fields of an object last.
On an update, what was there before and has not changed is not complained about again (validation ratcheting, KEP-4008).
"""

from collections.abc import Iterator
from typing import Any, Final

from localcluster.apiserver import fielderrors
from localcluster.apiserver.extension.schema.formats import is_format
from localcluster.apiserver.extension.schema.structural import MISSING, Limits, Schema
from localcluster.apiserver.fielderrors import FieldError

NOWHERE: Final = "<nil>"
"""The path that the real server names when a complaint of its validator has none."""

_INTEGERS: Final = {"int32": 2**31, "": 2**63, "int64": 2**63}


def check_value(value: Any, schema: Schema, *, old: Any = MISSING, path: str = "", base: str = "") -> list[FieldError]:
    """What is wrong with the value.

    Args:
        value: what was sent, decoded and defaulted.
        schema: what it should be.
        old: what was there before; MISSING when there was nothing.
        path: where the value is, below `base`.
        base: what the paths of the complaints start with, but not their sentences (the status of a status update).
    """
    return list(_Checker(base).check(value, schema, old, path))


def type_of(value: Any) -> str:
    """The JSON type of a value, as the messages name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if -(2**63) <= value < 2**63 else "number"
    if isinstance(value, float):
        return "integer" if value.is_integer() and abs(value) < 2**63 else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


class _Checker:
    def __init__(self, base: str) -> None:
        self._base = base

    def check(self, value: Any, schema: Schema, old: Any, path: str) -> Iterator[FieldError]:
        if old is not MISSING and _same(old, value):
            return
        found = type_of(value)
        if value is None and schema.nullable:
            return
        yield from self._type(found, value, schema, path)
        yield from self._combinations(value, schema, path)
        limits = schema.limits
        if isinstance(value, str):
            yield from self._string(value, schema, path)
        elif found in {"integer", "number"}:
            yield from self._number(value, schema, path)
        elif isinstance(value, list):
            yield from self._items(value, schema, old, path)
        if limits.enum and not any(_same(each, value) for each in limits.enum):
            yield fielderrors.unsupported(self._at(path), value, [_plain(each) for each in limits.enum])
        if isinstance(value, dict):
            yield from self._fields(value, schema, old, path)

    def _at(self, path: str) -> str:
        if not path:
            return self._base or NOWHERE
        return f"{self._base}.{path}" if self._base else path

    def _type(self, found: str, value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
        wanted = "integer,string" if schema.int_or_string else schema.type
        if not wanted or found in wanted.split(",") or (wanted == "number" and found == "integer"):
            return
        yield fielderrors.type_invalid(self._at(path), found, f'{path} in body must be of type {wanted}: "{found}"')
        if schema.type == "integer" and isinstance(value, float):
            format_name = f"with format {schema.limits.format}" if schema.limits.format else "(default format)"
            detail = f"Checked value must be of type integer {format_name} in {path}"
            yield fielderrors.invalid_value(NOWHERE, "", detail)

    def _string(self, value: str, schema: Schema, path: str) -> Iterator[FieldError]:
        limits, at = schema.limits, self._at(path)
        if limits.format and schema.type == "string" and not is_format(limits.format, value):
            yield fielderrors.type_invalid(at, value, f'{path} in body must be of type {limits.format}: "{value}"')
        if limits.max_length is not None and len(value) > limits.max_length:
            yield fielderrors.too_long(at, limits.max_length)
        elif limits.min_length is not None and len(value) < limits.min_length:
            detail = f"{path} in body should be at least {limits.min_length} chars long"
            yield fielderrors.invalid_value(at, value, detail)
        elif limits.matcher is not None and not limits.matcher.search(value):
            yield fielderrors.invalid_value(at, value, f"{path} in body should match '{limits.pattern}'")

    def _number(self, value: float, schema: Schema, path: str) -> Iterator[FieldError]:
        limits = schema.limits
        bound = _INTEGERS.get(limits.format) if schema.type == "integer" else None
        if bound is not None and not -bound <= value < bound and type_of(value) == "integer":
            detail = f"Checked value must be of type integer with format {limits.format} in {path}"
            yield fielderrors.invalid_value(NOWHERE, "", detail)
        for complaint in _number_complaints(value, limits):
            yield fielderrors.invalid_value(self._at(path), value, f"{path} in body should be {complaint}")

    def _items(self, value: list[Any], schema: Schema, old: Any, path: str) -> Iterator[FieldError]:
        limits, count, at = schema.limits, len(value), self._at(path)
        if limits.max_items is not None and count > limits.max_items:
            yield fielderrors.too_many(at, count, limits.max_items)
            return
        if limits.min_items is not None and count < limits.min_items:
            yield fielderrors.invalid_value(at, count, f"{path} in body should have at least {limits.min_items} items")
        if schema.items is None:
            return
        former = _former_items(schema, old)
        for index, item in enumerate(value):
            yield from self.check(item, schema.items, former(item), f"{path}[{index}]")

    def _fields(self, value: dict[str, Any], schema: Schema, old: Any, path: str) -> Iterator[FieldError]:
        limits, count, at = schema.limits, len(value), self._at(path)
        if limits.min_properties is not None and count < limits.min_properties:
            detail = f"{path} in body should have at least {limits.min_properties} properties"
            yield fielderrors.invalid_value(at, count, detail)
            return
        if limits.max_properties is not None and count > limits.max_properties:
            yield fielderrors.too_many(at, count, limits.max_properties)
            return
        was = old if isinstance(old, dict) else {}
        for name, item in value.items():
            child = schema.child(name)
            if child is not None:
                yield from self.check(item, child, was.get(name, MISSING), f"{path}.{name}" if path else name)
        needed = (*limits.required, "apiVersion", "kind") if schema.embedded else limits.required
        for name in needed:
            if name not in value:
                yield fielderrors.required(self._at(f"{path}.{name}" if path else name))

    def _combinations(self, value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
        limits = schema.limits
        if limits.any_of and all(self._failures(value, limits.any_of, path)):
            yield self._combined(path, "must validate at least one schema (anyOf)")
            yield from self._best(value, limits.any_of, path)
        if limits.one_of:
            fitting = sum(not failure for failure in self._failures(value, limits.one_of, path))
            if fitting != 1:
                told = f"Found {fitting} valid alternatives" if fitting else "Found none valid"
                yield self._combined(path, f"must validate one and only one schema (oneOf). {told}")
            if not fitting:
                yield from self._best(value, limits.one_of, path)
        failures = self._failures(value, limits.all_of, path)
        if any(failures):
            yield from (each for failure in failures for each in failure)
            told = "" if not all(failures) else ". None validated"
            yield self._combined(path, f"must validate all the schemas (allOf){told}")
        if limits.none_of is not None and not list(self.check(value, limits.none_of, MISSING, path)):
            yield self._combined(path, "must not validate the schema (not)")

    def _failures(self, value: Any, schemas: tuple[Schema, ...], path: str) -> list[list[FieldError]]:
        return [list(self.check(value, each, MISSING, path)) for each in schemas]

    def _best(self, value: Any, schemas: tuple[Schema, ...], path: str) -> list[FieldError]:
        return min(self._failures(value, schemas, path), key=len)

    def _combined(self, path: str, detail: str) -> FieldError:
        return fielderrors.invalid_value(NOWHERE, "", f'"{path}" {detail}')


def _number_complaints(value: float, limits: Limits) -> Iterator[str]:
    factor, most, least = limits.multiple_of, limits.maximum, limits.minimum
    if factor is not None and abs(value / factor - round(value / factor)) > 1e-9:
        yield f"a multiple of {factor:g}"
    if most is not None and (value > most or (limits.exclusive_maximum and value == most)):
        yield f"less than {_plain(most)}" if limits.exclusive_maximum else f"less than or equal to {_plain(most)}"
    if least is not None and (value < least or (limits.exclusive_minimum and value == least)):
        yield (
            f"greater than {_plain(least)}" if limits.exclusive_minimum else f"greater than or equal to {_plain(least)}"
        )


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON values, where true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict):
        return (
            isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
        )
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


class _former_items:  # noqa: N801 (used as a function)
    """Finds what an item of a list was before: by its keys in a list of type map, nothing in other lists."""

    def __init__(self, schema: Schema, old: Any) -> None:
        self._keys = schema.map_keys if schema.list_type == "map" else ()
        self._known: dict[str, Any] = {}
        if self._keys and isinstance(old, list):
            self._known = {self._key(item): item for item in old if isinstance(item, dict)}

    def __call__(self, item: Any) -> Any:
        return self._known.get(self._key(item), MISSING) if self._known and isinstance(item, dict) else MISSING

    def _key(self, item: dict[str, Any]) -> str:
        return repr([item.get(key) for key in self._keys])
