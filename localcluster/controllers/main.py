"""The stand-ins in one process: `python -m localcluster.controllers --kubeconfig FILE`.

They share one connection pool. Each is an independent task; when one breaks, the process ends, because whoever started it
starts it again from a clean list.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.events import EventRecorder
from kube.outside import monotonic_seconds, new_random, utc_now
from kube.process.logs import configure_logs
from kube.process.run import EXIT_OK, preflight, run_process
from localcluster.controllers.accounts import AccountController
from localcluster.controllers.admission.server import Serve, serving
from localcluster.controllers.disruption.controller import DisruptionController
from localcluster.controllers.garbage.collector import GarbageCollector
from localcluster.controllers.jobs.controller import JobController
from localcluster.controllers.jobsets.controller import JobSetController
from localcluster.controllers.leaderworkersets.controller import LeaderWorkerSetController
from localcluster.controllers.namespaces import NamespaceController
from localcluster.controllers.placing.placer import Placer
from localcluster.controllers.podgc import PodGCController
from localcluster.controllers.resourceclaims.controller import ResourceClaimController
from localcluster.controllers.settings import StandInSettings, parse_names
from localcluster.controllers.statefulsets.controller import StatefulSetController
from localcluster.controllers.volumes.controller import VolumeController
from localcluster.kubelet import Kubelet

CONNECTIONS: Final = 128
"""Most of them are watches of the garbage collector, one per kind."""

SERVER_SECONDS: Final = 10.0
"""How long an API server that is down may take to come up, as the stock controller manager allows it."""

INSTANCE: Final = "tutti-local"


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m localcluster.controllers", description="Stand-ins for the stock controllers."
    )
    parser.add_argument("--kubeconfig", metavar="FILE", help="cluster and user; default: $KUBECONFIG, ~/.kube/config")
    parser.add_argument("--only", metavar="NAMES", default="*", help="which of them, comma-separated (default: all)")
    parser.add_argument("--backoff-seconds", type=float, default=10.0, help="a Job's wait after its first failed pod")
    parser.add_argument("--kubelet", action="store_true", help="run the pods of hollow nodes as well")
    return parser.parse_args(arguments)


async def run(client: Client, settings: StandInSettings, stop: asyncio.Event) -> int:
    """Runs the stand-ins until `stop` is set; their failure, which nothing else would notice, is raised."""
    await preflight(client, patience_seconds=SERVER_SECONDS)
    works = [asyncio.create_task(work()) for work in stand_ins(client, settings)]
    stopped = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait([*works, stopped], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (*works, stopped):
            task.cancel()
        await asyncio.gather(*works, stopped, return_exceptions=True)
    for task in done:
        task.result()
    return EXIT_OK


def stand_ins(
    client: Client, settings: StandInSettings, *, serve: Serve = serving
) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    """What is to run, as asked for; `serve`: how their webhooks are served."""
    random, clock = new_random(), monotonic_seconds

    def recorder(component: str) -> EventRecorder:
        made = EventRecorder(client, component=component, instance=INSTANCE)
        works.append(made.run)
        return made

    works: list[Callable[[], Coroutine[Any, Any, None]]] = []
    makers: dict[str, Callable[[], Callable[[], Coroutine[Any, Any, None]]]] = {
        "job": lambda: (
            JobController(
                client,
                recorder("job-controller"),
                now=utc_now,
                clock=clock,
                random=random,
                backoff_seconds=settings.backoff_seconds,
            ).run
        ),
        "disruption": lambda: DisruptionController(client, now=utc_now, clock=clock, random=random).run,
        "garbage": lambda: GarbageCollector(client, clock=clock, random=random).run,
        "namespace": lambda: NamespaceController(client, now=utc_now, clock=clock, random=random).run,
        "podgc": lambda: PodGCController(client, now=utc_now, clock=clock, random=random).run,
        "statefulset": lambda: (
            StatefulSetController(
                client, recorder("statefulset-controller"), now=utc_now, clock=clock, random=random
            ).run
        ),
        "leaderworkerset": lambda: (
            LeaderWorkerSetController(
                client, recorder("leaderworkerset-controller"), now=utc_now, clock=clock, random=random, serve=serve
            ).run
        ),
        "jobset": lambda: (
            JobSetController(
                client, recorder("jobset-controller"), now=utc_now, clock=clock, random=random, serve=serve
            ).run
        ),
        "serviceaccount": lambda: AccountController(client, clock=clock, random=random).run,
        "resourceclaim": lambda: (
            ResourceClaimController(client, recorder("resourceclaim-controller"), clock=clock, random=random).run
        ),
        "volume": lambda: VolumeController(client, clock=clock, random=random).run,
        "scheduler": lambda: Placer(client, recorder("default-scheduler"), now=utc_now, clock=clock, random=random).run,
    }
    works += [makers[name]() for name in settings.names]
    if settings.kubelet:
        works.append(Kubelet(client).run)
    return works


def main() -> int:
    """Entry point."""
    arguments = parse_arguments(sys.argv[1:])
    configure_logs("text", "stand-ins")
    settings = StandInSettings(parse_names(arguments.only), arguments.backoff_seconds, arguments.kubelet)

    async def work(stop: asyncio.Event) -> int:
        credentials = load_credentials(arguments.kubeconfig)
        async with Client(credentials, user_agent="tutti-stand-ins", max_connections=CONNECTIONS) as client:
            return await run(client, settings, stop)

    return int(run_process(work))
