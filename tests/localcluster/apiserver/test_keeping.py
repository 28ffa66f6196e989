"""A kept cluster: what was stored is there after a restart, and no version is given out twice."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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
