"""Requests and answers as the rest of the server sees them, and the routes of paths that are about no object."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qsl, unquote

import orjson

from localcluster.apiserver.kinds.kind import Object, User

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


@dataclass(slots=True)
class HttpRequest:
    """One request.

    Attributes:
        path: unescaped.
        query: the last value of each parameter.
        headers: case-insensitive.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    user: User


@dataclass(slots=True)
class Reply:
    """One answer."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[HttpRequest], Awaitable[Reply]]


class Routes:
    """Who answers for which path. A longer path goes before a shorter one."""

    def __init__(self) -> None:
        self._exact: dict[str, Handler] = {}
        self._prefixes: list[tuple[str, Handler]] = []

    def add(self, path: str, handler: Handler, *, prefix: bool = False) -> None:
        """Let `handler` answer for a path, or for all paths below it and itself."""
        if prefix:
            self._prefixes.append((path.rstrip("/"), handler))
            self._prefixes.sort(key=lambda entry: -len(entry[0]))
        else:
            self._exact[path] = handler

    def find(self, path: str) -> Handler | None:
        """Who answers for this path."""
        found = self._exact.get(path)
        if found is not None:
            return found
        for prefix, handler in self._prefixes:
            if path == prefix or path.startswith(prefix + "/"):
                return handler
        return None


def json_reply(status: int, body: Object) -> Reply:
    """An answer in JSON."""
    return Reply(status, orjson.dumps(body))


def text_reply(status: int, text: str) -> Reply:
    """An answer in plain text."""
    return Reply(status, text.encode(), TEXT)


@lru_cache(maxsize=2048)
def parsed_query(text: str) -> Mapping[str, str]:
    """The last value of each parameter."""
    return dict(parse_qsl(text, keep_blank_values=True))


def segments(path: str) -> list[str]:
    """The parts of a path, unescaped."""
    parts = path.strip("/").split("/")
    return [unquote(part) for part in parts] if "%" in path else parts
