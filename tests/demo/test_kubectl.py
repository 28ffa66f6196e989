"""What a person types beside the demo: the lines that it prints, and the usual ones, with a stock kubectl."""

import asyncio
import json
import os
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kube.client.resources import JOBS
from localcluster.cluster import Cluster, ClusterSettings, running_cluster, welcome
from localcluster.demo.jobs import WAITS, fitting_gang, ordinary_job, waiting_gang
from localcluster.demo.main import hints
from localcluster.demo.stage import SHAPE
from localcluster.demo.tutti_process import running_tutti

NODES = 2
PATIENCE_SECONDS = 60.0
SAMPLES = Path(__file__).resolve().parents[2] / "config" / "samples"


@pytest.fixture
def binary() -> str:
    beside = Path(os.environ.get("KUBEBUILDER_ASSETS", ""), "kubectl")
    found = str(beside) if beside.is_file() else shutil.which("kubectl")
    if found is None:
        pytest.skip("there is no kubectl: neither in KUBEBUILDER_ASSETS nor in PATH")
    if "FAKETIME" in os.environ:
        pytest.skip("kubectl, which is linked statically, has the true time and takes no certificate of another one")
    return found


class Terminal:
    """Runs kubectl lines as somebody would who has exported KUBECONFIG."""

    def __init__(self, binary: str, cluster: Cluster) -> None:
        self.cluster = cluster
        self._binary = binary
        self._environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(cluster.folder),
            "KUBECONFIG": str(cluster.kubeconfig),
        }

    async def start(self, line: str, typed: str | None = None) -> "asyncio.subprocess.Process":
        return await asyncio.create_subprocess_exec(
            self._binary,
            *line.split(),
            stdin=asyncio.subprocess.PIPE if typed is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
        )

    async def run(self, line: str, typed: str | None = None, *, code: int = 0) -> str:
        """What it says on both outputs; AssertionError when it ends with another code."""
        process = await self.start(line, typed)
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, err = await process.communicate(typed.encode() if typed is not None else None)
        told = out.decode() + err.decode()
        assert process.returncode == code, f"kubectl {line}: exit code {process.returncode}\n{told}"
        return told

    async def until(self, line: str, words: str) -> str:
        """Runs it again and again until it says these words."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while words not in (told := await self.run(line)):
            assert time.monotonic() < deadline, f"kubectl {line} never says {words!r}:\n{told}"
            await asyncio.sleep(0.2)
        return told

    async def watch(self, line: str, words: str) -> str:
        """Starts it, reads lines until one has these words, and ends it with Ctrl-C."""
        process = await self.start(line)
        assert process.stdout is not None
        seen: list[str] = []
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                async for read in process.stdout:
                    seen.append(read.decode())
                    if words in seen[-1]:
                        return "".join(seen)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
        raise AssertionError(f"kubectl {line} ended without {words!r}:\n{''.join(seen)}")


@pytest.fixture
async def terminal(binary: str) -> AsyncIterator[Terminal]:
    """A cluster as in the demo, with a gang that waits, one that runs, and an ordinary Job."""
    said: list[str] = []
    async with (
        running_cluster(ClusterSettings(nodes=NODES, shape=SHAPE), said.append) as cluster,
        cluster.client() as client,
        running_tutti(cluster, client, said.append),
    ):
        for job in (fitting_gang(2), ordinary_job(), waiting_gang(NODES + 1)):
            await client.create(JOBS, job, "default")
        yield Terminal(binary, cluster)


async def test_the_lines_that_are_printed_and_the_usual_ones_work(terminal: Terminal) -> None:
    await _printed_lines(terminal)
    await _reads(terminal)
    await _writes(terminal)
    await _refusals(terminal)


async def _printed_lines(terminal: Terminal) -> None:
    """Those of the demo and of `tutti cluster`, as they are printed."""
    export, *lines = [line.strip() for line in hints(terminal.cluster)]
    assert export == f"export KUBECONFIG={terminal.cluster.kubeconfig}"
    answers = {
        "get podgroups -o wide -w": "Unschedulable",
        "get jobs,pods -o wide": "job.batch/orchestra",
        "describe job orchestra": "FailedScheduling",
        "get events --field-selector reason=FailedScheduling": "orchestra",
    }
    assert [line.removeprefix("kubectl ") for line in lines] == list(answers)
    for line, words in answers.items():
        await (terminal.watch if line.endswith(" -w") else terminal.until)(line, words)
    settings = ClusterSettings(nodes=NODES, shape=SHAPE)
    prefix = f"kubectl --kubeconfig {terminal.cluster.kubeconfig} "
    usual = [line.strip().removeprefix(prefix) for line in welcome(terminal.cluster, settings) if prefix in line]
    assert [line.split()[0] for line in usual] == ["get", "apply"]
    assert "Ready" in await terminal.run(usual[0])
    assert "created" in await terminal.run(usual[1])


async def _reads(terminal: Terminal) -> None:
    assert "Insufficient cpu" in await terminal.until(f"describe job {WAITS}", "Insufficient cpu")
    assert "hollow" in await terminal.run("describe node node-0")
    assert "NOMINATED NODE" in await terminal.run("get pods -o wide")
    assert "minCount" in await terminal.run("explain podgroup.spec.schedulingPolicy.gang")
    assert "completionMode" in await terminal.run("explain job.spec")
    assert "FailedScheduling" in await terminal.run("events --types=Warning")
    listed = json.loads(await terminal.run("get podgroups -o json"))
    assert {each["kind"] for each in listed["items"]} == {"PodGroup"}
    assert "orchestra" in await terminal.watch("get pods -w", "orchestra")


async def _writes(terminal: Terminal) -> None:
    job = json.dumps({"apiVersion": "batch/v1", **ordinary_job(), "metadata": {"name": "mine"}})
    assert "job.batch/mine created" in await terminal.run("apply -f -", job)
    assert "job.batch/mine unchanged" in await terminal.run("apply -f -", job)
    patch = '{"spec":{"parallelism":1}}'
    assert "job.batch/mine patched" in await terminal.run(f"patch job mine --type=merge -p {patch}")
    assert "unchanged" in await terminal.run(f"apply -f {SAMPLES / 'gang-job.yaml'}")
    assert 'job.batch "mine" deleted' in await terminal.run("delete job mine")
    assert f'job.batch "{WAITS}" deleted' in await terminal.run(f"delete job {WAITS}")
    assert "No resources found" in await terminal.until(f"get pods -l job-name={WAITS}", "No resources found")


async def _refusals(terminal: Terminal) -> None:
    """One clear line each."""
    pods = (await terminal.run("get pods -l job-name=ensemble -o name")).split()
    logs = await terminal.run(f"logs {pods[0]}", code=1)
    assert "it plays pods by the clock and runs no containers" in logs
    assert len(logs.strip().splitlines()) == 1
    patched = await terminal.run('patch job gang --type=merge -p {"spec":{"parallelism":2}}', code=1)
    assert "parallelism" in patched
    assert "NotFound" in await terminal.run("get job nothing", code=1)
