"""A whole scheduler at work: what can be fetched from it decides as it has decided, without its input and output."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scheduler.recording.file import Recording, read, write_parts
from scheduler.recording.outcome import DecisionOutcome
from scheduler.recording.replay import Repeated, decide_queue, repeat
from scheduler.wiring import Scheduler
from tests.placement.case import HOSTNAME, apart, selector, spread, term
from tests.placement.storage import claim, mounts, storage_class, volume
from tests.scheduler.shell.preemption import Arena
from tests.scheduler.shell.virtual_time import run_virtually

ZONE = "topology.kubernetes.io/zone"
DECISIONS = 1000


def fetched(parts: Iterator[bytes] | None, folder: Path) -> Recording:
    assert parts is not None
    file = folder / "recording"
    write_parts(file, parts)
    return read(file)


class BusyArena(Arena):
    """A cluster in which gangs, single pods and more important ones come and go."""

    def __init__(self, seed: int, clock: Any) -> None:
        super().__init__(clock=clock)
        self.random = random.Random(seed)
        self.count = 0

    def furnish(self) -> None:
        for number in range(6):
            self.node(f"n{number}", 4, **{ZONE: f"z{number % 3}", HOSTNAME: f"n{number}"})
        self.api.put("storageclasses", stored(storage_class("sc")))
        for number in range(6):
            self.api.put("persistentvolumes", stored(volume(f"pv{number}", storage_class="sc")))

    def something_happens(self) -> None:
        self.count += 1
        name, priority = f"x{self.count}", self.random.choice((10, 10, 50, 100))
        rules = self.random.choice(
            ({}, {}, apart(term(selector(app="a"), HOSTNAME)), spread({"topologyKey": ZONE, "maxSkew": 1,
             "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector(app="a")}))
        )  # fmt: skip
        match self.random.randrange(5):
            case 0 | 1:
                size = self.random.randint(2, 5)
                constraints = {"schedulingConstraints": {"topology": [{"key": ZONE}]}}
                more: dict[str, Any] = constraints if self.random.random() < 0.3 else {}
                self.group(name, size, priority, disruptionMode={"all": {}}, **more)
                for index in range(size):
                    self.pod(f"{name}-{index}", priority=priority, group=name, labels={"app": "a"}, spec=rules)
            case 2:
                self.pod(name, 2, priority=priority, labels={"app": "a"}, spec=rules)
            case 3:
                self.api.put("persistentvolumeclaims", stored(claim(f"{name}-c", storage_class="sc"), "ns"))
                self.pod(name, priority=priority, spec=mounts(f"{name}-c"))
            case _:
                pods = self.api.names("pods")
                for pod in self.random.sample(pods, min(len(pods), 3)):
                    self.api.remove("pods", "ns", pod)


def stored(manifest: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {**manifest["metadata"], **({"namespace": namespace} if namespace else {})}
    return {**manifest, "metadata": metadata}


def lived(seed: int, decisions: int, folder: Path) -> tuple[Recording, Recording]:
    """The recorded decisions of a run, and the inputs at its end."""

    async def life() -> tuple[Recording, Recording]:
        import asyncio

        loop = asyncio.get_running_loop()
        arena = BusyArena(seed, loop.time)
        arena.furnish()
        async with arena.scheduler(record_decisions=decisions) as scheduler:
            await until_decided(arena, scheduler, decisions)
            return (
                fetched(scheduler.recordings.decisions(), folder),
                fetched(scheduler.recordings.inputs(), folder),
            )

    async def until_decided(arena: BusyArena, scheduler: Scheduler, decisions: int) -> None:
        import asyncio

        while arena.metrics.attempts < decisions:
            arena.something_happens()
            await asyncio.sleep(arena.random.choice((0.01, 0.05, 0.3)))

    return run_virtually(life())


def test_a_thousand_decisions_of_a_busy_run_are_repeated_identically(tmp_path: Path) -> None:
    recording, _ = lived(1, DECISIONS, tmp_path)
    found = list(repeat(recording.inputs, recording.steps))
    decisions = [one for one in found if isinstance(one.was, DecisionOutcome)]
    assert len(decisions) >= DECISIONS
    assert [one for one in found if not one.is_same] == []
    assert any(one.was.volumes for one in decisions if isinstance(one.was, DecisionOutcome))
    assert any(_evicts(one) for one in found)


def _evicts(one: Repeated) -> bool:
    return getattr(one.was, "candidate", None) is not None


def test_a_snapshot_of_a_scheduler_at_work_is_decided_on(tmp_path: Path) -> None:
    _, recording = lived(2, 60, tmp_path)
    assert recording.inputs.scheduler is not None
    answers = decide_queue(recording.inputs)
    assert decide_queue(recording.inputs) == answers
