"""What all acts of the demo have at hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from localcluster.cluster import Cluster
from localcluster.demo.cluster_view import ClusterView
from localcluster.demo.jobs import Manifest
from localcluster.demo.overview import DONE, Overview
from localcluster.demo.screen import Step

SHAPE: Final = "cpu=8,memory=32Gi"
DEVICE_CLASS: Final = "gpu"
DEVICES_PER_NODE: Final = 2
DEVICES: Final = f"{DEVICE_CLASS}={DEVICES_PER_NODE}"
PATIENCE_SECONDS: Final = 30.0
WATCHING_SECONDS: Final = 4.0
"""How long a gang is seen to wait before room is made."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The cluster and what is seen of it; `nodes` is how many it has at the beginning, `manifests` what is created besides."""

    cluster: Cluster
    view: ClusterView
    nodes: int
    manifests: Sequence[Manifest]

    @property
    def most(self) -> int:
        """Pods of a gang that has room for all only once a node has been added."""
        return self.nodes + 1

    @property
    def devices(self) -> int:
        """Accelerators of all nodes at the beginning."""
        return self.nodes * DEVICES_PER_NODE

    async def create(self, step: Step, manifests: list[Manifest]) -> bool:
        """Creates objects; whether none was refused."""
        refused = await self.view.create(manifests)
        step.remark = "; ".join(refused)
        return not refused

    async def until_started(self, step: Step, name: str, size: int, within_seconds: float = PATIENCE_SECONDS) -> bool:
        """Whether so many pods have started in time; the remark says how many have."""
        good = await self.view.until(lambda overview: started(overview, name) >= size, within_seconds)
        step.remark = self.counts(name)
        return good

    async def waits_whole(self, step: Step, name: str, is_refused: Callable[[Overview], bool]) -> bool:
        """Whether it is refused in time and then none of its pods starts; the remark says why it waits, or how many started."""
        good = await self.view.until(is_refused, PATIENCE_SECONDS)
        row = self.view.overview().row(name)
        step.remark = row.reason if row is not None else "it has no PodGroup"
        if not good:
            return False
        started_early = await self.view.until(lambda overview: started(overview, name) > 0, WATCHING_SECONDS)
        if started_early:
            step.remark = f"{self.counts(name)}, although there was no room for all"
        return not started_early

    def counts(self, name: str) -> str:
        """How many of its pods have started, for people."""
        row = self.view.overview().row(name)
        if row is None:
            return f"there is no {name}"
        of = f" of {row.need}" if row.is_gang else ""
        return f"{row.members.started}{of} started" + (f"; {row.reason}" if row.reason else "")


def started(overview: Overview, name: str) -> int:
    """Pods that have a node or had one."""
    row = overview.row(name)
    return row.members.started if row is not None else 0


def running(overview: Overview, name: str) -> frozenset[str]:
    """UIDs of the pods that have a node now."""
    row = overview.row(name)
    return row.running if row is not None else frozenset()


def is_done(overview: Overview, name: str) -> bool:
    """Whether it has come to its end."""
    row = overview.row(name)
    return row is not None and row.state == DONE
