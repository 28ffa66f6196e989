"""`make demo`: a cluster, Tutti on it, its live page, fifteen steps, a summary. Exit code 0 when every step went as it should."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kube.process.logs import configure_logs
from kube.process.run import EXIT_OK, EXIT_UNEXPECTED, run_process
from localcluster.cluster import Cluster, ClusterSettings, running_cluster
from localcluster.demo.cluster_view import ClusterView
from localcluster.demo.jobs import load_manifests
from localcluster.demo.screen import open_screen, step_line
from localcluster.demo.stage import DEVICES, SHAPE, Stage
from localcluster.demo.tutti_process import running_page, running_tutti
from localcluster.demo.walkthrough import SAMPLES, Walkthrough

NODES: Final = 4


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make demo", description="See gangs wait, say why, and start together.")
    parser.add_argument(
        "--manifests", type=Path, action="append", default=[], metavar="DIR", help="play these manifests as well"
    )
    parser.add_argument(
        "--nodes", type=int, default=NODES, metavar="N", help=f"nodes at the beginning (default {NODES})"
    )
    parser.add_argument("--keep", action="store_true", help="leave everything running at the end, until Ctrl-C")
    parser.add_argument("--plain", action="store_true", help="lines instead of a table, as when there is no terminal")
    return parser.parse_args(arguments)


async def run(arguments: argparse.Namespace, stop: asyncio.Event) -> int:
    """Runs the demo, or as much of it as there is until `stop` is set; the exit code."""
    began = time.monotonic()
    settings = ClusterSettings(nodes=arguments.nodes, shape=SHAPE, devices=DEVICES)
    manifests = [*load_manifests(SAMPLES), *(each for folder in arguments.manifests for each in load_manifests(folder))]
    _say(f"starting a cluster of {arguments.nodes} hollow nodes and Tutti on it ...")
    async with (
        running_cluster(settings, _say) as cluster,
        cluster.client() as client,
        running_tutti(cluster, client, _say) as log,
        running_page(cluster, _say) as page,
    ):
        for line in (*hints(cluster), f"the live page: {page}"):
            _say(line)
        screen = open_screen(sys.stdout, plain=arguments.plain)
        view = ClusterView(client, screen)
        stage = Stage(cluster, view, arguments.nodes, manifests)
        try:
            good = await _until_stopped(stop, view, Walkthrough(stage, log))
            screen.show(view.overview(), view.steps)
        finally:
            screen.close()
        _say(summary(view, seconds=time.monotonic() - began))
        if arguments.keep and not stop.is_set():
            await _keep(cluster, page, stop)
    return EXIT_OK if good else EXIT_UNEXPECTED


async def _until_stopped(stop: asyncio.Event, view: ClusterView, walkthrough: Walkthrough) -> bool:
    """Runs the steps with the view following; False when it was stopped before the end."""
    shown = asyncio.create_task(view.run())
    await view.ready()
    finished, stopped = asyncio.create_task(walkthrough.run()), asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({shown, finished, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (shown, finished, stopped):
            task.cancel()
        await asyncio.gather(shown, finished, stopped, return_exceptions=True)
    if shown in done:
        shown.result()
    return finished in done and finished.result()


async def _keep(cluster: Cluster, page: str, stop: asyncio.Event) -> None:
    for line in (*hints(cluster), f"the live page: {page}", "everything goes on running; Ctrl-C ends it"):
        _say(line)
    await stop.wait()


def hints(cluster: Cluster) -> list[str]:
    """Lines to try in another terminal."""
    return [
        f"  export KUBECONFIG={cluster.kubeconfig}",
        "  kubectl get podgroups -o wide -w",
        "  kubectl get jobs,pods -o wide",
        "  kubectl describe job orchestra",
        "  kubectl get events --field-selector reason=FailedScheduling",
    ]


def summary(view: ClusterView, *, seconds: float) -> str:
    """How it went."""
    good = sum(1 for step in view.steps if step.is_good)
    lines = ["", *(f"{step_line(step)} ({step.seconds:.1f} s)" for step in view.steps)]
    return "\n".join([*lines, f"{good} of {len(view.steps)} acts as they should be, {seconds:.0f} s in all"])


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Entry point."""
    arguments = parse_arguments(sys.argv[1:])
    configure_logs("text", "demo", level="error")
    return int(run_process(lambda stop: run(arguments, stop)))
