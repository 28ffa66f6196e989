"""What the three processes need on a real control plane: at rest, with 5,000 nodes and 50,000 pods of gangs, started anew there.

The gangs are Jobs that came through admission and got their groups as ever. Their pods are made by this program in place of the
Job controller, which would take an hour, and have a node already. The processes run outside the cluster, where each loads the
reader of kubeconfigs; in a pod scheduler and webhooks need some 15 MiB less.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import aiohttp
import yaml

from hack.bench.costs import Cost, cost_of, option_of
from hack.bench.end_to_end import at_most_in_flight, running_tutti
from hack.bench.manifests import node, pod
from hack.bench.objects import NAMESPACE
from hack.bench.table import show
from install.manifests import CONFIG_FOLDER
from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.resources import JOBS, NAMESPACES, NODES, PODS
from verify.clusters.controlplane import ControlPlane
from verify.clusters.real import RealControlPlane

NODES_COUNT: Final = int(os.environ.get("TUTTI_BENCH_NODES", "5000"))
PODS_COUNT: Final = int(os.environ.get("TUTTI_BENCH_PODS", "50000"))
SIZE: Final = 20
PROCESSES: Final = ("scheduler", "controllers", "webhooks")
STARTED_ANEW: Final = ("scheduler", "controllers")
REST_SECONDS: Final = 30.0
PATIENCE_SECONDS: Final = 3600.0
POLL_SECONDS: Final = 0.2
JOBS_POLL_SECONDS: Final = 5.0
LEFT_OUT: Final = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
"""What the server says of an object, not its author."""


def measure(assets: Path) -> None:
    """Runs it and prints the table."""
    with RealControlPlane(group_api="own", assets=assets, stock_scheduler=False, audited=False) as plane:
        asyncio.run(_measure(plane))


async def _measure(plane: ControlPlane) -> None:
    plane.controller_manager.kill()
    async with (
        Client(load_credentials(str(plane.kubeconfig)), user_agent="tutti-bench", max_connections=64) as client,
        running_tutti(plane),
    ):
        await asyncio.sleep(REST_SECONDS)
        at_rest = _costs()
        await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
        await at_most_in_flight(client.create(NODES, _node(index), parse=False) for index in range(NODES_COUNT))
        seconds = await _fill(client)
        await asyncio.sleep(REST_SECONDS)
        full = _costs()
        started = {word: await _start_anew(word) for word in STARTED_ANEW}
        await asyncio.sleep(REST_SECONDS)
        _show(at_rest, full, started, _costs(), seconds)


def _costs() -> dict[str, Cost]:
    return {word: cost_of(word) for word in PROCESSES}


async def _fill(client: Client) -> float:
    """Makes the Jobs, waits until their gates are open, makes their pods; the seconds that all of it took."""
    begin = perf_counter()
    count = PODS_COUNT // SIZE
    await at_most_in_flight(client.create(JOBS, _job(index), NAMESPACE, parse=False) for index in range(count))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(open_jobs := [each for each in await _jobs(client) if not each["spec"].get("suspend")]) < count:
            print(f"{len(open_jobs)} gates of {count} are open after {perf_counter() - begin:.0f} s", file=sys.stderr)
            await asyncio.sleep(JOBS_POLL_SECONDS)
    pods = (_pod(each, at * SIZE + index) for at, each in enumerate(open_jobs) for index in range(SIZE))
    await at_most_in_flight(client.create(PODS, body, NAMESPACE, parse=False) for body in pods)
    return perf_counter() - begin


async def _jobs(client: Client) -> list[dict[str, Any]]:
    return [each async for page in client.list_pages(JOBS, NAMESPACE) for each in json.loads(page)["items"]]


def _node(index: int) -> dict[str, Any]:
    made = node(index)
    return made | {"metadata": {key: value for key, value in made["metadata"].items() if key not in LEFT_OUT}}


def _job(index: int) -> dict[str, Any]:
    """A gang whose pods are as large as those of `manifests`."""
    spec = pod(index)["spec"]
    container = {key: value for key, value in spec["containers"][0].items() if key != "volumeMounts"}
    template = {"restartPolicy": "Never", "containers": [container], "tolerations": spec["tolerations"]}
    return {
        "metadata": {"name": f"train-{index}"},
        "spec": {
            "completionMode": "Indexed",
            "parallelism": SIZE,
            "completions": SIZE,
            "template": {"spec": template},
        },
    }


def _pod(job: dict[str, Any], number: int) -> dict[str, Any]:
    """A member as the Job controller makes it, on a node."""
    metadata, template = job["metadata"], job["spec"]["template"]
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    return {
        "metadata": {
            **template["metadata"],
            "name": f"{metadata['name']}-{number % SIZE}-{number:05x}",
            "ownerReferences": [owner],
        },
        "spec": template["spec"] | {"nodeName": pod(number)["spec"]["nodeName"]},
    }


async def _start_anew(word: str) -> float:
    """Ends a process, as a rollout does; seconds until the next one is ready with all its caches."""
    pid, begin = cost_of(word).pid, perf_counter()
    os.kill(pid, signal.SIGTERM)
    async with aiohttp.ClientSession() as session, asyncio.timeout(PATIENCE_SECONDS):
        while not await _is_ready(session, word, pid):  # noqa: ASYNC110 (another process, no event tells)
            await asyncio.sleep(POLL_SECONDS)
    return perf_counter() - begin


async def _is_ready(session: aiohttp.ClientSession, word: str, former_pid: int) -> bool:
    try:
        if cost_of(word).pid == former_pid:
            return False
        address = option_of(word, "metrics")
        async with session.get(f"http://{address}/metrics") as metrics:
            leads = 'tutti_leader_election_master_status{name="tutti-' + word + '"} 1.0' in await metrics.text()
        async with session.get(f"http://{address}/readyz") as answer:
            return leads and answer.status == 200
    except (LookupError, OSError, aiohttp.ClientError):
        return False


def _show(
    at_rest: dict[str, Cost],
    full: dict[str, Cost],
    started: dict[str, float],
    anew: dict[str, Cost],
    filled_seconds: float,
) -> None:
    rows = []
    for word in PROCESSES:
        requests, limits = _resources(word)
        seconds = f"{started[word]:.1f}" if word in started else ""
        after = f"{anew[word].now_mib:.0f} / {anew[word].peak_mib:.0f}" if word in started else ""
        rows.append(
            [
                word,
                f"{at_rest[word].now_mib:.0f}",
                f"{full[word].now_mib:.0f} / {full[word].peak_mib:.0f}",
                after,
                seconds,
                f"{full[word].cpu_seconds - at_rest[word].cpu_seconds:.0f}",
                f"{requests} / {limits}",
            ]
        )
    show(
        f"Memory, MiB resident (now / at most): {NODES_COUNT:,} nodes, {PODS_COUNT:,} pods of gangs of {SIZE}",
        ["process", "at rest", "full", "started anew there", "  ready after s", "CPU s to fill", "asked / limit"],
        rows,
        notes=[f"all Jobs and pods were there after {filled_seconds:.0f} s"],
    )


def _resources(word: str) -> tuple[str, str]:
    """What the manifests ask for and allow."""
    documents = yaml.safe_load_all((CONFIG_FOLDER / "manager" / f"{word}.yaml").read_text(encoding="utf-8"))
    (deployment,) = [each for each in documents if each["kind"] == "Deployment"]
    resources = deployment["spec"]["template"]["spec"]["containers"][0]["resources"]
    return resources["requests"]["memory"], resources["limits"]["memory"]
