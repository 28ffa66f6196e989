"""Arguments that are a key and an object, None where the object went: how they are written as values and read again."""

from collections.abc import Callable
from typing import Any

from scheduler.cache.cluster import ClusterState
from scheduler.recording.pods import PodWriter

Arguments = tuple[Any, ...]


def written_with(write: Callable[[Any], Any]) -> Callable[[Arguments, PodWriter], Arguments]:
    """The value of the object is what `write` makes of it."""

    def written(arguments: Arguments, _: PodWriter) -> Arguments:
        key, record = arguments
        return (key, write(record) if record is not None else None)

    return written


def read_with(read: Callable[[Any, ClusterState], Any]) -> Callable[[Arguments, ClusterState], Arguments]:
    """The object is what `read` makes of its value."""

    def made(arguments: Arguments, state: ClusterState) -> Arguments:
        key, found = arguments
        return (key, read(found, state) if found is not None else None)

    return made
