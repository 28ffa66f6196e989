"""JSON patch (RFC 6902) with the refusals of the real server, which tells no more than that it did not work."""

from typing import Any

import orjson

from localcluster.apiserver import status

MOST_OPERATIONS = 10_000
MOST_COPIED_BYTES = 3 * 1024 * 1024
_REJECTED = "the server rejected our request due to an error in our request"


class _Unfit(Exception):
    """The operation does not fit the document."""


def apply_json_patch(target: Any, patch: Any) -> Any:
    """The patched document; `target` is changed in place.

    Raises:
        StatusError: the patch is none, or does not fit.
    """
    if not isinstance(patch, list):
        found = "object" if isinstance(patch, dict) else type(patch).__name__
        text = f"error decoding patch: json: cannot unmarshal {found} into Go value of type []handlers.jsonPatchOp"
        raise status.bad_request(text)
    if len(patch) > MOST_OPERATIONS:
        text = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(patch)}"
        raise status.StatusError(413, "RequestEntityTooLarge", text)
    holder = {"": target}
    copied = 0
    try:
        for operation in patch:
            copied += _apply(holder, operation, MOST_COPIED_BYTES - copied)
    except (_Unfit, KeyError, TypeError, AttributeError) as error:
        raise status.StatusError(422, "Invalid", _REJECTED, {}) from error
    return holder[""]


def _apply(holder: dict[str, Any], operation: dict[str, Any], most_bytes: int) -> int:
    """Carries an operation out; how many bytes it copied, of the so many that it may."""
    name, path = operation["op"], _pointer(operation["path"])
    if name == "add":
        _add(holder, path, operation.get("value"))
    elif name == "remove":
        _remove(holder, path)
    elif name == "replace":
        _get(holder, path)
        _set(holder, path, operation.get("value"))
    elif name == "move":
        _add(holder, path, _remove(holder, _pointer(operation["from"])))
    elif name == "copy":
        encoded = orjson.dumps(_get(holder, _pointer(operation["from"])))
        if len(encoded) > most_bytes:
            raise _Unfit
        _add(holder, path, orjson.loads(encoded))
        return len(encoded)
    elif name == "test":
        _test(holder, path, operation.get("value"))
    else:
        raise _Unfit
    return 0


def _test(holder: dict[str, Any], path: list[str], value: Any) -> None:
    try:
        found = _get(holder, path)
    except _Unfit:
        found = None
    if found != value:
        raise _Unfit


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise _Unfit
    return [each.replace("~1", "/").replace("~0", "~") for each in text.split("/")]


def _index(text: str, *, end: int) -> int:
    if not text.lstrip("-").isdigit():
        raise _Unfit
    number = int(text)
    if not 0 <= number < end:
        raise _Unfit
    return number


def _get(holder: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(holder, dict) and part in holder:
            holder = holder[part]
        elif isinstance(holder, list):
            holder = holder[_index(part, end=len(holder))]
        else:
            raise _Unfit
    return holder


def _set(holder: Any, path: list[str], value: Any) -> None:
    parent = _get(holder, path[:-1])
    if isinstance(parent, list):
        parent[_index(path[-1], end=len(parent))] = value
    else:
        parent[path[-1]] = value


def _add(holder: Any, path: list[str], value: Any) -> None:
    parent = _get(holder, path[:-1])
    if isinstance(parent, list):
        where = len(parent) if path[-1] == "-" else _index(path[-1], end=len(parent) + 1)
        parent.insert(where, value)
    elif isinstance(parent, dict):
        parent[path[-1]] = value
    else:
        raise _Unfit


def _remove(holder: Any, path: list[str]) -> Any:
    parent = _get(holder, path[:-1])
    if isinstance(parent, list):
        return parent.pop(_index(path[-1], end=len(parent)))
    if not isinstance(parent, dict) or path[-1] not in parent:
        raise _Unfit
    return parent.pop(path[-1])
