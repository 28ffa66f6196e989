"""A whole server for each test, with its files made once."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from localcluster.apiserver.compose import build
from localcluster.apiserver.files import ServerFiles, admin_token, prepare
from localcluster.apiserver.server import ApiServer, ServerSettings
from tests.localcluster.apiserver.rest import Rest

NOBODY = "token-of-nobody"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> ServerFiles:
    made = prepare(tmp_path_factory.mktemp("apiserver"))
    with made.tokens.open("a") as tokens:
        tokens.write(f"{NOBODY},nobody,nobody\n")
    return made


@pytest.fixture
def settings(files: ServerFiles) -> ServerSettings:
    return ServerSettings(files=files)


@pytest.fixture
async def server(settings: ServerSettings) -> AsyncIterator[ApiServer]:
    running = build(replace(settings))
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def rest(server: ApiServer, files: ServerFiles) -> AsyncIterator[Rest]:
    client = Rest(server.url, files.ca, admin_token(files.tokens))
    yield client
    await client.close()


@pytest.fixture
def audit_path(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"
