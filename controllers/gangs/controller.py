"""What every controller of owners has: an informer on them, a work queue of their keys, events about them, and a resync."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

from controllers.context import ControllerContext
from controllers.events import DedupEventRecorder
from controllers.owner_cache import OwnerCache
from kube.cache.decoding import Decoder
from kube.cache.informer import Change, Informer
from kube.cache.store import Key, KubeObject
from kube.cache.workqueue import Reconcile, WorkQueue
from kube.client.resources import Resource

T = TypeVar("T", bound=KubeObject)

RESYNC_SPREAD: Final = 0.1
"""A resync spreads its objects over this part of the period, so that it never blocks the loop."""


def _namespace_of(key: Key) -> str:
    """Whose objects wait for each other: a tenant has a namespace, or some."""
    return key[0]


class Controller(Generic[T]):
    """Looks at objects of one kind: each that came, changed or went, those that somebody names, and all of them now and then."""

    def __init__(
        self,
        context: ControllerContext,
        resource: Resource,
        decoder: Decoder[T],
        reconciler: Callable[[OwnerCache[T], DedupEventRecorder], Reconcile[Key]],
    ) -> None:
        """Nothing is followed before `informer.run`, nothing is reconciled before `work`.

        Args:
            context: what it shares with other controllers.
            resource: the kind of the owners.
            decoder: makes the records that are kept of them.
            reconciler: makes what does one pass, given the owners and who tells events about them.
        """
        self.informer: Informer[T] = Informer(context.client, resource, decoder)
        self.owners = OwnerCache(self.informer.store)
        self._context = context
        self._event_recorder = DedupEventRecorder(
            context.recorder, resource, is_there=self.owners.has, warned=context.metrics.warned
        )
        self.queue: WorkQueue[Key] = WorkQueue(
            reconciler(self.owners, self._event_recorder),
            workers=context.settings.workers,
            random=context.random,
            flow=_namespace_of,
        )
        self.informer.add_handler(self._owner_changed)
        context.metrics.follow_queue(resource.kind, lambda: float(len(self.queue)))

    async def work(self) -> None:
        """Reconcile until cancelled. To be begun once everything that a pass reads has been listed."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.queue.run())
            group.create_task(self._resync())

    def add(self, keys: Iterable[Key]) -> None:
        """These objects are to be looked at, if they are there."""
        for key in keys:
            if self.owners.get(key) is not None:
                self.queue.add(key)

    def _owner_changed(self, change: Change[T]) -> None:
        self.owners.caught_up(change)
        if change.new is None and change.old is not None:
            self._event_recorder.forget(change.old)
        changed = change.new if change.new is not None else change.old
        if changed is not None:
            self.queue.add(changed.metadata.key)

    async def _resync(self) -> None:
        period_seconds, random = self._context.settings.resync_seconds, self._context.random
        while True:
            await asyncio.sleep(period_seconds)
            for key in self.owners.keys():  # noqa: SIM118 (the cache is no mapping)
                self.queue.add_after(key, random.uniform(0, period_seconds * RESYNC_SPREAD))
