"""A kept cluster: what was stored is there after a restart, and no version is given out twice."""

import asyncio
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from localcluster.apiserver.compose import build
from localcluster.apiserver.files import ServerFiles, admin_token
from localcluster.apiserver.server import ServerSettings
from localcluster.apiserver.store.keep import Keeper
from localcluster.apiserver.store.memory import Store
from tests.localcluster.apiserver.rest import PODS, Rest, pod


async def test_objects_outlive_the_server(files: ServerFiles, tmp_path: Path) -> None:
    settings = replace(ServerSettings(files=files), keep=tmp_path / "objects.db")
    first = build(settings)
    await first.start()
    rest = Rest(first.url, files.ca, admin_token(files.tokens))
    kept = await rest.create(PODS, pod("kept"))
    await rest.create(PODS, pod("gone"))
    await rest.ask("DELETE", f"{PODS}/gone")
    await rest.close()
    await first.stop()

    second = build(settings)
    await second.start()
    rest = Rest(second.url, files.ca, admin_token(files.tokens))
    try:
        assert await rest.get(f"{PODS}/kept") == kept
        assert (await rest.ask("GET", f"{PODS}/gone")).code == 404
        newer = await rest.create(PODS, pod("newer"))
        assert int(newer["metadata"]["resourceVersion"]) > int(kept["metadata"]["resourceVersion"])
        (event,) = await rest.watched_to_the_end(
            f"{PODS}?watch=1&resourceVersion={kept['metadata']['resourceVersion']}"
        )
        assert event["object"]["code"] == 410
    finally:
        await rest.close()
        await second.stop()


@pytest.fixture
def generous_umask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


def modes_in(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}


@pytest.mark.usefixtures("generous_umask")
@pytest.mark.parametrize("mode_before", [None, 0o666], ids=["a new file", "a file that others could read"])
async def test_nobody_else_may_read_the_kept_objects_secrets_among_them(
    tmp_path: Path, mode_before: int | None
) -> None:
    path = tmp_path / "objects.db"
    if mode_before is not None:
        path.touch(mode_before)
        (tmp_path / "objects.db-wal").touch(mode_before)
    keeper = Keeper(path, Store())
    try:
        assert modes_in(tmp_path) == {"objects.db": 0o600, "objects.db-wal": 0o600, "objects.db-shm": 0o600}
    finally:
        await keeper.close()


async def test_what_is_being_written_when_the_server_ends_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    write = Keeper._write

    def slowly(keeper: Keeper, changed: Any) -> None:
        begun.set()
        may_end.wait(10)
        write(keeper, changed)

    monkeypatch.setattr(Keeper, "_write", slowly)
    store = Store()
    keeper = Keeper(tmp_path / "objects.db", store)
    keeper.load()
    metadata = {"name": "c", "namespace": "default", "uid": "1"}
    store.put(("", "configmaps"), {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})
    flushing = asyncio.create_task(keeper.flush())
    await asyncio.to_thread(begun.wait, 10)
    flushing.cancel()
    await asyncio.gather(flushing, return_exceptions=True)
    closing = asyncio.create_task(keeper.close())
    await asyncio.sleep(0)
    may_end.set()
    await closing
    again = Keeper(tmp_path / "objects.db", Store())
    assert again.load() == 1
    await again.close()
