"""What a parity script is made of: requests, one after the other, with values kept from one answer for a later request.

A script has a namespace of its own, made before its first step; `{ns}` in a path stands for it. `${name}` in a path,
query or body stands for a value kept under that name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PATCH_TYPES = {
    "apply": "application/apply-patch+yaml",
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}

ADMIN = "admin"
NOBODY = "nobody"
ANONYMOUS = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One request.

    Attributes:
        name: unique within the script; differences are documented by it.
        body: sent as JSON, bytes as they are.
        keep: names for values of the answer, by path such as `metadata.uid`.
        keep_as: a name for the whole answer.
        onto: the body is merged into the answer kept under this name, as a client does that sends back what it read.
        until: repeat until the value at this path is that one; for what a real server does in the background.
        watch: the answer is a stream of events, read until the server ends it.
        compare: whether the answers are compared; False for steps that only prepare others.
        only: path of a list, key in its entries, values: the other entries of the list are not compared.
    """

    name: str
    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON
    accept: str = JSON
    user: str = ADMIN
    keep: Mapping[str, str] = field(default_factory=dict)
    keep_as: str = ""
    onto: str = ""
    until: tuple[str, Any] | None = None
    watch: bool = False
    compare: bool = True
    only: tuple[str, str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """Requests that belong together.

    Attributes:
        foreign: definitions of other projects that are created first: files of the shared data, without which the script
            cannot be played.
    """

    name: str
    steps: Sequence[Step]
    foreign: Sequence[str] = ()

    @property
    def namespace(self) -> str:
        """The script's own namespace."""
        return f"parity-{self.name}"


def get(name: str, path: str, *, query: Mapping[str, str] | None = None, **more: Any) -> Step:
    """Read an object or a list."""
    return Step(name, "GET", path, query=query or {}, **more)


def table(name: str, path: str, *, query: Mapping[str, str] | None = None, **more: Any) -> Step:
    """Read as `kubectl get` does."""
    return Step(name, "GET", path, query=query or {}, accept=TABLE, **more)


def post(name: str, path: str, body: Any, *, query: Mapping[str, str] | None = None, **more: Any) -> Step:
    """Create an object."""
    return Step(name, "POST", path, body, query=query or {}, **more)


def put(name: str, path: str, body: Any, *, query: Mapping[str, str] | None = None, **more: Any) -> Step:
    """Replace an object."""
    return Step(name, "PUT", path, body, query=query or {}, **more)


def patch(
    name: str, path: str, body: Any, kind: str = "merge", *, query: Mapping[str, str] | None = None, **more: Any
) -> Step:
    """Patch an object."""
    return Step(name, "PATCH", path, body, query=query or {}, content_type=PATCH_TYPES.get(kind, kind), **more)


def delete(name: str, path: str, body: Any = None, *, query: Mapping[str, str] | None = None, **more: Any) -> Step:
    """Delete an object or a collection."""
    return Step(name, "DELETE", path, body, query=query or {}, **more)


def watch(name: str, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON, **more: Any) -> Step:
    """Watch for a second."""
    asked = {"watch": "true", "timeoutSeconds": "1", **(query or {})}
    return Step(name, "GET", path, query=asked, accept=accept, watch=True, **more)


def quiet(step: Step) -> Step:
    """The step, not compared."""
    return Step(**{name: getattr(step, name) for name in Step.__slots__} | {"compare": False})
