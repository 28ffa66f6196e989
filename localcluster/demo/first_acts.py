"""The demo's first acts: gangs start whole or wait whole, whatever made them."""

from typing import Final

from localcluster.cluster import NODE_PREFIX
from localcluster.demo.jobs import (
    FITS,
    ORDINARY,
    REPLICATED,
    WAITS,
    fitting_gang,
    ordinary_job,
    replicated_set,
    waiting_gang,
)
from localcluster.demo.overview import WAITS as WAITING
from localcluster.demo.overview import Overview
from localcluster.demo.questions import NOT_STARTED, why
from localcluster.demo.screen import Step
from localcluster.demo.stage import SHAPE, Stage

FITTING_SIZE: Final = 4
REPLICA_SIZE: Final = 3


async def fits(stage: Stage, step: Step) -> bool:
    """A gang with room for all."""
    if not await stage.create(step, [fitting_gang(FITTING_SIZE)]):
        return False
    return await stage.until_started(step, FITS, FITTING_SIZE)


async def ordinary(stage: Stage, step: Step) -> bool:
    """A Job that is no gang."""
    return await stage.create(step, [ordinary_job()]) and await stage.until_started(step, ORDINARY, 1)


async def samples(stage: Stage, step: Step) -> bool:
    """Whatever else was asked for is created."""
    refused = await stage.view.create(stage.manifests)
    step.remark = "; ".join(refused) or f"{len(stage.manifests)} objects"
    return not refused


async def replica(stage: Stage, step: Step) -> bool:
    """Leader and workers of a replica together."""
    if not await stage.create(step, [replicated_set(REPLICA_SIZE)]):
        return False
    return await stage.until_started(step, REPLICATED, REPLICA_SIZE)


async def waits(stage: Stage, step: Step) -> bool:
    """A gang that has room for all but one of its pods: none starts."""
    if not await stage.create(step, [waiting_gang(stage.most)]):
        return False
    return await stage.waits_whole(step, WAITS, _says_why)


async def explains(stage: Stage, step: Step) -> bool:
    """`tutti why` says what would help, having tried it on a copy of the cluster."""
    told = await why(stage.cluster, f"job/{WAITS}")
    step.remark = told.hint or told.complaint or "it knows nothing that would help"
    return told.code in NOT_STARTED and bool(told.hint)


async def room(stage: Stage, step: Step) -> bool:
    """One more node, and all of them start."""
    await stage.cluster.add_nodes([f"{NODE_PREFIX}-{stage.nodes}"], SHAPE)
    return await stage.until_started(step, WAITS, stage.most)


def _says_why(overview: Overview) -> bool:
    row = overview.row(WAITS)
    return row is not None and row.state == WAITING and "nodes" in row.reason
