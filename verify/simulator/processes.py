"""The processes of a simulated cluster: the product's parts, wired as `tutti scheduler`, `controllers` and `webhooks` wire them.

Left out of each is only what stands around its work: lease, health server, kopf's frame, TLS and certificates. The stand-ins for
the stock controllers and the hollow kubelet are those of `localcluster`, all in one process.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import orjson
from prometheus_client import CollectorRegistry

from api.constants import CONTROLLERS_NAME, SCHEDULER_NAME, SYSTEM_NAMESPACE, WEBHOOKS_NAME
from api.meta import Metadata
from api.names import new_token
from api.priorityclass import PriorityClass
from controllers.metrics import Metrics as ControllersMetrics
from controllers.operator import Operator
from controllers.settings import ControllersSettings
from explain.advice import Advice
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Informer
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import NAMESPACES, PODS, PRIORITY_CLASSES
from kube.groups.group_api import OWN
from kube.outside import epoch_seconds, monotonic_seconds, new_random
from localcluster.apiserver.auth import service_account_user
from localcluster.apiserver.kinds.kind import User
from localcluster.controllers.admission.server import Answer, Serve
from localcluster.controllers.main import stand_ins
from localcluster.controllers.settings import StandInSettings
from providers.selection import standard_providers
from scheduler.reporting.metrics import SchedulerMetrics
from scheduler.settings import SchedulerSettings
from scheduler.shared_parts import Surroundings
from scheduler.wiring import Scheduler, build_scheduler
from verify.simulator.loop import Process, State, context_of
from verify.simulator.network import Network
from verify.simulator.server import MASTER, Review
from webhooks.admission.config import AdmissionConfig
from webhooks.admission.gang_defaults import NO_ANNOTATIONS, Namespace
from webhooks.admission.review import Malformed, Response, read_review, write_review
from webhooks.server.routes import Route, routes

STAND_INS: Final = "stand-ins"
GOODBYE_SECONDS: Final = 5.0

Start = Callable[["Running"], Awaitable[None]]


@dataclass
class Running:
    """One process that was started.

    Attributes:
        process: who it is to the loop.
        network: how it reaches the server.
        work: everything it does.
        scheduler: its parts, when it is one.
        failures: what ended it, which only a defect does.
    """

    process: Process
    network: Network
    work: asyncio.Task[None] | None = None
    scheduler: Scheduler | None = None
    failures: list[BaseException] = field(default_factory=list)

    def client(self, user: User) -> Client:
        """A client of this process."""
        return self.network.client(self.process, user)

    def start(self, work: Start) -> None:
        """Begin to work."""
        loop = asyncio.get_running_loop()
        self.work = loop.create_task(self._guarded(work), context=context_of(self.process))

    async def _guarded(self, work: Start) -> None:
        try:
            await work(self)
        except Exception as error:  # noqa: BLE001 (the end of a process is something that is checked)
            self.failures.append(root_of(error))

    async def end(self) -> None:
        """Clean up after the simulation; nothing of it reaches the server any more."""
        if self.work is not None:
            self.work.cancel()
            await asyncio.wait([self.work])


async def run_scheduler(running: Running, settings: Mapping[str, Any]) -> None:
    """`tutti scheduler`, from the moment when it has its lease."""
    client = running.client(account(SCHEDULER_NAME))
    values = {"identity": running.process.name, **settings}
    given = Surroundings(
        reader=client,
        writer=client,
        group_api=OWN,
        settings=SchedulerSettings(**values),
        metrics=SchedulerMetrics(CollectorRegistry()),
        may_write=lambda: not running.process.is_cut_off,
        clock=monotonic_seconds,
        epoch=epoch_seconds,
        jitter=new_random(),
        server_version="simulated",
        find_hint=Advice,
    )
    scheduler = running.scheduler = build_scheduler(given)
    async with asyncio.TaskGroup() as group:
        for informer in scheduler.informers.early:
            group.create_task(informer.run())
        for work in (scheduler.informers.pods, scheduler.recorder, scheduler.cache_comparer):
            group.create_task(work.run())
        for informer in scheduler.informers.all:
            await informer.synced.wait()
        group.create_task(scheduler.loop.run())


async def run_controllers(running: Running) -> None:
    """`tutti controllers`, from the moment when it has its lease."""
    operator = Operator(
        running.client(account(CONTROLLERS_NAME)),
        OWN,
        ControllersSettings(identity=running.process.name),
        metrics=ControllersMetrics(CollectorRegistry()),
        random=new_random(),
    )
    await operator.run()


async def run_stand_ins(running: Running, names: Iterable[str], serve: Serve) -> None:
    """The stock controllers and the kubelets of all nodes."""
    settings = StandInSettings(tuple(names), backoff_seconds=10.0, kubelet=True)
    async with asyncio.TaskGroup() as group:
        for work in stand_ins(running.client(MASTER), settings, serve=serve):
            group.create_task(work())


async def run_webhooks(running: Running) -> None:
    """`tutti webhooks`: the informers that its answers need, and the answers."""
    client = running.client(account(WEBHOOKS_NAME))
    classes = Informer(client, PRIORITY_CLASSES, ListDecoder(PriorityClass))
    namespaces = Informer(client, NAMESPACES, ListDecoder(Namespace))
    served = _served(client, classes, namespaces, new_random())

    async def answer(path: str, body: bytes) -> bytes:
        return await _reviewed(running.process, served, path, body)

    async with asyncio.TaskGroup() as group:
        group.create_task(classes.run())
        group.create_task(namespaces.run())
        await classes.synced.wait()
        running.network.server.webhooks.served[f"{WEBHOOKS_NAME}.{SYSTEM_NAMESPACE}.svc"] = answer


async def _reviewed(process: Process, served: Mapping[str, Route], path: str, body: bytes) -> bytes:
    if process.state is not State.RUNS:
        await asyncio.Event().wait()
    question = read_review(body)
    route = served.get(path)
    if route is None:
        raise Malformed(f"nothing is served at {path}")
    response = route(question)
    if not isinstance(response, Response):
        response = await response
    return write_review(question.uid, response)


def _served(
    client: Client, classes: Informer[PriorityClass], namespaces: Informer[Namespace], source: random.Random
) -> Mapping[str, Route]:
    def annotations(name: str) -> Mapping[str, str]:
        found = namespaces.store.get("", name)
        return (found.metadata.annotations if found is not None else None) or NO_ANNOTATIONS

    async def read_pod(namespace: str, name: str) -> Metadata | None:
        try:
            found = await client.get(PODS, name, namespace, timeout_seconds=1.5)
        except KubeError:
            return None
        return msgspec.convert(found.get("metadata") or {}, Metadata)

    config = AdmissionConfig(
        providers=standard_providers(built_in_groups=OWN.keeps_pod_field),
        namespace=annotations,
        classes=lambda: classes.store.all() if classes.synced.is_set() else None,
    )
    return routes(config, group_api=OWN, read_pod=read_pod, new_token=lambda: new_token(source.getrandbits(64)))


def root_of(error: BaseException) -> BaseException:
    """The first error of a group of errors, or the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def review_by(answer: Answer) -> Review:
    """The webhooks of a stand-in."""

    async def reviewed(path: str, body: bytes) -> bytes:
        found = answer(path, orjson.loads(body))
        return orjson.dumps(found if isinstance(found, dict) else await found)

    return reviewed


def account(name: str) -> User:
    """The service account of a process of ours."""
    return service_account_user(SYSTEM_NAMESPACE, name)
