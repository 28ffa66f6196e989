"""One pass over one LeaderWorkerSet: observe, plan, execute.

A pass that meets a newer state of the world reads the set again and repeats itself, a few times at once and then later; any
other error is left to the work queue and its growing pauses.
"""

from typing import Final

import msgspec

from api.constants import EVENT_NAME_TAKEN
from api.lws import LWS_KIND, LeaderWorkerSet
from controllers.jobs.creation import NameTaken, Outdated
from controllers.leaderworkersets.execute import SetGone, SetTools, carry_out
from controllers.leaderworkersets.observe import SetObserver
from controllers.leaderworkersets.plan import NAME_TAKEN_SECONDS, SetRules, plan
from controllers.provider_groups import KindMissing
from kube.cache.store import Key
from kube.client.errors import NotFound
from kube.client.resources import LEADER_WORKER_SETS

ATTEMPTS: Final = 3
LATER_SECONDS: Final = 1.0


class SetReconciler:
    """Brings LeaderWorkerSets where they should be, one at a time. The work queue calls it with keys."""

    def __init__(self, tools: SetTools, observer: SetObserver, rules: SetRules) -> None:
        self._tools = tools
        self._observer = observer
        self._rules = rules

    async def __call__(self, key: Key) -> float | None:
        """One pass; gives the seconds until another one is due, None when the next event is soon enough.

        Raises:
            KubeError: the pass could not be finished.
        """
        with self._tools.metrics.reconciling(LWS_KIND):
            for _ in range(ATTEMPTS):
                lws = self._tools.sets.get(key)
                if lws is None:
                    return None
                try:
                    return await self._pass(lws)
                except Outdated as news:
                    await self._learn(lws, news)
            return LATER_SECONDS

    async def _pass(self, lws: LeaderWorkerSet) -> float | None:
        planned = plan(await self._observer.observe(lws), self._rules)
        try:
            await carry_out(planned, lws, self._tools)
        except NameTaken as taken:
            note = f"waits for a name: {taken}"
            self._tools.announcer.warn_once(lws, reason=EVENT_NAME_TAKEN, note=note, action="CreateGroup")
            return NAME_TAKEN_SECONDS
        except KindMissing:
            # The next look finds the same and says so.
            return LATER_SECONDS
        return planned.look_again_seconds

    async def _learn(self, lws: LeaderWorkerSet, news: Outdated) -> None:
        sets = self._tools.sets
        if isinstance(news, SetGone):
            sets.remove(lws)
            return
        name, namespace = lws.metadata.name, lws.metadata.namespace
        try:
            live = await self._tools.client.get(LEADER_WORKER_SETS, name, namespace)
        except NotFound:
            sets.remove(lws)
        else:
            sets.put(msgspec.convert(live, LeaderWorkerSet))
