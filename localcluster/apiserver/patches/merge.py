"""JSON merge patch (RFC 7396)."""

from typing import Any


def merge(target: Any, patch: Any) -> Any:
    """The patched value; `target` is changed in place where it is an object."""
    if not isinstance(patch, dict):
        return patch
    if not isinstance(target, dict):
        target = {}
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            target[key] = merge(target.get(key), value)
        else:
            target[key] = value
    return target
