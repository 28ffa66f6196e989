"""Objects that outlive the server: a database file that follows the store a moment behind.

Changes are collected and written in one transaction, in another thread, several times a second: a request never waits for
the disk, and a crash loses the last moment only. Versions that may have been given out and lost are never given again.
Secrets are among the objects, so nobody but the file's owner may read it.
"""

import asyncio
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import orjson

from localcluster.apiserver.kinds.kind import Object, Resource
from localcluster.apiserver.store.memory import Event, Store, key_of

FLUSH_SECONDS = 0.2
_SKIPPED_VERSIONS = 100_000
_TABLE = (
    'CREATE TABLE IF NOT EXISTS objects ("group" TEXT, plural TEXT, namespace TEXT, name TEXT, version INTEGER, '
    'body BLOB, PRIMARY KEY ("group", plural, namespace, name)) WITHOUT ROWID'
)
_DELETE = 'DELETE FROM objects WHERE "group" = ? AND plural = ? AND namespace = ? AND name = ?'
_PUT = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)"

_Place = tuple[str, str, str, str]


class Keeper:
    """Keeps a store in a file."""

    def __init__(self, path: Path, store: Store) -> None:
        self._store = store
        self._changed: dict[_Place, tuple[int, bytes] | None] = {}
        self._writing: asyncio.Future[None] | None = None
        _make_private(path)
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.execute(_TABLE)
        self._database.commit()

    def load(self) -> int:
        """Put what the file holds into the store, and follow the store from now on; how many objects there were."""
        found: dict[Resource, list[Object]] = {}
        last = count = 0
        for group, plural, version, body in self._database.execute(
            'SELECT "group", plural, version, body FROM objects'
        ):
            found.setdefault((group, plural), []).append(orjson.loads(body))
            last = max(last, version)
            count += 1
        for resource, objects in found.items():
            self._store.restore(resource, objects, last + _SKIPPED_VERSIONS)
        self._store.subscribe_all(self._note)
        return count

    async def run(self) -> None:
        """Follow the store until cancelled."""
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Write what has changed since the last time; what was begun is carried out even if nobody waits for it any more."""
        if self._writing is not None and not self._writing.done():
            await asyncio.shield(self._writing)
        changed, self._changed = self._changed, {}
        if changed:
            self._writing = asyncio.ensure_future(asyncio.to_thread(self._write, changed.items()))
            await asyncio.shield(self._writing)

    async def close(self) -> None:
        """Write the rest and close the file."""
        await self.flush()
        self._database.close()

    def _note(self, event: Event) -> None:
        place = (*event.resource, *key_of(event.new.obj))
        self._changed[place] = None if event.type == "DELETED" else (event.new.version, event.new.encoded)

    def _write(self, changed: Iterable[tuple[_Place, tuple[int, bytes] | None]]) -> None:
        with self._database:
            for place, state in changed:
                if state is None:
                    self._database.execute(_DELETE, place)
                else:
                    self._database.execute(_PUT, (*place, *state))


def _make_private(path: Path) -> None:
    """Makes the file if need be, and takes others' rights from it and from what a crash left beside it.

    SQLite gives the files that it makes beside a database the rights of the database.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if file.exists():
            file.chmod(0o600)
