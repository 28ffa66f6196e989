"""What a method and a path ask for: the verb as RBAC names it, and the resource.

Pure.
"""

from dataclasses import dataclass

_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_OF_NAMESPACES = frozenset({"status", "finalize"})
"""Subresources of namespaces themselves; any other segment after a namespace's name is a resource in it."""


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The meaning of a request line.

    Attributes:
        verb: get, list, watch, create, update, patch, delete, deletecollection; for other paths the method.
        path: as sent.
        is_resource: whether it is about objects at all; the fields below are empty otherwise.
    """

    verb: str
    path: str
    is_resource: bool = False
    group: str = ""
    version: str = ""
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def request_info(method: str, path: str, segments: list[str], *, watch: bool) -> RequestInfo:
    """The meaning of a request; `segments` is the path split at its slashes, then unescaped."""
    group, version, rest = _group_version(segments)
    if not rest:
        return RequestInfo(method.lower(), path)
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_NAMESPACES:
            rest = rest[2:]
    plural, name, subresource = rest[0], *[*rest[1:], "", ""][:2]
    if len(rest) > 3:
        subresource = "/".join(rest[2:])
    verb = _VERBS.get(method, method.lower())
    if not name and verb in {"get", "delete"}:
        verb = {"get": "watch" if watch else "list", "delete": "deletecollection"}[verb]
    return RequestInfo(verb, path, True, group, version, plural, namespace, name, subresource)


def _group_version(segments: list[str]) -> tuple[str, str, list[str]]:
    if segments[:1] == ["api"] and len(segments) > 2:
        return "", segments[1], segments[2:]
    if segments[:1] == ["apis"] and len(segments) > 3:
        return segments[1], segments[2], segments[3:]
    return "", "", []
