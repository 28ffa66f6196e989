"""Reading bodies: which types, how large, and what is said about those that cannot be read."""

from typing import Any

import orjson
import yaml

from localcluster.apiserver import status
from localcluster.apiserver.http import JSON
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.protobuf import decode as protobuf

MOST_BYTES = 3 * 1024 * 1024
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
PATCH_TYPES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
    "application/strategic-merge-patch+json",
)


def decoded_object(body: bytes, content_type: str, kind: str) -> Object:
    """The object that a body holds.

    Raises:
        StatusError: the body is of another type, or no object.
    """
    media_type = content_type.partition(";")[0].strip() or JSON
    if media_type == PROTOBUF:
        return _protobuf(body)
    if media_type not in {JSON, YAML}:
        raise status.unsupported_media_type()
    try:
        found = orjson.loads(body) if media_type == JSON else _yaml(body)
    except ValueError as error:
        raise status.bad_request(_unrecognized(kind, f"json parse error: {_reason(body, error)}")) from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        text = (
            f"json parse error: json: cannot unmarshal {_go_type(found)} into Go value of type struct "
            '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } '
            f"({body[:64].hex()})"
        )
        raise status.bad_request(_unrecognized(kind, text))
    return found


def decoded_options(body: bytes, content_type: str) -> Object | None:
    """The DeleteOptions that a body holds; None when there are none.

    Raises:
        StatusError: the body is no object.
    """
    media_type = content_type.partition(";")[0].strip() or JSON
    if not body:
        return None
    if media_type == PROTOBUF:
        return _protobuf(body)
    if media_type not in {JSON, YAML}:
        raise status.unsupported_media_type()
    try:
        found = orjson.loads(body) if media_type == JSON else _yaml(body)
    except ValueError as error:
        text = f"couldn't get version/kind; json parse error: {_reason(body, error).removesuffix(_tail(body))}"
        raise status.bad_request(text) from error
    if not isinstance(found, dict):
        raise status.bad_request(f"json: cannot unmarshal {_go_type(found)} into Go value of type v1.DeleteOptions")
    return found


def _protobuf(body: bytes) -> Object:
    try:
        return protobuf.decode(body)
    except protobuf.BadMessage as error:
        raise status.bad_request(str(error)) from error


def _yaml(body: bytes) -> Any:
    try:
        return yaml.safe_load(body)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _unrecognized(kind: str, why: str) -> str:
    return f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; {why}"


def _reason(body: bytes, error: ValueError) -> str:
    if not body.strip():
        return "unexpected end of JSON input (<empty>)"
    position = getattr(error, "pos", len(body))
    if position >= len(body):
        return f"unexpected end of JSON input{_tail(body)}"
    found = body[position : position + 1].decode(errors="replace")
    if not found.isprintable():
        return f"invalid character '\\x{ord(found):02x}' looking for beginning of value ({body[:32].hex()})"
    before = body[:position].rstrip()[-1:]
    wanted = "object key string" if before in {b"{", b","} and found != "," else "value"
    return f"invalid character '{found}' looking for beginning of {wanted}"


def _tail(body: bytes) -> str:
    return f" ({body[:32].decode(errors='replace')})"


def _go_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return {list: "array", str: "string", int: "number", float: "number"}.get(type(value), "null")
