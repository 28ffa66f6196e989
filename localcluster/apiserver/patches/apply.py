"""One patch of any of the types applied to a copy of an object."""

import orjson

from localcluster.apiserver import status
from localcluster.apiserver.bodies import PATCH_TYPES
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.patches.jsonpatch import apply_json_patch
from localcluster.apiserver.patches.merge import merge
from localcluster.apiserver.patches.strategic import strategic_merge

JSON_PATCH, MERGE_PATCH, APPLY_PATCH, STRATEGIC_PATCH = PATCH_TYPES
_APPLY_REFUSED = (
    "server-side apply is not supported by this server: use client-side apply (kubectl apply without --server-side)"
)
_OF_CUSTOM = ", ".join((JSON_PATCH, MERGE_PATCH, "application/apply-patch+yaml"))


def decoded_patch(kind: KindInfo, body: bytes, content_type: str) -> tuple[str, object]:
    """The type of a patch, and what it says.

    Raises:
        StatusError: the type is unknown, or the body cannot be read.
    """
    media_type = content_type.partition(";")[0].strip()
    if media_type == APPLY_PATCH:
        raise status.StatusError(415, "UnsupportedMediaType", _APPLY_REFUSED)
    if media_type not in PATCH_TYPES:
        raise status.StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    if media_type == STRATEGIC_PATCH and kind.definition is not None:
        raise status.unsupported_media_type(_OF_CUSTOM)
    try:
        return media_type, orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise status.bad_request("invalid JSON patch") from error


def patched(media_type: str, target: Object, patch: object) -> Object:
    """The object after the patch; `target` is used up.

    Raises:
        StatusError: the patch does not fit.
    """
    if media_type == JSON_PATCH:
        new = apply_json_patch(target, patch)
    elif not isinstance(patch, dict):
        found = "array" if isinstance(patch, list) else "string"
        raise status.bad_request(
            f"error decoding patch: json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        )
    else:
        # The patch is applied again when somebody else was faster, and what is merged is changed later: use a copy.
        own = orjson.loads(orjson.dumps(patch))
        new = merge(target, own) if media_type == MERGE_PATCH else strategic_merge(target, own)
    if not isinstance(new, dict):
        raise status.StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {})
    return new
