"""The demo's steps, one after the other: each does something, waits for what must come of it, and says how it went."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localcluster.cluster import NODE_PREFIX, Cluster
from localcluster.demo.cluster_view import ClusterView
from localcluster.demo.jobs import (
    FITS,
    ORDINARY,
    WAITS,
    Manifest,
    fitting_gang,
    ordinary_job,
    waiting_gang,
)
from localcluster.demo.overview import DONE, Overview
from localcluster.demo.overview import WAITS as WAITING
from localcluster.demo.screen import Step

FITTING_SIZE: Final = 4
SHAPE: Final = "cpu=8,memory=32Gi"
PATIENCE_SECONDS: Final = 20.0
WATCHING_SECONDS: Final = 4.0
"""How long a gang is seen to wait before room is made."""

SAMPLES: Final = Path(__file__).resolve().parents[2] / "config" / "samples"


@dataclass(slots=True)
class Walkthrough:
    """The steps of the demo. `nodes` is how many the cluster has at the beginning, `manifests` what is created besides."""

    cluster: Cluster
    view: ClusterView
    nodes: int
    manifests: Sequence[Manifest]

    async def run(self) -> bool:
        """Runs all steps; whether all went as they should."""
        for title, step in (
            (f"a gang of {FITTING_SIZE} that fits starts whole", self._fits),
            ("an ordinary Job, no gang, starts beside it pod by pod", self._ordinary),
            ("the samples are admitted", self._samples),
            ("a gang without room for all waits whole, and says why", self._waits),
            ("a node is added: the gang starts whole", self._room),
            ("all of them run to their end", self._ends),
        ):
            await self._step(title, step)
        return all(step.is_good for step in self.view.steps)

    async def _step(self, title: str, work: Callable[[Step], Awaitable[bool]]) -> None:
        step = Step(title)
        self.view.steps.append(step)
        began = time.monotonic()
        step.is_good = await work(step)
        step.seconds = time.monotonic() - began

    async def _fits(self, step: Step) -> bool:
        if not await self._create(step, [fitting_gang(FITTING_SIZE)]):
            return False
        good = await self.view.until(lambda overview: _started(overview, FITS) >= FITTING_SIZE, PATIENCE_SECONDS)
        step.remark = self._counts(FITS)
        return good

    async def _ordinary(self, step: Step) -> bool:
        if not await self._create(step, [ordinary_job()]):
            return False
        good = await self.view.until(lambda overview: _started(overview, ORDINARY) > 0, PATIENCE_SECONDS)
        step.remark = self._counts(ORDINARY)
        return good

    async def _samples(self, step: Step) -> bool:
        refused = await self.view.create(self.manifests)
        step.remark = "; ".join(refused) or f"{len(self.manifests)} objects"
        return not refused

    async def _waits(self, step: Step) -> bool:
        if not await self._create(step, [waiting_gang(self.nodes + 1)]):
            return False
        good = await self.view.until(_says_why, PATIENCE_SECONDS)
        row = self.view.overview().row(WAITS)
        step.remark = row.reason if row is not None else "it has no PodGroup"
        if not good:
            return False
        started_early = await self.view.until(lambda overview: _started(overview, WAITS) > 0, WATCHING_SECONDS)
        if started_early:
            step.remark = f"{self._counts(WAITS)}, although there was no room for all"
        return not started_early

    async def _room(self, step: Step) -> bool:
        await self.cluster.add_nodes([f"{NODE_PREFIX}-{self.nodes}"], SHAPE)
        size = self.nodes + 1
        good = await self.view.until(lambda overview: _started(overview, WAITS) >= size, PATIENCE_SECONDS)
        step.remark = self._counts(WAITS)
        return good

    async def _ends(self, step: Step) -> bool:
        jobs = (FITS, ORDINARY, WAITS)
        good = await self.view.until(lambda overview: all(_is_done(overview, name) for name in jobs), PATIENCE_SECONDS)
        left = [name for name in jobs if not _is_done(self.view.overview(), name)]
        step.remark = f"still there: {', '.join(left)}" if left else f"{', '.join(jobs)} are complete"
        return good

    async def _create(self, step: Step, manifests: list[Manifest]) -> bool:
        refused = await self.view.create(manifests)
        step.remark = "; ".join(refused)
        return not refused

    def _counts(self, name: str) -> str:
        row = self.view.overview().row(name)
        if row is None:
            return f"there is no {name}"
        of = f" of {row.need}" if row.is_gang else ""
        return f"{row.members.started}{of} started" + (f"; {row.reason}" if row.reason else "")


def _started(overview: Overview, name: str) -> int:
    row = overview.row(name)
    return row.members.started if row is not None else 0


def _is_done(overview: Overview, name: str) -> bool:
    row = overview.row(name)
    return row is not None and row.state == DONE


def _says_why(overview: Overview) -> bool:
    row = overview.row(WAITS)
    return row is not None and row.state == WAITING and "nodes" in row.reason
