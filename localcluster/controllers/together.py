"""Many writes at once, so many at a time, of which some may fail."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from kube.client.errors import KubeError

T = TypeVar("T")


async def all_of(
    work: Callable[[T], Awaitable[None]], items: Sequence[T], limit: asyncio.Semaphore
) -> list[KubeError | None]:
    """Does the work for every item, so many at a time; for each its error or None."""

    async def one(item: T) -> KubeError | None:
        async with limit:
            try:
                await work(item)
            except KubeError as error:
                return error
        return None

    return list(await asyncio.gather(*(one(item) for item in items)))


async def in_slow_start(
    work: Callable[[T], Awaitable[None]], items: Sequence[T], limit: asyncio.Semaphore
) -> tuple[int, KubeError | None]:
    """Does the work for 1, 2, 4, ... items at once, and for no more after a batch that had a failure.

    Returns:
        How many succeeded, and the first error.
    """
    done, batch, first = 0, 1, 0
    while first < len(items):
        results = await all_of(work, items[first : first + batch], limit)
        done += sum(1 for error in results if error is None)
        failed = first_error(results)
        if failed is not None:
            return done, failed
        first, batch = first + batch, batch * 2
    return done, None


def first_error(results: Sequence[KubeError | None]) -> KubeError | None:
    """The first of the errors, None when there is none."""
    return next((error for error in results if error is not None), None)
