"""Prints what a CPython process has in memory, looked at from outside: resident areas by kind, and small objects by type.

Which objects a process has ever more of cannot be asked of itself without changing what is measured. So its memory is read while it
goes on, and the pools of Python's allocator in it are walked: 16 KiB each, in 64-bit CPython 3.11 to 3.13 (`Objects/obmalloc.c`).
What has more than 512 bytes is not in pools. Pages of files that are not in its memory are left alone: looked at, they would be
its own from then on. A few objects that change just then are not told right. It takes some seconds of one processor, and the right
to trace that process.

    python -m hack.process_memory PID                # a table
    python -m hack.process_memory PID --save FILE    # and what was counted, as JSON
    python -m hack.process_memory PID --since FILE   # what is more, or less, than it was then
"""

import argparse
import bisect
import json
import os
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

POOL_BYTES = 16 * 1024
POOL_HEADER_BYTES = 48
SIZE_CLASSES = 32
STEP_BYTES = 16
BEFORE_OBJECT_BYTES = (0, 16, 32)
"""What may stand in a block before its object: nothing, the collector's links, and before these a dictionary's place."""
TYPE_OF, NAME_OF, FLAGS_OF = 8, 24, 168
"""Where in an object its type stands, and in a type its name and its flags."""
MAKES_TYPES = 1 << 31
"""The flag of `type` and its subclasses."""
MOST_NAME_BYTES = 100
LARGEST_AREA_BYTES = 1 << 30
UNKNOWN = "?"
SHOWN = 20
EXIT_USAGE = 2

_AREA = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \S+\s*(.*)")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_IS_THERE = np.uint64(0b11 << 62)
"""What /proc/PID/pagemap says of a page that is in memory or swapped out."""


class Area(NamedTuple):
    """What can be written of a process's memory, from this address on."""

    begin: int
    data: bytes


class Pool(NamedTuple):
    """Blocks of one size; those in use, by their places in the area."""

    block_bytes: int
    used: Sequence[int]


class Census(NamedTuple):
    """What a process has.

    Attributes:
        resident_kib: by kind of area.
        pool_bytes: of all pools in which something is in use.
        objects: in pools, by the name of their type.
        object_bytes: what they take there.
    """

    resident_kib: Counter[str]
    pool_bytes: int
    objects: Counter[str]
    object_bytes: Counter[str]


