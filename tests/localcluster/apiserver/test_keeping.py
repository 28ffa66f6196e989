"""A kept cluster: what was stored is there after a restart, and no version is given out twice."""

from dataclasses import replace
from pathlib import Path

from localcluster.apiserver.compose import build
from localcluster.apiserver.files import ServerFiles, admin_token
from localcluster.apiserver.server import ServerSettings
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
