"""The demo's later acts: a whole gang gives way and comes back, and a process dies without harm."""

from typing import Final

from kube.client.errors import KubeError
from localcluster.demo.jobs import (
    FITS,
    LATE,
    ORDINARY,
    REPLICATED,
    URGENT,
    WAITS,
    late_gang,
    urgent_class,
    urgent_gang,
)
from localcluster.demo.screen import Step
from localcluster.demo.stage import PATIENCE_SECONDS, Stage, is_done, running, started
from localcluster.demo.tutti_process import kill_holder, scheduler_holder

LATE_SIZE: Final = 2
END_SECONDS: Final = 60.0


async def preempts(stage: Stage, step: Step) -> bool:
    """A more important gang of the same size: the other one leaves, and not a part of it."""
    before = running(stage.view.overview(), WAITS)
    if len(before) < stage.most:
        step.remark = f"{WAITS} does not run any more"
        return False
    if not await stage.create(step, [urgent_class(), urgent_gang(stage.most)]):
        return False
    good = await stage.until_started(step, URGENT, stage.most)
    still = before & running(stage.view.overview(), WAITS)
    step.remark += f"; {len(before) - len(still)} of {len(before)} pods of {WAITS} have left"
    return good and not still


async def survives(stage: Stage, step: Step) -> bool:
    """No scheduler for a while: what runs goes on, and what comes meanwhile is placed by the next one."""
    before = running(stage.view.overview(), URGENT)
    async with stage.cluster.client() as client:
        try:
            killed = await scheduler_holder(client)
            kill_holder(killed)
            if not await stage.create(step, [late_gang(LATE_SIZE)]):
                return False
            good = await stage.view.until(lambda overview: started(overview, LATE) >= LATE_SIZE, PATIENCE_SECONDS)
            has_other = await scheduler_holder(client) != killed
        except KubeError as error:
            step.remark = str(error)
            return False
    row = stage.view.overview().row(URGENT)
    lost = row.members.failed if row is not None else len(before)
    step.remark = f"{LATE}: {stage.counts(LATE)}; {lost} pods of {URGENT} were lost"
    return good and has_other and not lost


async def comes_back(stage: Stage, step: Step) -> bool:
    """Room again: nobody has to do anything."""
    return await stage.view.until(
        lambda overview: len(running(overview, WAITS)) >= stage.most, END_SECONDS
    ) and await stage.until_started(step, WAITS, stage.most)


async def ends(stage: Stage, step: Step) -> bool:
    """Everything that has an end comes to it; the replica runs on."""
    jobs = (FITS, ORDINARY, WAITS, URGENT, LATE)
    good = await stage.view.until(lambda overview: all(is_done(overview, name) for name in jobs), END_SECONDS)
    left = [name for name in jobs if not is_done(stage.view.overview(), name)]
    step.remark = (
        f"still there: {', '.join(left)}" if left else f"{', '.join(jobs)} are complete; {REPLICATED} sings on"
    )
    return good
