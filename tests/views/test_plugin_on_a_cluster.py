"""`kubectl gang` as it is typed, against a cluster of this machine with Tutti on it."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import yaml

from kube.client.resources import JOBS, SERVICE_ACCOUNTS
from localcluster.cluster import Cluster, ClusterSettings, running_cluster
from localcluster.demo.jobs import FITS, WAITS, fitting_gang, waiting_gang
from localcluster.demo.stage import SHAPE
from localcluster.demo.tutti_process import running_page, running_tutti

NODES = 2
PATIENCE_SECONDS = 60.0
REPOSITORY = Path(__file__).resolve().parents[2]


class Plugin:
    """Runs the plugin as kubectl does: as a program with the words behind `kubectl gang`."""

    def __init__(self, kubeconfig: Path, home: Path) -> None:
        self._environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("KUBE")},
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(home),
            "PYTHONPATH": str(REPOSITORY),
        }

    async def start(self, *words: str, call: str = "main") -> "asyncio.subprocess.Process":
        code = f"import kubectl_gang, sys; sys.exit(kubectl_gang.{call}())"
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, *words, stdout=pipe, stderr=pipe, env=self._environment
        )

    async def run(self, *words: str, code: int = 0, call: str = "main") -> str:
        process = await self.start(*words, call=call)
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, err = await process.communicate()
        told = out.decode() + err.decode()
        assert process.returncode == code, told
        return told

    async def until(self, *words: str, says: tuple[str, ...]) -> str:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            told = await self.run(*words)
            if all(word in told for word in says):
                return told
            assert time.monotonic() < deadline, told
            await asyncio.sleep(0.2)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with running_cluster(ClusterSettings(nodes=NODES, shape=SHAPE), lambda _: None) as running:
        yield running


async def test_gangs_are_listed_shown_as_trees_and_watched(cluster: Cluster, tmp_path: Path) -> None:
    plugin = Plugin(cluster.kubeconfig, tmp_path)
    assert "has no PodGroups, so it has no gangs" in await plugin.run("list", code=2)
    async with cluster.client() as client, running_tutti(cluster, client, lambda _: None):
        assert await plugin.run("list") == "No gangs found in default namespace.\n"
        for job in (fitting_gang(2), waiting_gang(NODES + 1)):
            await client.create(JOBS, job, "default")
        await _listed(plugin)
        await _tree(plugin)
        await _on_the_page(cluster)
        await _watched(plugin, cluster)
        await _asked_why(plugin)
        await _completed(plugin)
        await _refused(plugin, cluster, tmp_path)


async def _listed(plugin: Plugin) -> None:
    told = await plugin.until("list", says=(f"job/{FITS}", f"job/{WAITS}", "Unschedulable"))
    waits = next(line.split() for line in told.splitlines() if f"job/{WAITS}" in line)
    assert waits[1] == "waiting"
    assert waits[3:6] == ["1", "Unschedulable", f"0/{NODES + 1}/{NODES + 1}"]
    assert "Insufficient cpu" in await plugin.run("list", "-A", "-o", "wide")
    found = json.loads(await plugin.run("list", "-n", "default", "-o", "json"))
    assert {item["owner"] for item in found["items"]} == {f"job/{FITS}", f"job/{WAITS}"}
    names = (await plugin.run("list", "-o", "name")).split()
    assert len(names) == 2
    assert all(name.startswith("podgroup.tutti.scheduler/") for name in names)


async def _tree(plugin: Plugin) -> None:
    told = await plugin.run("tree", f"job/{WAITS}")
    assert told.splitlines()[0] == f"job/{WAITS}"
    assert told.count("pod/") == NODES + 1
    assert told.count("workload/") == told.count("podgroup/") == 1
    assert "does not exist" not in told
    as_json = json.loads(await plugin.run("tree", f"job/{WAITS}", "-o", "json"))
    assert as_json["children"][0]["children"][0]["name"].startswith("podgroup/")


async def _watched(plugin: Plugin, cluster: Cluster) -> None:
    process = await plugin.start("watch")
    assert process.stdout is not None
    line = ""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while f"job/{WAITS}" not in line:
                line = (await process.stdout.readline()).decode()
            await cluster.add_nodes(["one-more"], SHAPE)
            while not (f"job/{WAITS}" in line and "running" in line):
                line = (await process.stdout.readline()).decode()
                assert line, "it has ended"
        process.terminate()
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _on_the_page(cluster: Cluster) -> None:
    """`tutti page` shows the same gangs, and asks `tutti why` about one that waits."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with running_page(cluster, lambda _: None) as address, aiohttp.ClientSession(cookie_jar=jar) as browser:
        async with browser.get(address) as page:
            assert page.status == 200
        root = address.partition("?")[0]
        async with browser.get(f"{root}events") as events:
            lines = [await events.content.readuntil(b"\n") for _ in range(3)]
        shown = json.loads(lines[2].removeprefix(b"data: "))
        gangs = {row["name"]: row for row in shown["gangs"]}
        assert gangs.keys() == {f"job/{FITS}", f"job/{WAITS}"}
        assert len(shown["nodes"]) == NODES
        async with browser.get(f"{root}gangs/{gangs[f'job/{WAITS}']['uid']}/why") as why:
            assert "hint" in (await why.json())["text"]


async def _asked_why(plugin: Plugin) -> None:
    """The words are those of `tutti why` and `tutti fit`."""
    assert "has started" in await plugin.run("why", f"job/{FITS}")
    assert "ns-of-nobody: nothing of that name" in await plugin.run("why", "-n", "ns-of-nobody", f"job/{FITS}", code=2)
    assert "default: nothing of that name" in await plugin.run("why", "job/nothing", code=2)


async def _completed(plugin: Plugin) -> None:
    assert (await plugin.run("tree", "job/o", call="complete")).split() == [f"job/{WAITS}", ":4"]


async def _refused(plugin: Plugin, cluster: Cluster, folder: Path) -> None:
    """One clear line each."""
    for words, line in {
        ("tree", "job/nothing"): "there is no job/nothing in the namespace default",
        ("tree", "nothing"): "is not of the form KIND/NAME",
        ("tree", "-A", "job/nothing"): "name its namespace with -n",
        ("list", "--context", "other"): "is unusable",
        ("list", "--kubeconfig", "no-such-file"): "kubeconfig no-such-file does not exist",
    }.items():
        told = await plugin.run(*words, code=2)
        assert line in told
        assert len(told.splitlines()) == 1
    nobody = Plugin(await _of_nobody(cluster, folder), folder)
    told = await nobody.run("list", code=2)
    assert told.startswith("error: you may not see the gangs of the namespace default")
    assert "name one with -n" in await nobody.run("watch", "-A", code=2)
    assert await nobody.run("tree", "job/", call="complete") == ":4\n"


async def _of_nobody(cluster: Cluster, folder: Path) -> Path:
    """The kubeconfig of an account without any rights."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    async with cluster.client() as client:
        made = await client.create(SERVICE_ACCOUNTS, body, "default", name="default", subresource="token")
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": made["status"]["token"]}
    path = folder / "nobody.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


async def test_a_server_that_does_not_answer_is_one_clear_line(tmp_path: Path) -> None:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    told = await Plugin(tmp_path / "config", tmp_path).run("list", code=2)
    assert told.startswith("error: cannot reach http://127.0.0.1:9")
    assert len(told.splitlines()) == 1
    told = await Plugin(tmp_path / "none", tmp_path).run("list", code=2)
    assert told == f"error: kubeconfig {tmp_path / 'none'} does not exist\n"