class Image:
    """What was read of a process's memory.

    Args:
        areas: what can be written.
        read: the bytes at an address, so many at most; names of built-in types are in files, which are read where asked for.

    Raises:
        LookupError: it is no CPython.
    """

    def __init__(self, areas: Sequence[Area], read: Callable[[int, int], bytes]) -> None:
        self.areas = sorted(areas)
        self._begins = [area.begin for area in self.areas]
        self._read = read
        self._names: dict[int, str] = {}
        self._type = self._find_type()

    def type_name(self, address: int) -> str:
        """The name of the type there; empty when there is none."""
        if address not in self._names:
            maker = self._word(address + TYPE_OF)
            is_type = maker and (maker == self._type or self._makes_types(maker))
            self._names[address] = self._text(self._word(address + NAME_OF)) if is_type else ""
        return self._names[address]

    def _makes_types(self, address: int) -> bool:
        return self._word(address + TYPE_OF) == self._type and bool(self._word(address + FLAGS_OF) & MAKES_TYPES)

    def _find_type(self) -> int:
        """Where `type` is: it is its own type."""
        for begin, data in self.areas:
            words = np.frombuffer(data, dtype="<u8", count=len(data) // 8)
            owners = np.arange(len(words), dtype=np.uint64) * np.uint64(8) + np.uint64(begin - TYPE_OF)
            for address in owners[words == owners].tolist():
                if self._text(self._word(address + NAME_OF)) == "type":
                    return int(address)
        raise LookupError("there is no CPython in its memory")

    def _word(self, address: int) -> int:
        """The eight bytes there, 0 where nothing was read."""
        place = bisect.bisect_right(self._begins, address) - 1
        if place < 0:
            return 0
        begin, data = self.areas[place]
        return int(struct.unpack_from("<Q", data, address - begin)[0]) if address - begin + 8 <= len(data) else 0

    def _text(self, address: int) -> str:
        return self._read(address, MOST_NAME_BYTES).split(b"\0")[0].decode("ascii", "replace")


def pools(area: Area) -> Iterator[Pool]:
    """The pools in an area that have blocks in use."""
    begin, data = area
    for place in range(-begin % POOL_BYTES, len(data) - POOL_BYTES + 1, POOL_BYTES):
        count, _, first_free = struct.unpack_from("<IIQ", data, place)
        size_class, untouched, last = struct.unpack_from("<III", data, place + 36)
        block = (size_class + 1) * STEP_BYTES
        if (
            size_class < SIZE_CLASSES
            and last == POOL_BYTES - block
            and 0 < count <= (POOL_BYTES - POOL_HEADER_BYTES) // block
            and POOL_HEADER_BYTES <= untouched <= POOL_BYTES
        ):
            free = _free_blocks(data, place, first_free - begin - place, begin)
            touched = range(POOL_HEADER_BYTES, min(untouched, last + 1), block)
            yield Pool(block, [place + each for each in touched if each not in free])


def _free_blocks(data: bytes, place: int, block: int, begin: int) -> set[int]:
    """Blocks of a pool that were given back, by where they are in it: each has the address of the next one."""
    free: set[int] = set()
    while 0 < block <= POOL_BYTES - 8 and block not in free:
        free.add(block)
        block = struct.unpack_from("<Q", data, place + block)[0] - begin - place
    return free


def census(image: Image, resident_kib: Counter[str]) -> Census:
    """Counts what is in use in all pools."""
    found = Census(resident_kib, 0, Counter(), Counter())
    pool_bytes = 0
    for area in image.areas:
        for pool in pools(area):
            pool_bytes += POOL_BYTES
            for place in pool.used:
                name = _type_name(image, area.data, place, pool.block_bytes)
                found.objects[name] += 1
                found.object_bytes[name] += pool.block_bytes
    return found._replace(pool_bytes=pool_bytes)


def _type_name(image: Image, data: bytes, place: int, block_bytes: int) -> str:
    for before in BEFORE_OBJECT_BYTES:
        if before + 2 * 8 <= block_bytes:
            name = image.type_name(struct.unpack_from("<Q", data, place + before + TYPE_OF)[0])
            if name:
                return name
    return UNKNOWN


def look_into(pid: int) -> Census:
    """What this process has.

    Raises:
        OSError: there is no such process, or it may not be looked into.
        LookupError: it is no CPython.
    """
    resident_kib: Counter[str] = Counter()
    areas: list[Area] = []
    kind = ""
    with _Memory(pid) as memory:
        for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
            area = _AREA.match(line)
            if area is None:
                if line.startswith("Rss:"):
                    resident_kib[kind] += int(line.split()[1])
                continue
            begin, end, name = int(area[1], 16), int(area[2], 16), area[5]
            kind = name if name.startswith("[") else "files" if name else "anonymous"
            if kind == "files":
                memory.maps(begin, end, name, int(area[4], 16))
            if area[3].startswith("rw") and end - begin < LARGEST_AREA_BYTES:
                areas.append(Area(begin, memory.present(begin, end)))
        return census(Image(areas, memory.read), resident_kib)


class _Memory:
    """The memory of a process, without a page of a file coming into it by being looked at: those are read from the file."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._files: list[tuple[int, int, str, int]] = []

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            self._memory = opened.enter_context(Path(f"/proc/{self._pid}/mem").open("rb", buffering=0))
            self._pages = opened.enter_context(Path(f"/proc/{self._pid}/pagemap").open("rb", buffering=0))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def maps(self, begin: int, end: int, file: str, offset: int) -> None:
        """At these addresses is a part of this file."""
        self._files.append((begin, end, file, offset))

    def present(self, begin: int, end: int) -> bytes:
        """What is between these addresses, zeros where nothing is."""
        found = bytearray(end - begin)
        entries = os.pread(self._pages.fileno(), (end - begin) // _PAGE_BYTES * 8, begin // _PAGE_BYTES * 8)
        is_there = np.frombuffer(entries, dtype="<u8") & _IS_THERE != 0
        edges = np.flatnonzero(np.diff(is_there, prepend=False, append=False)).reshape(-1, 2)
        for first, last in (edges * _PAGE_BYTES).tolist():
            found[first:last] = self._bytes(begin + first, last - first).ljust(last - first, b"\0")
        return bytes(found)

    def read(self, address: int, size: int) -> bytes:
        """The bytes there, so many at most."""
        for begin, end, file, offset in self._files:
            if begin <= address < end:
                return self._of_file(file, offset + address - begin, min(size, end - address))
        return self._bytes(address, size)

    def _bytes(self, address: int, size: int) -> bytes:
        try:
            return os.pread(self._memory.fileno(), size, address)
        except (OSError, OverflowError):  # nothing is there, or no longer
            return b""

    def _of_file(self, file: str, offset: int, size: int) -> bytes:
        try:
            with Path(file).open("rb", buffering=0) as opened:
                return os.pread(opened.fileno(), size, offset)
        except OSError:  # it was replaced
            return b""


def told(now: Census, then: Census | None = None) -> Iterator[str]:
    """A table; with an earlier census, of what is more or less since."""
    in_use = now.object_bytes.total()
    areas = ", ".join(f"{kind} {kib / 1024:.1f}" for kind, kib in now.resident_kib.most_common() if kib)
    yield f"resident, MiB: {now.resident_kib.total() / 1024:.1f} ({areas})"
    yield f"pools: {now.pool_bytes / 1e6:.2f} MB, in use {in_use / 1e6:.2f} MB"
    objects, sizes = Counter(now.objects), Counter(now.object_bytes)
    if then is not None:
        yield f"in use then: {then.object_bytes.total() / 1e6:.2f} MB; since, by type:"
        objects.subtract(then.objects)
        sizes.subtract(then.object_bytes)
    changed = (name for name in sizes if sizes[name] or objects[name])
    for name in sorted(changed, key=lambda name: (-abs(sizes[name]), name))[:SHOWN]:
        yield f"{sizes[name] / 1e3:12.1f} kB {objects[name]:9d}  {name}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 2 when there is no such process, no CPython in it, or a file is not what it should be."""
    parser = argparse.ArgumentParser(prog="python -m hack.process_memory", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pid", type=int, metavar="PID")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep what was counted")
    parser.add_argument("--since", type=Path, metavar="FILE", help="what another run has kept")
    asked = parser.parse_args(arguments)
    try:
        then = _loaded(asked.since) if asked.since else None
        now = look_into(asked.pid)
        if asked.save:
            asked.save.write_text(json.dumps(now))
    except (OSError, LookupError) as error:
        print(f"process_memory: {error}", file=sys.stderr)
        return EXIT_USAGE
    print("\n".join(told(now, then)))
    return 0


def _loaded(file: Path) -> Census:
    try:
        resident_kib, pool_bytes, objects, object_bytes = json.loads(file.read_text())
        return Census(Counter(resident_kib), pool_bytes, Counter(objects), Counter(object_bytes))
    except (ValueError, TypeError):
        raise LookupError(f"{file} is not what --save has written") from None


if __name__ == "__main__":
    sys.exit(main())
