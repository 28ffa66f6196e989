"""A server of its own for each test, with the stand-ins that a LeaderWorkerSet needs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from kube.client.client import Client
from kube.client.credentials import load_credentials
from localcluster.apiserver.compose import build
from localcluster.apiserver.files import ServerFiles, admin_token, prepare, write_kubeconfig
from localcluster.apiserver.server import ServerSettings
from localcluster.controllers.main import run
from localcluster.controllers.settings import StandInSettings

WITHOUT_NODES = ("statefulset", "leaderworkerset", "garbage", "serviceaccount")
Cluster = Callable[..., contextlib.AbstractAsyncContextManager[Client]]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> ServerFiles:
    return prepare(tmp_path_factory.mktemp("apiserver"))


@pytest.fixture
def cluster(files: ServerFiles, tmp_path: Path) -> Cluster:
    """Opens a cluster: an API server and the stand-ins so named."""

    @contextlib.asynccontextmanager
    async def opened(*names: str, kubelet: bool = False) -> AsyncIterator[Client]:
        server = build(ServerSettings(files=files))
        await server.start()
        kubeconfig = tmp_path / "kubeconfig"
        write_kubeconfig(kubeconfig, server=server.url, ca=files.ca, token=admin_token(files.tokens))
        stop = asyncio.Event()
        try:
            async with Client(load_credentials(str(kubeconfig)), user_agent="test", max_connections=128) as client:
                settings = StandInSettings(names or WITHOUT_NODES, kubelet=kubelet)
                works = asyncio.create_task(run(client, settings, stop))
                try:
                    yield client
                finally:
                    stop.set()
                    await works
        finally:
            await server.stop()

    return opened
