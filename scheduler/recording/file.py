"""Recordings as files: lines of JSON, compressed by gzip. The first line says what it is, the last one how many lines there are.

    {"format":"tutti-recording","version":2,"epoch_seconds":...,"settings":{...},...}
    {"kind":"pods","object":{"metadata":{...},"spec":{...}}}
    ...
    {"kind":"scheduler","object":{...}}
    {"kind":"layout","object":{...}}
    {"kind":"rows","object":{...}}
    {"kind":"step","object":{"step":"decided",...}}
    {"kind":"end","object":{"lines":4711}}

Lines are made one after the other, so that a scheduler at work can do something else between them.
"""

import functools
import gzip
import io
import os
import tempfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar, Union

import msgspec

from api.errors import ConfigurationError
from kube.cache.decoding import cyclic_gc_paused
from scheduler.recording.capture import Taken
from scheduler.recording.inputs import ClusterObjects, DecisionInputs, Devices, Layout, SchedulerState
from scheduler.recording.listed import KINDS
from scheduler.recording.slim import slim
from scheduler.recording.steps import Step

FORMAT: Final = "tutti-recording"
VERSION: Final = 2
READABLE: Final = frozenset({1, VERSION})
"""Files of version 1 have no devices: what is decided without them is decided as it was."""
CONTENT_TYPE: Final = "application/gzip"
_LEVEL: Final = 4
_PRIVATE: Final = 0o600
_READ_BYTES: Final = 1 << 20
_ROWS_OF_A_LINE: Final = 1000
_PODS: Final = "pods"


class Header(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The first line; fields are those of `DecisionInputs`."""

    format: str
    version: int
    epoch_seconds: float = 0.0
    monotonic_seconds: float = 0.0
    settings: dict[str, Any] = {}
    group_api: str = ""
    server_version: str = ""
    devices: Devices = "unknown"
    is_anonymous: bool = False
    """Names, namespaces and labels are made up."""


class _End(msgspec.Struct, frozen=True):
    lines: int


class _Rows(msgspec.Struct, frozen=True):
    """Some rows of the layout: a line that has all of them takes too long to make at once."""

    row_of: dict[str, int]


T = TypeVar("T")


class Recording(msgspec.Struct, frozen=True):
    """What is in a file: inputs of decisions, and what happened since then."""

    inputs: DecisionInputs
    steps: tuple[Step, ...] = ()
    is_anonymous: bool = False


class UnreadableRecording(ConfigurationError):
    """The file is none that can be read; the message says in one line why."""


# --- writing -----------------------------------------------------------------------------------------------------------


def lines_of(recording: Recording) -> Iterator[bytes]:
    """The lines of a recording."""
    inputs, count = recording.inputs, 1
    yield _header(inputs, is_anonymous=recording.is_anonymous)
    for kind, found in _in_parts(inputs):
        yield _line(kind, found)
        count += 1
    for step in recording.steps:
        yield _line("step", step)
        count += 1
    yield _line("end", _End(count))


def lines_of_taken(taken: Taken, steps: Iterable[Step] = ()) -> Iterator[bytes]:
    """The same of what was taken from a scheduler, and of steps that are made readable only now; each line takes microseconds.

    Empty ones say that another turn was needed for the next one.
    """
    rows = yield from _turns(taken.rows.layout_in_steps())
    inputs, count = taken.inputs_with(ClusterObjects(), rows), 1
    yield _header(inputs)
    for kind, found in chain(taken.other_objects(), _in_parts(inputs)):
        yield _line(kind, found)
        count += 1
    for pod in taken.each_pod(rows):
        yield _line(_PODS, pod)
        count += 1
    for step in steps:
        yield _line("step", step)
        count += 1
    yield _line("end", _End(count))


def _turns(steps: Generator[None, None, T]) -> Generator[bytes, None, T]:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        yield b""


def compressed(lines: Iterable[bytes], every_bytes: int = 64 * 1024) -> Iterator[bytes]:
    """The lines as parts of a gzip file; empty parts say that another turn was needed for the next one."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    waiting: list[bytes] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= every_bytes or not line:
            yield packer.compress(b"".join(waiting))
            waiting, size = [], 0
    yield packer.compress(b"".join(waiting)) + packer.flush()


def write(path: Path, lines: Iterable[bytes]) -> None:
    """Writes a file whole or not at all; only its owner may read it.

    Raises:
        ConfigurationError: it cannot be written there.
    """
    write_parts(path, compressed(lines))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Writes a file of parts that are compressed already; as `write`."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
            Path(name).chmod(_PRIVATE)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror or error}") from error


def _header(inputs: DecisionInputs, *, is_anonymous: bool = False) -> bytes:
    header = Header(
        format=FORMAT,
        version=VERSION,
        epoch_seconds=inputs.epoch_seconds,
        monotonic_seconds=inputs.monotonic_seconds,
        settings=inputs.settings,
        group_api=inputs.group_api,
        server_version=inputs.server_version,
        devices=inputs.devices,
        is_anonymous=is_anonymous,
    )
    return msgspec.json.encode(header) + b"\n"


