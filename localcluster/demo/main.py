"""`make demo`: a cluster, Tutti on it, six acts, and a summary. Exit code 0 when every act went as it should."""

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
from localcluster.demo.cast import load_manifests
from localcluster.demo.screen import act_line, open_screen
from localcluster.demo.stage import Stage
from localcluster.demo.troupe import running_tutti
from localcluster.demo.walk import SAMPLES, SHAPE, Walk

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


async def play(arguments: argparse.Namespace, stop: asyncio.Event) -> int:
    """Plays the demo, or as much of it as there is until `stop` is set; the exit code."""
    began = time.monotonic()
    settings = ClusterSettings(nodes=arguments.nodes, shape=SHAPE)
    manifests = [*load_manifests(SAMPLES), *(each for folder in arguments.manifests for each in load_manifests(folder))]
    _say(f"starting a cluster of {arguments.nodes} hollow nodes and Tutti on it ...")
    async with (
        running_cluster(settings, _say) as cluster,
        cluster.client() as client,
        running_tutti(cluster, client, _say),
    ):
        for line in hints(cluster):
            _say(line)
        screen = open_screen(sys.stdout, plain=arguments.plain)
        stage = Stage(client, screen)
        try:
            good = await _until_stopped(stop, stage, Walk(cluster, stage, arguments.nodes, manifests))
            screen.show(stage.scene(), stage.acts)
        finally:
            screen.close()
        _say(summary(stage, seconds=time.monotonic() - began))
        if arguments.keep and not stop.is_set():
            await _keep(cluster, stop)
    return EXIT_OK if good else EXIT_UNEXPECTED


async def _until_stopped(stop: asyncio.Event, stage: Stage, walk: Walk) -> bool:
    """Plays the acts with the stage running; False when it was stopped before the end."""
    shown = asyncio.create_task(stage.run())
    await stage.ready()
    played, stopped = asyncio.create_task(walk.play()), asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({shown, played, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (shown, played, stopped):
            task.cancel()
        await asyncio.gather(shown, played, stopped, return_exceptions=True)
    if shown in done:
        shown.result()
    return played in done and played.result()


async def _keep(cluster: Cluster, stop: asyncio.Event) -> None:
    for line in (*hints(cluster), "everything goes on running; Ctrl-C ends it"):
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


def summary(stage: Stage, *, seconds: float) -> str:
    """How it went."""
    good = sum(1 for act in stage.acts if act.is_good)
    lines = ["", *(f"{act_line(act)} ({act.seconds:.1f} s)" for act in stage.acts)]
    return "\n".join([*lines, f"{good} of {len(stage.acts)} acts as they should be, {seconds:.0f} s in all"])


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Entry point."""
    arguments = parse_arguments(sys.argv[1:])
    configure_logs("text", "demo", level="error")
    return int(run_process(lambda stop: play(arguments, stop)))
