"""How an act is judged, and what is shown when one did not go as it should."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from localcluster.cluster import Cluster
from localcluster.demo import walkthrough
from localcluster.demo.cluster_view import ClusterView
from localcluster.demo.device_acts import accelerated
from localcluster.demo.jobs import MIXES, RECORDS
from localcluster.demo.overview import DONE, GATHERS, RUNS, WAITS, Members, Overview, Row
from localcluster.demo.screen import Step
from localcluster.demo.stage import Stage
from localcluster.demo.walkthrough import Walkthrough

NODES = 4


class Frames:
    """What is seen of a cluster, moment by moment; each wait goes on from where the one before ended."""

    def __init__(self, frames: Sequence[Overview]) -> None:
        self.steps: list[Step] = []
        self.said: list[str] = []
        self._frames = list(frames)

    def overview(self) -> Overview:
        return self._frames[0]

    async def until(self, check: Callable[[Overview], bool], _within_seconds: float) -> bool:
        seen = next((number for number, frame in enumerate(self._frames) if check(frame)), None)
        self._frames = self._frames[seen or 0 :]
        return seen is not None

    async def create(self, _manifests: Any) -> list[str]:
        return []

    def say(self, lines: Sequence[str]) -> None:
        self.said += lines


def stage_of(view: Frames) -> Stage:
    return Stage(cast("Cluster", None), cast("ClusterView", view), NODES, [])


def row(name: str, size: int, state: str, *, runs: int = 0, done: int = 0) -> Row:
    members = Members(pending=size - runs - done, bound=runs, succeeded=done)
    return Row(name, True, size, members, state, running=frozenset(f"{name}-{number}" for number in range(runs)))


BOTH_WAIT = Overview((row(RECORDS, 6, RUNS, runs=6), row(MIXES, 3, WAITS)))
END = Overview((row(RECORDS, 6, DONE, done=6), row(MIXES, 3, RUNS, runs=3)))


@pytest.mark.parametrize(
    ("seen", "is_good"),
    [
        ([], True),
        ([Overview((row(RECORDS, 6, RUNS, runs=5, done=1), row(MIXES, 3, RUNS, runs=3)))], True),
        ([Overview((row(RECORDS, 6, RUNS, runs=6), row(MIXES, 3, RUNS, runs=3)))], False),
        ([Overview((row(RECORDS, 6, RUNS, runs=6), row(MIXES, 3, GATHERS, runs=2)))], False),
    ],
    ids=["after all have ended", "once enough have ended", "with more than there are", "in part"],
)
def test_the_second_gang_may_start_when_there_are_devices_for_it(seen: list[Overview], is_good: bool) -> None:
    stage = stage_of(Frames([BOTH_WAIT, *seen, END]))
    assert asyncio.run(accelerated(stage, Step("devices"))) is is_good


@pytest.mark.parametrize("is_good", [True, False])
def test_what_tutti_said_meanwhile_is_shown_of_an_act_that_went_wrong(
    is_good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, view = tmp_path / "tutti.log", Frames([END])
    log.write_text("before\n")

    async def act(_stage: Stage, _step: Step) -> bool:
        with log.open("a") as more:
            more.write("the lease is lost\n")
        return is_good

    monkeypatch.setattr(walkthrough, "ACTS", (("an act", act),))
    assert asyncio.run(Walkthrough(stage_of(view), log).run()) is is_good
    assert view.said == ([] if is_good else ["what Tutti said meanwhile:", "    the lease is lost"])
