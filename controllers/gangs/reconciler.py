"""One pass over one object that gangs are made for: observe, plan, execute; and what comes after a pass that could not be finished.

A pass that meets a newer state of the world reads the object again and repeats itself, a few times at once and then later;
any other error is left to the work queue and its growing pauses.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar

import msgspec

from api.constants import EVENT_INVALID_GANG_SETTINGS, EVENT_NAME_TAKEN
from api.errors import InvalidObject
from controllers.gangs.common_steps import NAME_TAKEN_SECONDS, Plan
from controllers.gangs.tools import Tools
from controllers.gangs.writes import NameTaken, Outdated, OwnerGone
from controllers.provider_groups import KindMissing
from kube.cache.store import Key, KubeObject
from kube.client.errors import NotFound
from kube.client.resources import Resource

T = TypeVar("T", bound=KubeObject)
Facts = TypeVar("Facts")

ATTEMPTS: Final = 3
LATER_SECONDS: Final = 1.0


class Reconciler(Generic[T, Facts]):
    """Brings objects of one kind where they should be, one at a time. The work queue calls it with keys."""

    def __init__(
        self,
        resource: Resource,
        record: type[T],
        tools: Tools[T],
        *,
        observe: Callable[[T], Awaitable[Facts]],
        plan: Callable[[Facts], Plan[Any]],
        execute: Callable[[Plan[Any], T], Awaitable[None]],
    ) -> None:
        """Put the parts of a pass together.

        Args:
            resource: the kind of the owners.
            record: the type of the owners.
            tools: the owners, the client, events and metrics.
            observe: reads the facts; may raise KubeError.
            plan: decides from the facts alone.
            execute: writes; may raise Outdated, NameTaken, KindMissing, InvalidObject and KubeError.
        """
        self._resource = resource
        self._record = record
        self._observe = observe
        self._plan = plan
        self._execute = execute
        self._tools = tools

    async def __call__(self, key: Key) -> float | None:
        """One pass; gives the seconds until another one is due, None when the next event is soon enough.

        Raises:
            KubeError: the pass could not be finished.
        """
        with self._tools.metrics.reconciling(self._resource.kind):
            for _ in range(ATTEMPTS):
                item = self._tools.owners.get(key)
                if item is None:
                    return None
                try:
                    plan = self._plan(await self._observe(item))
                    await self._execute(plan, item)
                except NameTaken as taken:
                    self._warn(item, EVENT_NAME_TAKEN, f"waits for a name: {taken}", "CreateGroup")
                    return NAME_TAKEN_SECONDS
                except InvalidObject as error:
                    self._warn(item, EVENT_INVALID_GANG_SETTINGS, str(error), "CreateGroupObject")
                    return None
                except KindMissing:
                    # The next look finds the same and says so.
                    return LATER_SECONDS
                except Outdated as news:
                    await self._read_again(item, news)
                else:
                    return plan.requeue_after_seconds
            return LATER_SECONDS

    def _warn(self, item: T, reason: str, note: str, action: str) -> None:
        self._tools.event_recorder.warn_once(item, reason=reason, note=note, action=action)

    async def _read_again(self, item: T, news: Outdated) -> None:
        if isinstance(news, OwnerGone):
            self._tools.owners.note_gone(item)
            return
        try:
            live = await self._tools.client.get(self._resource, item.metadata.name, item.metadata.namespace)
        except NotFound:
            self._tools.owners.note_gone(item)
        else:
            self._tools.owners.note(msgspec.convert(live, self._record))
