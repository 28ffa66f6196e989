"""The demo's acts, one after the other: each does something, waits for what must come of it, and says how it went."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localcluster.cluster import NODE_PREFIX, Cluster
from localcluster.demo.cast import (
    FITS,
    ORDINARY,
    WAITS,
    Manifest,
    fitting_gang,
    ordinary_job,
    waiting_gang,
)
from localcluster.demo.scene import DONE, Scene
from localcluster.demo.scene import WAITS as WAITING
from localcluster.demo.screen import Act
from localcluster.demo.stage import Stage

FITTING_SIZE: Final = 4
SHAPE: Final = "cpu=8,memory=32Gi"
PATIENCE_SECONDS: Final = 20.0
WATCHING_SECONDS: Final = 4.0
"""How long a gang is seen to wait before room is made."""

SAMPLES: Final = Path(__file__).resolve().parents[2] / "config" / "samples"


@dataclass(slots=True)
class Walk:
    """The acts on one stage. `nodes` is how many the cluster has at the beginning, `manifests` what is played besides."""

    cluster: Cluster
    stage: Stage
    nodes: int
    manifests: Sequence[Manifest]

    async def play(self) -> bool:
        """Plays all acts; whether all went as they should."""
        for title, act in (
            (f"a gang of {FITTING_SIZE} that fits starts whole", self._fits),
            ("an ordinary Job, no gang, starts beside it pod by pod", self._ordinary),
            ("the samples are admitted", self._samples),
            ("a gang without room for all waits whole, and says why", self._waits),
            ("a node is added: the gang starts whole", self._room),
            ("all of them run to their end", self._ends),
        ):
            await self._act(title, act)
        return all(act.is_good for act in self.stage.acts)

    async def _act(self, title: str, work: Callable[[Act], Awaitable[bool]]) -> None:
        act = Act(title)
        self.stage.acts.append(act)
        began = time.monotonic()
        act.is_good = await work(act)
        act.seconds = time.monotonic() - began

    async def _fits(self, act: Act) -> bool:
        if not await self._create(act, [fitting_gang(FITTING_SIZE)]):
            return False
        good = await self.stage.until(lambda scene: _started(scene, FITS) >= FITTING_SIZE, PATIENCE_SECONDS)
        act.remark = self._counts(FITS)
        return good

    async def _ordinary(self, act: Act) -> bool:
        if not await self._create(act, [ordinary_job()]):
            return False
        good = await self.stage.until(lambda scene: _started(scene, ORDINARY) > 0, PATIENCE_SECONDS)
        act.remark = self._counts(ORDINARY)
        return good

    async def _samples(self, act: Act) -> bool:
        refused = await self.stage.create(self.manifests)
        act.remark = "; ".join(refused) or f"{len(self.manifests)} objects"
        return not refused

    async def _waits(self, act: Act) -> bool:
        if not await self._create(act, [waiting_gang(self.nodes + 1)]):
            return False
        good = await self.stage.until(_says_why, PATIENCE_SECONDS)
        row = self.stage.scene().row(WAITS)
        act.remark = row.reason if row is not None else "it has no PodGroup"
        if not good:
            return False
        started_early = await self.stage.until(lambda scene: _started(scene, WAITS) > 0, WATCHING_SECONDS)
        if started_early:
            act.remark = f"{self._counts(WAITS)}, although there was no room for all"
        return not started_early

    async def _room(self, act: Act) -> bool:
        await self.cluster.add_nodes([f"{NODE_PREFIX}-{self.nodes}"], SHAPE)
        size = self.nodes + 1
        good = await self.stage.until(lambda scene: _started(scene, WAITS) >= size, PATIENCE_SECONDS)
        act.remark = self._counts(WAITS)
        return good

    async def _ends(self, act: Act) -> bool:
        jobs = (FITS, ORDINARY, WAITS)
        good = await self.stage.until(lambda scene: all(_is_done(scene, name) for name in jobs), PATIENCE_SECONDS)
        left = [name for name in jobs if not _is_done(self.stage.scene(), name)]
        act.remark = f"still there: {', '.join(left)}" if left else f"{', '.join(jobs)} are complete"
        return good

    async def _create(self, act: Act, manifests: list[Manifest]) -> bool:
        refused = await self.stage.create(manifests)
        act.remark = "; ".join(refused)
        return not refused

    def _counts(self, name: str) -> str:
        row = self.stage.scene().row(name)
        if row is None:
            return f"there is no {name}"
        of = f" of {row.need}" if row.is_gang else ""
        return f"{row.members.started}{of} started" + (f"; {row.reason}" if row.reason else "")


def _started(scene: Scene, name: str) -> int:
    row = scene.row(name)
    return row.members.started if row is not None else 0


def _is_done(scene: Scene, name: str) -> bool:
    row = scene.row(name)
    return row is not None and row.state == DONE


def _says_why(scene: Scene) -> bool:
    row = scene.row(WAITS)
    return row is not None and row.state == WAITING and "nodes" in row.reason
