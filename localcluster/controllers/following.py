"""How every stand-in runs: it lists what it follows, and decides nothing before it knows all of it."""

import asyncio
from collections.abc import Iterable
from typing import Any

from kube.cache.informer import Informer
from kube.cache.workqueue import WorkQueue


async def follow(informers: Iterable[Informer[Any]], *queues: WorkQueue[Any]) -> None:
    """Runs the informers until cancelled, and the queues from the moment when all of them have listed."""
    followed = tuple(informers)
    async with asyncio.TaskGroup() as tasks:
        for informer in followed:
            tasks.create_task(informer.run())
        for informer in followed:
            await informer.synced.wait()
        for queue in queues:
            tasks.create_task(queue.run())
