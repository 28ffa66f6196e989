"""LeaderWorkerSets, for as long as the cluster knows them.

The kind comes with a CRD that many clusters do not have, and that may be installed or removed at any time. Until it is served,
nothing of it is watched and one small question is asked now and then. When it goes, so do the watches; nothing else is
disturbed by either.
"""

import asyncio
import logging
from typing import Any, Final

from api.meta import Metadata
from api.podgroup import PodGroup, Workload
from controllers.job_watch import WatchEnded
from controllers.leaderworkersets.episode import Episode, Shared
from kube.cache.informer import Informer
from kube.client.errors import KubeError, NotFound
from kube.client.resources import LEADER_WORKER_SETS

__all__ = ["SetPart", "Shared"]

_log = logging.getLogger(__name__)

ASK_SECONDS: Final = 10.0
"""How often to ask for a kind that was not there."""

_PATH: Final = f"/apis/{LEADER_WORKER_SETS.group}/{LEADER_WORKER_SETS.version}"


class SetPart:
    """Everything the controllers do about LeaderWorkerSets."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._now: Episode | None = None

    @property
    def informers(self) -> tuple[tuple[str, Informer[Any]], ...]:
        """What is followed at the moment, with a name for people."""
        return () if self._now is None else self._now.informers

    async def run(self) -> None:
        """Work until cancelled.

        Raises:
            WatchEnded: LeaderWorkerSets cannot be watched any more, although they are there.
        """
        while True:
            if not await self._is_served():
                await asyncio.sleep(ASK_SECONDS * self._shared.random.uniform(0.8, 1.2))
                continue
            _log.info("LeaderWorkerSets are served: following them")
            self._now = Episode(self._shared)
            try:
                await self._now.run()
            except WatchEnded:
                if await self._is_served():
                    raise
                _log.info("LeaderWorkerSets are not served any more")
            finally:
                self._now = None

    def workload_changed(self, workload: Workload) -> None:
        """A Workload came, changed or went."""
        if self._now is not None:
            self._now.add(self._now.observer.sets_of_workload(workload))

    def pod_group_changed(self, group: PodGroup) -> None:
        """A PodGroup came, went, or changed by more than its status."""
        if self._now is not None:
            self._now.add(self._now.observer.sets_of_group(group))

    def group_object_changed(self, owned: Metadata) -> None:
        """A group object of another gang scheduler came, went, or changed its minimum."""
        if self._now is not None:
            self._now.add(self._now.observer.sets_of_owned(owned))

    def pod_group_says(self, group: PodGroup) -> None:
        """The status of a PodGroup may have changed."""
        if self._now is not None:
            self._now.tell_why(group)

    async def _is_served(self) -> bool:
        try:
            found = await self._shared.client.request_json("GET", _PATH)
        except NotFound:
            return False
        except KubeError:
            # Unknown: what is followed stays followed, what is not will be asked for again.
            return self._now is not None
        return any(each.get("name") == LEADER_WORKER_SETS.plural for each in found.get("resources") or ())
