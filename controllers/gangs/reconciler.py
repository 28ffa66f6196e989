"""One pass over one object that gangs are made for, and what comes after a pass that could not be finished.

A pass that meets a newer state of the world reads the object again and repeats itself, a few times at once and then later;
any other error is left to the work queue and its growing pauses.
"""

from abc import ABC, abstractmethod
from typing import Final, Generic, TypeVar

import msgspec

from api.constants import EVENT_NAME_TAKEN
from controllers.announcer import Announcer
from controllers.gangs.creation import NameTaken, Outdated, OwnerGone
from controllers.gangs.steps import NAME_TAKEN_SECONDS
from controllers.metrics import Metrics
from controllers.owner_store import OwnerStore
from controllers.provider_groups import KindMissing
from kube.cache.store import Key, KubeObject
from kube.client.client import Client
from kube.client.errors import NotFound
from kube.client.resources import Resource

T = TypeVar("T", bound=KubeObject)

ATTEMPTS: Final = 3
LATER_SECONDS: Final = 1.0


class Reconciler(ABC, Generic[T]):
    """Brings objects of one kind where they should be, one at a time. The work queue calls it with keys."""

    def __init__(
        self,
        resource: Resource,
        record: type[T],
        *,
        store: OwnerStore[T],
        client: Client,
        announcer: Announcer,
        metrics: Metrics,
    ) -> None:
        self._resource = resource
        self._record = record
        self._store = store
        self._client = client
        self._announcer = announcer
        self._metrics = metrics

    @abstractmethod
    async def work(self, item: T) -> float | None:
        """Observe, plan, execute; gives the seconds until another pass is due.

        Raises:
            Outdated: something has changed meanwhile.
            NameTaken: somebody else's object holds the name of ours.
            KindMissing: the cluster does not know a kind that is needed.
            KubeError: anything else.
        """

    async def __call__(self, key: Key) -> float | None:
        """One pass; gives the seconds until another one is due, None when the next event is soon enough.

        Raises:
            KubeError: the pass could not be finished.
        """
        with self._metrics.reconciling(self._resource.kind):
            for _ in range(ATTEMPTS):
                item = self._store.get(key)
                if item is None:
                    return None
                try:
                    return await self._pass(item)
                except Outdated as news:
                    await self._learn(item, news)
            return LATER_SECONDS

    async def _pass(self, item: T) -> float | None:
        try:
            return await self.work(item)
        except NameTaken as taken:
            note = f"waits for a name: {taken}"
            self._announcer.warn_once(item, reason=EVENT_NAME_TAKEN, note=note, action="CreateGroup")
            return NAME_TAKEN_SECONDS
        except KindMissing:
            # The next look finds the same and says so.
            return LATER_SECONDS

    async def _learn(self, item: T, news: Outdated) -> None:
        if isinstance(news, OwnerGone):
            self._store.remove(item)
            return
        try:
            live = await self._client.get(self._resource, item.metadata.name, item.metadata.namespace)
        except NotFound:
            self._store.remove(item)
        else:
            self._store.put(msgspec.convert(live, self._record))
