"""The demo's act with accelerators: gangs get their devices whole, and none holds some of them while it waits."""

from typing import Final

from localcluster.demo.jobs import MIXES, RECORDS, accelerated_gang, device_template
from localcluster.demo.overview import WAITS, Overview
from localcluster.demo.screen import Step
from localcluster.demo.stage import DEVICE_CLASS, PATIENCE_SECONDS, Stage, running, started

RECORDING_SECONDS: Final = 4.0
MIXING_SECONDS: Final = 3.0


async def accelerated(stage: Stage, step: Step) -> bool:
    """Two gangs of which only one has devices enough: the second starts when the first has ended, and not before."""
    first = stage.devices * 3 // 4
    second = stage.devices - first + 1
    template, gang = device_template(DEVICE_CLASS), accelerated_gang(RECORDS, first, RECORDING_SECONDS)
    if not await stage.create(step, [template, gang]) or not await stage.until_started(step, RECORDS, first):
        return False
    if not await stage.create(step, [accelerated_gang(MIXES, second, MIXING_SECONDS)]):
        return False
    if not await stage.view.until(_waits, PATIENCE_SECONDS):
        step.remark = stage.counts(MIXES)
        return False
    beside = stage.devices - second
    was_early = await stage.view.until(lambda overview: _is_early(overview, beside), RECORDING_SECONDS)
    good = await stage.until_started(step, MIXES, second)
    step.remark += f"; of {stage.devices} devices {RECORDS} had {first}"
    return good and not was_early


def _waits(overview: Overview) -> bool:
    row = overview.row(MIXES)
    return row is not None and row.state == WAITS


def _is_early(overview: Overview, beside: int) -> bool:
    """Whether pods of the second gang have started while more of the first run than may beside all of the second."""
    return bool(started(overview, MIXES)) and len(running(overview, RECORDS)) > beside
