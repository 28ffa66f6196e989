"""The demo's acts with a JobSet of which all Jobs start together: it waits whole, and starts whole."""

from typing import Final

from localcluster.cluster import NODE_PREFIX
from localcluster.demo.jobs import WHOLE, whole_job_set
from localcluster.demo.overview import WAITS, Overview
from localcluster.demo.questions import tree
from localcluster.demo.screen import Step
from localcluster.demo.stage import SHAPE, Stage

CONDUCTOR: Final = 1


def _players(stage: Stage) -> int:
    """One more than there are nodes by now: one was added before."""
    return stage.nodes + 2


async def waits(stage: Stage, step: Step) -> bool:
    """There is room for all its pods but one: none starts, of neither Job."""
    if not await stage.create(step, [whole_job_set(_players(stage))]):
        return False
    return await stage.waits_whole(step, WHOLE, _is_refused)


async def shown(stage: Stage, step: Step) -> bool:
    """`kubectl gang tree` shows what it consists of, and why it waits."""
    lines = await tree(stage.cluster, f"jobset/{WHOLE}")
    stage.view.say([f"$ kubectl gang tree jobset/{WHOLE}", *(f"  {line}" for line in lines)])
    pods = CONDUCTOR + _players(stage)
    groups = [line for line in lines if "podgroup/" in line and "waiting" in line]
    step.remark = f"{len(groups)} PodGroup of {sum('─ pod/' in line for line in lines)} pods of both its Jobs"
    return len(groups) == 1 and f"0 of {pods} started" in groups[0] and sum("─ pod/" in line for line in lines) == pods


async def starts(stage: Stage, step: Step) -> bool:
    """One more node, and the pods of all its Jobs start."""
    await stage.cluster.add_nodes([f"{NODE_PREFIX}-{stage.nodes + 1}"], SHAPE)
    return await stage.until_started(step, WHOLE, CONDUCTOR + _players(stage))


def _is_refused(overview: Overview) -> bool:
    row = overview.row(WHOLE)
    return row is not None and row.state == WAITS and "nodes" in row.reason
