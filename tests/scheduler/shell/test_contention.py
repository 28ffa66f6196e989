"""Two gangs that need 60 % of the cluster each, submitted pod by pod in alternation: one runs whole, the other not at all.

A whole scheduler on a fake server, in virtual time. What is random (when each pod comes, how long each request and each watch
event takes, which answers are lost) follows from the seed, so a failure can be repeated.
"""

import asyncio
import random
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from kube.client.errors import KubeError, OutcomeUnknown, ServerError
from kube.client.resources import Resource
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.fake_api import FakeApi, Object
from tests.scheduler.shell.manifests import gang, pod
from tests.scheduler.shell.virtual_time import run_virtually

NODES, SIZE = 5, 3
REPEATS, CHUNKS = 1000, 10
SETTLED = [("False", "Unschedulable"), ("True", "Scheduled")]
AFTERWARDS_SECONDS = 1.5


class SlowApi(FakeApi):
    """A server whose answers and watch events take their time, and which loses some of them."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self._slow = chance.choice([0.0, 0.002, 0.05])
        self._losses = chance.choice([0.0, 0.0, 0.1])
        self.before.append(
            lambda verb, what, _: self._failure(verb, what, ServerError(503, "ServiceUnavailable", "overloaded"))
        )
        self.after.append(lambda verb, what, _: self._failure(verb, what, OutcomeUnknown("no answer")))
        self.started: dict[str, int] = {}

    def _failure(self, verb: str, what: str, error: KubeError) -> KubeError | None:
        is_write = verb in {"create", "patch"} and what != "events"
        return error if is_write and self._chance.random() < self._losses else None

    async def _request(self, verb: str, what: str, name: str) -> None:
        if verb != "list":
            await asyncio.sleep(self._chance.uniform(0, self._slow))
        await super()._request(verb, what, name)

    async def watch(self, resource: Resource, namespace: str | None = None, **more: Any) -> AsyncGenerator[bytes, None]:
        async for line in super().watch(resource, namespace, **more):
            await asyncio.sleep(self._chance.uniform(0, self._slow))
            yield line

    def _store(self, key: tuple[str, str, str], stored: Object, kind: str) -> None:
        super()._store(key, stored, kind)
        if key[0] == "pods":
            for name in ("a", "b"):
                self.started[name] = sum(pod.startswith(name) for pod in self.bound())
            assert not (self.started["a"] and self.started["b"]), f"both gangs have pods bound: {self.started}"


async def _race(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    api = SlowApi(chance)
    cluster = Cluster(api, asyncio.get_running_loop().time)
    cluster.add_nodes(NODES)
    pace = chance.choice([0.0, 0.001, 0.02, 0.5])
    async with cluster.scheduler(initial_backoff_seconds=1.0, max_backoff_seconds=10.0, preemption=False):
        makings = [("podgroups", gang(name, SIZE)) for name in ("a", "b")]
        makings += [("pods", pod(f"{name}-{number}", group=name)) for number in range(SIZE) for name in ("a", "b")]
        if chance.random() < 0.3:
            makings.append(makings.pop(chance.randrange(2)))
        for plural, body in makings:
            api.put(plural, body)
            await asyncio.sleep(chance.uniform(0, pace))
        await api.until(lambda: sorted((cluster.group_says("a"), cluster.group_says("b"))) == SETTLED)
        await asyncio.sleep(AFTERWARDS_SECONDS)
    return dict(api.started)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_exactly_one_of_two_gangs_of_60_percent_runs_and_none_in_part(chunk: int) -> None:
    for seed in range(chunk * REPEATS // CHUNKS, (chunk + 1) * REPEATS // CHUNKS):
        try:
            started = run_virtually(_race(seed))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        assert sorted(started.values()) == [0, SIZE], f"seed {seed}: {started}"
