"""JSON patch (RFC 6902) with the limits and refusals of the real server, which tells no more than that it did not work."""

from types import MappingProxyType
from typing import Any, Final

import jsonpatch
import orjson

from localcluster.apiserver import status

MOST_OPERATIONS: Final = 10_000
MOST_COPIED_BYTES: Final = 3 * 1024 * 1024
_REJECTED: Final = "the server rejected our request due to an error in our request"
_UNFIT: Final = (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, KeyError, TypeError, AttributeError)


class _TestOperation(jsonpatch.TestOperation):
    """A field that is not there passes for null, as in the real server."""

    def apply(self, obj: Any) -> Any:
        """The document as it is.

        Raises:
            JsonPatchTestFailed: it has another value there.
        """
        if self.operation.get("value") is None and self.pointer.resolve(obj, None) is None:
            return obj
        return super().apply(obj)


class _Patch(jsonpatch.JsonPatch):
    operations = MappingProxyType({**jsonpatch.JsonPatch.operations, "test": _TestOperation})


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
    copied = 0
    try:
        for operation in patch:
            copied += _copied_bytes(target, operation)
            if copied > MOST_COPIED_BYTES:
                raise status.StatusError(422, "Invalid", _REJECTED, {})
            target = _Patch([operation]).apply(target, in_place=True)
    except _UNFIT as error:
        raise status.StatusError(422, "Invalid", _REJECTED, {}) from error
    return target


def _copied_bytes(target: Any, operation: dict[str, Any]) -> int:
    if operation["op"] != "copy":
        return 0
    return len(orjson.dumps(jsonpatch.JsonPointer(operation["from"]).resolve(target)))
