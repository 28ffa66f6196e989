"""Compares the cache with a fresh list every few minutes: a cache that is wrong would otherwise be believed for ever.

While a list is read the cluster moves on, so a difference counts only when two more lists show it at the same place. They are read
after unequal pauses, for pods that run for as long as a pause would be met at both of its ends. What is found is logged and
exported; a drift that stays is a defect and an alert, not something to be papered over.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping

from api.pod import Pod
from kube.cache.decoding import Converted, ListDecoder
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import PODS
from scheduler.cache.cluster import ClusterState
from scheduler.cache.comparer import Drift
from scheduler.cache.records import PodRecord

_log = logging.getLogger(__name__)

_CONFIRM_SECONDS = 5.0
_PAUSES = (1.0, 1.4)
_SHOWN = 5


class CacheComparer:
    """The comparison, on a timer.

    Attributes:
        confirm_seconds: time between a first look that found something and the second; the third is a little longer after that.
    """

    def __init__(
        self,
        client: Client,
        state: ClusterState,
        *,
        every_seconds: float,
        export: Callable[[Mapping[str, int]], None],
        confirm_seconds: float = _CONFIRM_SECONDS,
    ) -> None:
        """`export` takes the number of differences by kind."""
        self._client = client
        self._state = state
        self._every_seconds = every_seconds
        self._export = export
        self.confirm_seconds = confirm_seconds
        self._decoder = Converted(ListDecoder(Pod), state.slim_pod)

    async def run(self) -> None:
        """Check until cancelled."""
        while True:
            await asyncio.sleep(self._every_seconds)
            try:
                await self.check()
            except KubeError as error:
                _log.warning("the self-check could not list pods: %s", error)

    async def check(self) -> Drift:
        """The drift there is now, confirmed by two more looks; exported and, if any, logged."""
        drift = await self._compare()
        for pause in _PAUSES:
            if drift:
                await asyncio.sleep(pause * self.confirm_seconds)
                drift = in_both(drift, await self._compare())
        self._export({"node": len(drift.nodes), "missing": len(drift.missing), "extra": len(drift.extra)})
        if drift:
            _log.error("the cache differs from the cluster: %s", describe(drift))
        return drift

    async def _compare(self) -> Drift:
        pods: list[PodRecord] = []
        async for page in self._client.list_pages(PODS):
            pods.extend(self._decoder.page(page).items)
        return self._state.recount(pods)


def in_both(one: Drift, other: Drift) -> Drift:
    """The differences that two drifts agree on; amounts may have moved, the place has not."""
    places = {(entry.node, entry.resource) for entry in one.nodes}
    return Drift(
        nodes=tuple(entry for entry in other.nodes if (entry.node, entry.resource) in places),
        missing=tuple(uid for uid in other.missing if uid in set(one.missing)),
        extra=tuple(uid for uid in other.extra if uid in set(one.extra)),
    )


def describe(drift: Drift) -> str:
    """One bounded line about a drift."""
    nodes = [f"{entry.node} {entry.resource}: cached {entry.cached}, counted {entry.counted}" for entry in drift.nodes]
    parts = [
        f"{len(drift.missing)} pods are not cached {list(drift.missing[:_SHOWN])}" if drift.missing else "",
        f"{len(drift.extra)} cached pods do not exist {list(drift.extra[:_SHOWN])}" if drift.extra else "",
        f"{len(nodes)} amounts are wrong ({'; '.join(nodes[:_SHOWN])})" if nodes else "",
    ]
    return ", ".join(part for part in parts if part)
