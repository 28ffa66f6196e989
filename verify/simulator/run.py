"""One run: a cluster, what happens to it, then calm until it rests, and what was not kept of what is promised."""

import asyncio
import gc
import hashlib
import logging
from dataclasses import dataclass
from typing import Any, Final

from kube.client.connection import Request
from verify.simulator.actions import AnyAction, Cordon, ForeignPod, Kill, Pause, RemoveNode, Scenario
from verify.simulator.cluster import ALL, SCHEDULER, STAND_INS, Cluster, virtual_outside
from verify.simulator.faults import CALM, STORMY
from verify.simulator.loop import Process, VirtualLoop, run_virtually
from verify.simulator.network import NEVER_SECONDS
from verify.simulator.promises.at_rest import at_rest, waiting_though_there_is_room
from verify.simulator.promises.watchdog import CALM_UNTOLD_SECONDS, UNTOLD_SECONDS, Watchdog

QUIET_SECONDS: Final = 340.0
"""When nobody has written anything for so long, everything is at rest: longer than a resync of the controllers, any pause of a
retry, any deadline and the run of any pod."""

PATIENCE_SECONDS: Final = 3600.0
"""How long it may take until everything is at rest: a Job whose pods fail after 200 s has failed for good after some 2,030 s, with
the pauses of its controller."""

