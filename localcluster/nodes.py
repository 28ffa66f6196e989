"""Hollow nodes for any cluster: `python -m localcluster.nodes --kubeconfig FILE --nodes 20 --shape cpu=8,memory=32Gi`.

Makes Node objects and runs the pods bound to them (and to every other node marked as hollow) until SIGTERM or SIGINT,
then removes the nodes it made. Needs no more rights than a client that may write nodes and pods.
"""

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Sequence

from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import AlreadyExists, NotFound
from kube.client.resources import DEVICE_CLASSES, NODES, RESOURCE_SLICES
from kube.process.run import preflight, run_process
from localcluster.devices import Devices, class_manifest, parse_devices, slice_manifest
from localcluster.kubelet import WORKERS, Kubelet, rfc3339_now
from localcluster.shapes import NodeShape, node_manifest, parse_labels, parse_resources, parse_taints

WRITES_AT_ONCE = 16
WATCHES = 2
DEFAULT_SHAPE = "cpu=8,memory=32Gi"


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m localcluster.nodes", description="Hollow nodes for a cluster.")
    parser.add_argument("--kubeconfig", metavar="FILE", help="cluster and user; default: $KUBECONFIG, ~/.kube/config")
    parser.add_argument("--nodes", type=int, default=1, metavar="N", help="how many nodes to make; 0: none (default 1)")
    parser.add_argument("--prefix", default="hollow", help="nodes are called PREFIX-0, PREFIX-1, ... (default hollow)")
    parser.add_argument("--shape", default=DEFAULT_SHAPE, help=f"resources of each node (default {DEFAULT_SHAPE})")
    parser.add_argument("--devices", default="", metavar="NAME=COUNT,...", help="devices of each node, as gpu=8")
    parser.add_argument("--label", action="append", default=[], metavar="KEY=VALUE", help="label of each node")
    parser.add_argument("--taint", action="append", default=[], metavar="KEY=VALUE:EFFECT", help="taint of each node")
    return parser.parse_args(arguments)


async def create_nodes(client: Client, names: Sequence[str], shape: NodeShape) -> dict[str, str]:
    """Creates nodes of one shape; the UIDs of those that were not there before, by name."""
    limit = asyncio.Semaphore(WRITES_AT_ONCE)
    made: dict[str, str] = {}

    async def create(name: str) -> None:
        async with limit:
            try:
                node = await client.create(NODES, node_manifest(name, shape, now=rfc3339_now()))
            except AlreadyExists:
                return
            made[name] = node["metadata"]["uid"]

    async with asyncio.TaskGroup() as tasks:
        for name in names:
            tasks.create_task(create(name))
    return made


async def publish_devices(client: Client, names: Sequence[str], devices: Devices) -> None:
    """Offers so many devices on each of these nodes, with a class for each kind; what is there stays as it is."""
    limit = asyncio.Semaphore(WRITES_AT_ONCE)

    async def publish(node: str) -> None:
        async with limit:
            uid = (await client.get(NODES, node))["metadata"]["uid"]
            for name, count in devices.items():
                with contextlib.suppress(AlreadyExists):
                    await client.create(RESOURCE_SLICES, slice_manifest(name, count, node, uid), parse=False)

    for name in devices:
        with contextlib.suppress(AlreadyExists):
            await client.create(DEVICE_CLASSES, class_manifest(name), parse=False)
    async with asyncio.TaskGroup() as tasks:
        for node in names if devices else ():
            tasks.create_task(publish(node))


async def remove_nodes(client: Client, uids: dict[str, str]) -> None:
    """Removes exactly these nodes."""
    limit = asyncio.Semaphore(WRITES_AT_ONCE)

    async def remove(name: str, uid: str) -> None:
        async with limit:
            try:
                await client.delete(NODES, name, uid=uid)
            except NotFound:
                return

    async with asyncio.TaskGroup() as tasks:
        for name, uid in uids.items():
            tasks.create_task(remove(name, uid))


async def run(arguments: argparse.Namespace, stop: asyncio.Event) -> int:
    """Makes the nodes and runs their pods until `stop` is set; the exit code."""
    shape = NodeShape(
        parse_resources(arguments.shape), labels=parse_labels(arguments.label), taints=parse_taints(arguments.taint)
    )
    devices = parse_devices(arguments.devices)
    names = [f"{arguments.prefix}-{number}" for number in range(arguments.nodes)]
    connections = WORKERS + WATCHES
    credentials = load_credentials(arguments.kubeconfig)
    async with Client(credentials, user_agent="tutti-hollow-nodes", max_connections=connections) as client:
        await preflight(client)
        made = await create_nodes(client, names, shape)
        try:
            await publish_devices(client, names, devices)
            await _run_pods(client, stop, f"{len(names)} hollow nodes ready, {len(made)} of them new\n")
        finally:
            await remove_nodes(client, made)
    return 0


async def _run_pods(client: Client, stop: asyncio.Event, line: str) -> None:
    """Runs the kubelet until `stop` is set; its failure, which nothing else would notice, is raised."""
    kubelet = Kubelet(client)

    async def say_ready() -> None:
        await kubelet.synced()
        sys.stdout.write(line)
        sys.stdout.flush()

    running, said, stopped = (asyncio.create_task(each) for each in (kubelet.run(), say_ready(), stop.wait()))
    await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
    for task in (said, stopped):
        task.cancel()
    if running.done():
        await running
    running.cancel()


def main() -> int:
    """Entry point."""
    arguments = parse_arguments(sys.argv[1:])
    return int(run_process(lambda stop: run(arguments, stop)))


if __name__ == "__main__":
    sys.exit(main())
