"""Reads by the hundred, answered and refused: none leaves a cycle, with the frames of a failure and all that they hold."""

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from kube.client.errors import KubeError, NotFound
from kube.client.retry import ReadRetry
from tests.churn.cycles import cycles

READS = 100


async def _answered() -> bytes:
    return b"{}"


async def _not_there() -> bytes:
    raise NotFound(404, "NotFound")


@pytest.mark.parametrize("read", [_answered, _not_there])
async def test_a_read_leaves_no_cycles(read: Callable[[], Awaitable[bytes]]) -> None:
    retry = ReadRetry(random.Random(1))
    with cycles() as left:
        for _ in range(READS):
            with suppress(KubeError):
                await retry(read)
    assert not left
