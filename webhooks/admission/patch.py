"""JSON patches (RFC 6902) made by saying how the object should be.

A change that is already there makes no operation, so every admission that uses this is idempotent, as re-invocation demands.
"""

import copy
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from providers.base import PodMetadata

Operation = dict[str, Any]
Path = tuple[str, ...]
T = TypeVar("T")


class Patch:
    """Operations that turn the given object into the wanted one; the object itself is left alone."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = copy.deepcopy(dict(document))
        self._operations: list[Operation] = []

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What has been asked for so far, in order."""
        return tuple(self._operations)

    def result(self, record: type[T]) -> T:
        """The object as the patch leaves it."""
        return msgspec.convert(self._document, record)

    def get(self, *path: str) -> Any:
        """The value at a path as the patch leaves it, None when there is none."""
        value: Any = self._document
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def set(self, path: Path, value: Any) -> None:
        """Makes the value at `path` (member names only) this one, with all missing objects on the way there."""
        if self.get(*path) == value:
            return
        present = 0
        while present < len(path) - 1 and isinstance(self.get(*path[: present + 1]), dict):
            present += 1
        for part in reversed(path[present + 1 :]):
            value = {part: value}
        self._put(path[: present + 1], value)

    def append(self, path: Path, value: Any) -> None:
        """Adds an element to the list at `path`, which is made when missing."""
        items = self.get(*path)
        if isinstance(items, list):
            items.append(value)
            self._operations.append({"op": "add", "path": f"{_pointer(path)}/-", "value": value})
        else:
            self.set(path, [value])

    def remove(self, path: Path) -> None:
        """Takes the member at `path` away if it is there."""
        parent = self.get(*path[:-1])
        if isinstance(parent, dict) and path[-1] in parent:
            del parent[path[-1]]
            self._operations.append({"op": "remove", "path": _pointer(path)})

    def _put(self, path: Path, value: Any) -> None:
        self.get(*path[:-1])[path[-1]] = copy.deepcopy(value)
        self._operations.append({"op": "add", "path": _pointer(path), "value": value})


def set_pod_metadata(patch: Patch, metadata: Path, association: PodMetadata) -> None:
    """Writes what ties a pod to its group into the metadata at that path."""
    for kind, values in (("labels", association.labels), ("annotations", association.annotations)):
        for key, value in values.items():
            patch.set((*metadata, kind, key), value)


def _pointer(path: Path) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)
