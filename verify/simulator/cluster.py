"""A simulated cluster: the server with what `config/` ships, the network, and processes that come, stop and die."""

import asyncio
import contextlib
import functools
import itertools
import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from api.constants import SYSTEM_NAMESPACE, WEBHOOKS_NAME
from install.manifests import Manifest, load
from kube.client.resources import PRIORITY_CLASSES, STORAGE_CLASSES
from kube.outside import Outside, replaced_by
from localcluster.controllers.admission.server import Admission, Answer
from verify.simulator import manifests, processes
from verify.simulator.faults import Chance, Weather
from verify.simulator.loop import START_SECONDS, Process
from verify.simulator.network import Network
from verify.simulator.processes import Running
from verify.simulator.server import Server
from verify.simulator.user import User

EPOCH_SECONDS: Final = 1_767_225_600.0
"""The time of day when a simulation begins: 2026-01-01."""

SCHEDULER: Final = "scheduler"
CONTROLLERS: Final = "controllers"
WEBHOOKS: Final = "webhooks"
STAND_INS: Final = "stand-ins"
ALL: Final = (WEBHOOKS, CONTROLLERS, SCHEDULER, STAND_INS)

STAND_IN_NAMES: Final = ("job", "statefulset", "leaderworkerset", "garbage", "podgc", "serviceaccount", "volume")
"""Those that have something to do here. Nobody deletes namespaces, there are no disruption budgets, and no ordinary pods."""

STAND_IN_HOST: Final = "{}.simulated"
START_WAIT_SECONDS: Final = 3.0


@functools.cache
def shipped() -> tuple[Manifest, ...]:
    """What `config/` ships, in the order in which it can be created."""
    found = [each for area in ("rbac", "crd", "policy", "webhook") for each in load(area)]
    return tuple(sorted(found, key=lambda each: each.resource.plural != "namespaces"))


class Cluster:
    """One simulated cluster. To be made inside the loop.

    Args:
        seed: of everything that is drawn.
        scheduler_settings: of every scheduler that is started.
    """

    def __init__(self, seed: int, scheduler_settings: Mapping[str, Any] | None = None) -> None:
        self._source = random.Random(seed)
        self._settings = dict(scheduler_settings or {})
        self._numbers = itertools.count(1)
        self.server = Server(utc_now_of(asyncio.get_running_loop()), self.new_random())
        self.chance = Chance(self.new_random())
        self.network = Network(self.server, self.chance)
        self.user = User(self.server)
        self.running: dict[str, Running] = {}
        self.former: list[Running] = []
        self._stand_in_hosts: set[str] = set()

    def new_random(self) -> random.Random:
        """A new source of chance, which follows from the seed."""
        return random.Random(self._source.getrandbits(64))

    def set_weather(self, weather: Weather) -> None:
        """From now on the network is like this."""
        self.chance.weather = weather

    async def furnish(self, names: tuple[str, ...] = ALL) -> None:
        """Install Tutti and start these processes."""
        self.server.start()
        for each in shipped():
            reply = await self.user.create(each.resource, each.body, each.namespace)
            if reply.status != 201:
                raise RuntimeError(f"{each.title} was not created: {reply.body.decode()}")
        for body in manifests.classes():
            await self.user.create(PRIORITY_CLASSES, body)
        await self.user.create(STORAGE_CLASSES, manifests.storage_class())
        for name in names:
            self.start(name)
        await asyncio.sleep(START_WAIT_SECONDS)

    def start(self, name: str) -> Running:
        """Start a process."""
        process = Process(f"{name}-{next(self._numbers)}", meets_faults=name != STAND_INS)
        running = self.running[name] = Running(process, self.network)
        works: dict[str, Callable[[Running], Any]] = {
            SCHEDULER: functools.partial(processes.run_scheduler, settings=self._settings),
            CONTROLLERS: processes.run_controllers,
            WEBHOOKS: processes.run_webhooks,
            STAND_INS: functools.partial(processes.run_stand_ins, names=STAND_IN_NAMES, serve=self._serve),
        }
        running.start(works[name])
        return running

    def kill(self, name: str) -> None:
        """Kill a process; nobody takes its place yet."""
        running = self.running.pop(name, None)
        if running is None:
            return
        running.process.kill()
        self.former.append(running)
        if name == WEBHOOKS:
            self.server.webhooks.served.pop(f"{WEBHOOKS_NAME}.{SYSTEM_NAMESPACE}.svc", None)
        if name == STAND_INS:
            for host in self._stand_in_hosts:
                self.server.webhooks.served.pop(host, None)

    async def end(self) -> None:
        """End everything."""
        for each in (*self.running.values(), *self.former):
            each.process.clean_up()
        for each in (*self.running.values(), *self.former):
            await each.end()
        await self.server.end()

    def failures(self) -> Iterator[str]:
        """Which processes ended by themselves, and why."""
        for each in (*self.running.values(), *self.former):
            for failure in each.failures:
                yield f"{each.process.name} ended: {type(failure).__name__}: {failure}"

    @contextlib.asynccontextmanager
    async def _serve(self, name: str, answer: Answer) -> AsyncIterator[Admission]:
        host = STAND_IN_HOST.format(name)
        self._stand_in_hosts.add(host)
        self.server.webhooks.served[host] = processes.review_by(answer)
        yield Admission(f"https://{host}", b"")


def utc_now_of(loop: asyncio.AbstractEventLoop) -> Callable[[], datetime]:
    """The time of day by the time of the loop."""
    return lambda: datetime.fromtimestamp(epoch_of(loop), UTC)


def epoch_of(loop: asyncio.AbstractEventLoop) -> float:
    """Seconds since 1970 by the time of the loop."""
    return EPOCH_SECONDS + loop.time() - START_SECONDS


@contextlib.contextmanager
def virtual_outside(seed: int) -> Iterator[None]:
    """Time is that of the running loop, and chance follows from the seed, for all code in the block."""
    loop = asyncio.get_running_loop()
    source = random.Random(seed ^ 0x5EED)
    outside = Outside(
        monotonic_seconds=loop.time,
        epoch_seconds=lambda: epoch_of(loop),
        new_random=lambda: random.Random(source.getrandbits(64)),
    )
    with replaced_by(outside):
        yield