def _in_parts(inputs: DecisionInputs) -> Iterator[tuple[str, msgspec.Struct]]:
    for kind in ClusterObjects.__struct_fields__:
        for found in getattr(inputs.objects, kind):
            # What nobody has slimmed before must not get into a file either.
            yield kind, slim(found)
    if inputs.scheduler is not None:
        yield "scheduler", inputs.scheduler
    if inputs.layout is not None:
        pods = inputs.layout.pods
        yield "layout", msgspec.structs.replace(inputs.layout, pods=msgspec.structs.replace(pods, row_of={}))
        for rows in batched(pods.row_of.items(), _ROWS_OF_A_LINE):
            yield "rows", _Rows(dict(rows))


def batched(entries: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The entries, so many at a time."""
    each = iter(entries)
    while some := tuple(islice(each, size)):
        yield some


def _line(kind: str, found: msgspec.Struct) -> bytes:
    return b'{"kind":"%s","object":%s}\n' % (kind.encode(), msgspec.json.encode(found))


# --- reading -----------------------------------------------------------------------------------------------------------

_decode_header: Final = msgspec.json.Decoder(Header).decode


class _Line(msgspec.Struct, frozen=True, gc=False, tag_field="kind"):
    """Any other line; its class says the kind."""

    object: Any


_TYPES: Final[Mapping[str, Any]] = {
    **{kind.plural: kind.type for kind in KINDS.values()},
    "scheduler": SchedulerState,
    "layout": Layout,
    "rows": _Rows,
    "step": Step,
    "end": _End,
}
_LINES: Final = {
    name: msgspec.defstruct(f"_Line_{name}", [("object", held)], bases=(_Line,), tag=name, frozen=True, gc=False)
    for name, held in _TYPES.items()
}
_NAMES: Final = {cls: name for name, cls in _LINES.items()}
_OBJECTS: Final = frozenset(kind.plural for kind in KINDS.values())


@functools.cache
def _decoder() -> msgspec.json.Decoder[_Line]:
    """Of a line of any kind; only who reads a file needs it."""
    return msgspec.json.Decoder(Union[tuple(_LINES.values())])  # noqa: UP007 (made of a list)


def read(path: Path) -> Recording:
    """The recording in a file.

    Raises:
        UnreadableRecording: it is not there, not ours, of another version, or cut off.
    """
    try:
        with path.open("rb") as file:
            return read_from(file, str(path))
    except OSError as error:
        raise UnreadableRecording(f"cannot read {path}: {error.strerror or error}") from error


def read_from(file: BinaryIO, name: str) -> Recording:
    """The recording in an open file; `name` is for messages.

    Raises:
        UnreadableRecording: it is not ours, of another version, or cut off.
    """
    try:
        with gzip.GzipFile(fileobj=file) as whole, cyclic_gc_paused():
            return _read(io.BufferedReader(whole, _READ_BYTES), name)
    except gzip.BadGzipFile as error:
        raise UnreadableRecording(f"{name} is no recording of tutti") from error
    except (EOFError, zlib.error) as error:
        raise UnreadableRecording(f"{name} is damaged or cut off") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableRecording(f"{name} is damaged: {error}") from error


def _read(file: BinaryIO, name: str) -> Recording:
    header = _header_of(file.readline(), name)
    objects: dict[str, list[Any]] = {}
    state, layout, steps = None, None, list[Step]()
    count, stated = 1, 0
    for line in _lines(file):
        kind, found = _NAMES[type(line)], line.object
        if kind in _OBJECTS:
            objects.setdefault(kind, []).append(found)
        elif kind == "step":
            steps.append(found)
        elif kind == "scheduler":
            state = found
        elif kind == "layout":
            layout = found
        elif kind == "rows" and layout is not None:
            layout.pods.row_of.update(found.row_of)
        elif kind == "end":
            stated = found.lines
            break
        else:
            raise UnreadableRecording(f"{name} is damaged: rows come before the layout")
        count += 1
    if stated != count:
        raise UnreadableRecording(f"{name} is cut off")
    by_kind: dict[str, Any] = {kind: tuple(found) for kind, found in objects.items()}
    inputs = DecisionInputs(
        epoch_seconds=header.epoch_seconds,
        monotonic_seconds=header.monotonic_seconds,
        settings=header.settings,
        group_api=header.group_api,
        server_version=header.server_version,
        devices=header.devices,
        objects=ClusterObjects(**by_kind),
        scheduler=state,
        layout=layout,
    )
    return Recording(inputs, tuple(steps), header.is_anonymous)


def _lines(file: BinaryIO) -> Iterator[_Line]:
    """The lines after the first one; many are decoded at once."""
    decode, rest = _decoder().decode_lines, b""
    while part := file.read(_READ_BYTES):
        whole, newline, rest = (rest + part).rpartition(b"\n")
        if newline:
            yield from decode(whole)
    if rest:
        yield from decode(rest)


def _header_of(text: bytes, name: str) -> Header:
    try:
        header = _decode_header(text)
    except msgspec.MsgspecError as error:
        raise UnreadableRecording(f"{name} is no recording of tutti") from error
    if header.format != FORMAT:
        raise UnreadableRecording(f"{name} is no recording of tutti")
    if header.version not in READABLE:
        raise UnreadableRecording(
            f"{name} is a recording of version {header.version}, and this tutti reads version {VERSION} and older ones"
        )
    return header
