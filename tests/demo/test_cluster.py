"""`tutti cluster`: starts whole, goes on where it was kept, and leaves nothing behind."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from api.errors import ConfigurationError
from kube.client.credentials import load_credentials
from kube.client.resources import CONFIG_MAPS, NODES
from localcluster.cluster import ClusterSettings, running_cluster, welcome
from localcluster.processes import end_of

SHAPE = "cpu=2,memory=4Gi"
REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60.0


async def test_a_kept_cluster_goes_on_where_it_ended(tmp_path: Path) -> None:
    settings = ClusterSettings(nodes=2, shape=SHAPE, folder=tmp_path / "kept")
    said: list[str] = []
    async with running_cluster(settings, said.append) as first, first.client() as client:
        assert len((await client.list(NODES))["items"]) == 2
        made = await client.create(CONFIG_MAPS, {"metadata": {"name": "c"}}, "default")
        lines = welcome(first, settings)
    async with running_cluster(settings, said.append) as second, second.client() as client:
        again = await client.get(CONFIG_MAPS, "c", "default")
        assert len((await client.list(NODES))["items"]) == 2
    assert again["metadata"]["uid"] == made["metadata"]["uid"]
    assert second.url == first.url
    assert said == []
    assert any(str(first.kubeconfig) in line for line in lines)


async def test_a_taken_port_is_refused_with_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port} is taken"):
            async with running_cluster(ClusterSettings(nodes=0, port=port), print):
                pass


async def test_a_shape_that_makes_no_sense_is_refused_before_anything_starts() -> None:
    with pytest.raises(ConfigurationError, match="is not of the form name=quantity"):
        async with running_cluster(ClusterSettings(shape="much"), print):
            pass


async def test_devices_that_make_no_sense_are_refused_before_anything_starts() -> None:
    with pytest.raises(ConfigurationError, match="--devices: 'much' is not of the form name=count, such as gpu=8"):
        async with running_cluster(ClusterSettings(devices="much"), print):
            pass


def start(temporary: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tutti", "cluster", "--nodes", "1", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    )


def url_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("cluster ready at https://"), line + (process.stdout.read() if process.poll() else "")
    return line.split()[3].rstrip(":")


def answers(url: str) -> bool:
    host, _, port = url.removeprefix("https://").partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def test_the_command_ends_cleanly_when_asked(tmp_path: Path) -> None:
    with start(tmp_path, "--keep", str(tmp_path / "kept")) as process:
        url = url_of(process)
        assert answers(url)
        load_credentials(str(tmp_path / "kept" / "admin.kubeconfig"))
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_SECONDS) == 0
        assert not answers(url)
        assert process.stdout is not None
        assert f"{tmp_path / 'kept'} keeps it" in process.stdout.read()


async def test_its_processes_do_not_outlive_it(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        url = url_of(process)
        os.kill(process.pid, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while answers(url):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.1)


def test_the_end_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    assert end_of(tmp_path / "none") == "(it is empty)"
    (tmp_path / "log").write_text("\n".join(map(str, range(9))))
    assert end_of(tmp_path / "log").splitlines() == ["4", "5", "6", "7", "8"]
