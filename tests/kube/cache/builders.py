"""Small objects and watch lines for the cache's tests."""

from typing import Any

import msgspec

from api.meta import NO_METADATA, Metadata


class Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    replicas: int = 0


class Thing(msgspec.Struct, rename="camel"):
    """A record with metadata and a little more."""

    metadata: Metadata = NO_METADATA
    spec: Spec = msgspec.field(default_factory=Spec)


def thing(name: str, version: int, *, uid: str = "", namespace: str = "ns", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}", "resourceVersion": str(version)}
    return {"metadata": metadata, "spec": spec}


def page(version: int, *items: dict[str, Any], more: str = "") -> dict[str, Any]:
    metadata = {"resourceVersion": str(version)} | ({"continue": more} if more else {})
    return {"kind": "List", "metadata": metadata, "items": list(items)}


def event(kind: str, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "object": item}


def bookmark(version: int) -> dict[str, Any]:
    return event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(version)}})


def stream_error(code: int, reason: str) -> dict[str, Any]:
    return event("ERROR", {"kind": "Status", "code": code, "reason": reason, "message": "the stream says so"})
