"""The scheduler's comparison of its cache with a fresh list: what is only on its way is no drift."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from scheduler.cache.comparer import Drift, NodeDrift
from scheduler.eventhandlers.cache_comparer import CacheComparer
from tests.scheduler.shell.virtual_time import run_virtually

NONE = Drift()
HERE = Drift(nodes=(NodeDrift("n0", "cpu", 2000, 4000),))
AGAIN_HERE = Drift(nodes=(NodeDrift("n0", "cpu", 4000, 2000),))
THERE = Drift(nodes=(NodeDrift("n1", "cpu", 0, 1000),))


class Looked(CacheComparer):
    """Finds, look by look, what it is given, and notes when it looked."""

    def __init__(self, *finds: Drift) -> None:
        nothing: Any = None
        self.exported: list[Mapping[str, int]] = []
        super().__init__(nothing, _State(), every_seconds=300.0, export=self.exported.append)  # type: ignore[arg-type]
        self.moments: list[float] = []
        self._finds = list(finds)

    async def _compare(self) -> Drift:
        self.moments.append(asyncio.get_running_loop().time())
        return self._finds.pop(0)


class _State:
    def slim_pod(self, pod: object) -> object:
        return pod


@pytest.mark.parametrize(
    ("finds", "told"),
    [
        ([NONE], NONE),
        ([HERE, NONE], NONE),
        ([HERE, THERE], NONE),
        ([HERE, AGAIN_HERE, NONE], NONE),
        ([HERE, AGAIN_HERE, HERE], HERE),
    ],
)
def test_a_drift_is_what_three_looks_find_at_the_same_place(finds: list[Drift], told: Drift) -> None:
    checked = Looked(*finds)
    assert run_virtually(checked.check()) == told
    assert len(checked.moments) == len(finds)
    assert checked.exported == [{"node": len(told.nodes), "missing": 0, "extra": 0}]


def test_the_pauses_between_looks_differ() -> None:
    checked = Looked(HERE, HERE, HERE)
    run_virtually(checked.check())
    first, second, third = checked.moments
    assert second - first >= 5.0
    assert third - second > second - first