LOOK_SECONDS: Final = 20.0
SELF_CHECK_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run.

    Attributes:
        violations: what was promised and not kept.
        trace: a digest of every request and every line of every watch, with its time.
        steps: requests that were answered and lines that were delivered.
        turns: callbacks of the loop.
        binds: pods that were bound by us.
        starts: gangs that had their minimum bound for the first time.
        evictions: pods that the scheduler deleted, and groups that it asked to leave for another.
        faults: requests and watches that something went wrong with.
        seconds: of virtual time.
    """

    violations: tuple[str, ...]
    trace: str
    steps: int
    turns: int
    binds: int
    starts: int
    evictions: int
    faults: int
    seconds: float


class _Errors(logging.Handler):
    """What the product says is wrong with itself."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text = f"{text}: {type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        self.said.append(f"error of {record.name}: {text}")


def simulate(scenario: Scenario, *, settings: dict[str, Any] | None = None) -> Outcome:
    """Run it from the beginning to its rest."""
    errors = _Errors()
    root = logging.getLogger()
    level, propagated = root.level, list(root.handlers)
    root.handlers = [errors]
    root.setLevel(logging.ERROR)
    was_enabled = gc.isenabled()
    gc.disable()
    # What was there before, modules above all, need not be gone through for what one run leaves.
    gc.freeze()
    try:
        return run_virtually(_run(scenario, errors, settings))
    finally:
        if was_enabled:
            gc.enable()
        gc.collect()
        gc.unfreeze()
        root.handlers = propagated
        root.setLevel(level)


async def _run(scenario: Scenario, errors: _Errors, settings: dict[str, Any] | None) -> Outcome:
    loop = asyncio.get_running_loop()
    unhandled: list[str] = []
    loop.set_exception_handler(lambda _, context: unhandled.append(f"unhandled: {_told(context)}"))
    with virtual_outside(scenario.seed):
        # A watch that has fallen silent makes the cache differ for a while, and rightly so: then only the rest is looked at.
        every_seconds = NEVER_SECONDS if scenario.is_stormy else SELF_CHECK_SECONDS
        run = _Run(scenario, Cluster(scenario.seed, {"self_check_seconds": every_seconds} | (settings or {})))
        begun = loop.time()
        try:
            await run.play()
            await run.rest()
        finally:
            gone = loop.time()
            await run.cluster.end()
    assert isinstance(loop, VirtualLoop)  # noqa: S101
    traffic = run.cluster.network.traffic
    return Outcome(
        violations=tuple(dict.fromkeys((*run.watchdog.violations, *run.found, *errors.said, *unhandled))),
        trace=run.digest.hexdigest(),
        steps=traffic.answered + traffic.lines,
        turns=loop.steps,
        binds=run.watchdog.binds,
        starts=run.watchdog.starts,
        evictions=run.watchdog.evictions,
        faults=traffic.faults,
        seconds=gone - begun,
    )


def _told(context: dict[str, Any]) -> str:
    error = context.get("exception")
    return f"{context.get('message')}: {type(error).__name__}: {error}" if error else str(context.get("message"))


class _Run:
    """One run on its way."""

    def __init__(self, scenario: Scenario, cluster: Cluster) -> None:
        self.scenario = scenario
        self.cluster = cluster
        self.found: list[str] = []
        self.digest = hashlib.blake2b(digest_size=16)
        self._clock = asyncio.get_running_loop().time
        self.watchdog = Watchdog(cluster.server.store, self._clock, _untold_seconds(scenario))
        self._writes: list[str] = []
        self._last_write = 0.0
        cluster.network.traffic.seen += [self._trace, self.watchdog.requested, self._count]
        cluster.network.traffic.heard.append(self._trace_line)

    async def play(self) -> None:
        """Let everything happen."""
        cluster, scenario = self.cluster, self.scenario
        await cluster.furnish()
        if scenario.is_stormy:
            cluster.set_weather(STORMY)
        for action in scenario.actions:
            if action.after:
                await asyncio.sleep(action.after)
            await self._do(action)

    async def _do(self, action: AnyAction) -> None:
        cluster, loop = self.cluster, asyncio.get_running_loop()
        if isinstance(action, Kill):
            if action.process in cluster.running:
                cluster.kill(action.process)
                loop.call_later(action.seconds, cluster.start, action.process)
        elif isinstance(action, Pause):
            running = cluster.running.get(action.process)
            if running is not None:
                running.process.stop()
                loop.call_later(action.seconds, running.process.go_on)
        else:
            await cluster.user.do(action)

    async def rest(self) -> None:
        """Wait until everything is calm, and look at what there is then."""
        cluster = self.cluster
        cluster.set_weather(CALM)
        self._last_write = begun = self._clock()
        while self._clock() - self._last_write < QUIET_SECONDS and self._clock() - begun < PATIENCE_SECONDS:
            self._writes.clear()
            await asyncio.sleep(LOOK_SECONDS)
        self.found += [f"process {failure}" for failure in cluster.failures()]
        self.found += [f"{name} does not run" for name in ALL if name not in cluster.running]
        ours = [write for write in dict.fromkeys(self._writes) if not write.startswith(STAND_INS)]
        self.found += [f"I9: at rest: {write}" for write in ours]
        self.found += self.watchdog.partial_groups()
        self.found += at_rest(cluster.server.store)
        if _takes_no_room_away(self.scenario):
            self.found += self.watchdog.wasted_evictions()
            self.found += self.watchdog.given_up()
        running = cluster.running.get(SCHEDULER)
        scheduler = running.scheduler if running is not None else None
        if scheduler is not None:
            state = scheduler.state
            if not (len(state.nominator) or len(state.reservations) or len(state.future_reservations)):
                self.found += waiting_though_there_is_room(cluster.server.store)
            drift = await scheduler.cache_comparer.check()
            if drift:
                self.found.append(f"I12: the cache is not what a recount says: {drift}")

    # --- what is seen of the traffic ----------------------------------------------------------------------------------

    def _trace(self, process: Process, request: Request, status: int) -> None:
        line = f"{self._clock():.6f} {process.name} {request.method} {request.path} {status} "
        self.digest.update(line.encode())
        self.digest.update(request.data or b"")

    def _trace_line(self, process: Process, line: bytes) -> None:
        self.digest.update(f"{self._clock():.6f} {process.name} ".encode())
        self.digest.update(line)

    def _count(self, process: Process, request: Request, status: int) -> None:
        del status
        if request.method != "GET" and request.plural != "events":
            self._last_write = self._clock()
            self._writes.append(f"{process.name.rpartition('-')[0]} {request.method} {request.path}")


def _untold_seconds(scenario: Scenario) -> float:
    return UNTOLD_SECONDS if scenario.is_stormy else CALM_UNTOLD_SECONDS


def _takes_no_room_away(scenario: Scenario) -> bool:
    """Whether nothing can come between an eviction and the start it was for, nor between the binds of a gang."""
    disturbing = (RemoveNode, Cordon, ForeignPod, Kill, Pause)
    return not scenario.is_stormy and not any(isinstance(each, disturbing) for each in scenario.actions)


def describe(outcome: Outcome) -> str:
    """One line for people."""
    return (
        f"{outcome.seconds:.0f} s, {outcome.steps} steps, {outcome.binds} binds, {outcome.starts} gangs started, "
        f"{outcome.evictions} evictions, {outcome.faults} faults, trace {outcome.trace}"
    )
