"""The demo's steps, one after the other: each does something, waits for what must come of it, and says how it went."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from localcluster.demo import device_acts, first_acts, jobset_acts, later_acts
from localcluster.demo.screen import Step
from localcluster.demo.stage import Stage

SAMPLES: Final = Path(__file__).resolve().parents[2] / "config" / "samples"

MOST_LINES: Final = 100

Act = Callable[[Stage, Step], Awaitable[bool]]

ACTS: Final[tuple[tuple[str, Act], ...]] = (
    (f"a gang of {first_acts.FITTING_SIZE} that fits starts whole", first_acts.fits),
    ("an ordinary Job, no gang, starts beside it pod by pod", first_acts.ordinary),
    ("a gang of accelerators waits whole until another one gives its devices back", device_acts.accelerated),
    ("the samples are admitted", first_acts.samples),
    (f"a LeaderWorkerSet's replica of {first_acts.REPLICA_SIZE} starts whole", first_acts.replica),
    ("a gang without room for all waits whole, and says why", first_acts.waits),
    ("`tutti why` knows what would help it", first_acts.explains),
    ("a node is added: the gang starts whole", first_acts.room),
    ("a more important gang comes: the whole gang leaves for it", later_acts.preempts),
    ("the scheduler is killed: nothing is lost, a gang that came meanwhile starts", later_acts.survives),
    ("the gang that had to leave comes back by itself, whole", later_acts.comes_back),
    ("all of them run to their end", later_acts.ends),
    ("a JobSet that starts as a whole waits whole", jobset_acts.waits),
    ("`kubectl gang tree` shows what it consists of", jobset_acts.shown),
    ("a node is added: the JobSet starts whole, all its Jobs together", jobset_acts.starts),
)


class Walkthrough:
    """The steps of the demo. After one that did not go as it should it shows what Tutti's processes said meanwhile."""

    def __init__(self, stage: Stage, log: Path) -> None:
        """`log` is what Tutti's processes write."""
        self._stage = stage
        self._log = log

    async def run(self) -> bool:
        """Runs all steps; whether all went as they should."""
        for title, act in ACTS:
            await self._step(title, act)
        return all(step.is_good for step in self._stage.view.steps)

    async def _step(self, title: str, act: Act) -> None:
        step = Step(title)
        self._stage.view.steps.append(step)
        began, written = time.monotonic(), self._log.stat().st_size
        step.is_good = await act(self._stage, step)
        step.seconds = time.monotonic() - began
        if not step.is_good:
            said = self._log.read_bytes()[written:].decode(errors="replace").splitlines()
            self._stage.view.say(["what Tutti said meanwhile:", *(f"    {line}" for line in said[-MOST_LINES:])])
