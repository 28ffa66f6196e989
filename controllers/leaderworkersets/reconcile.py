"""One pass over one LeaderWorkerSet: observe, plan, execute."""

from api.lws import LeaderWorkerSet
from controllers.gangs.reconciler import Reconciler
from controllers.leaderworkersets.execute import SetTools, carry_out
from controllers.leaderworkersets.observe import SetObserver
from controllers.leaderworkersets.plan import SetRules, plan
from kube.client.resources import LEADER_WORKER_SETS


class SetReconciler(Reconciler[LeaderWorkerSet]):
    """Brings LeaderWorkerSets where they should be."""

    def __init__(self, tools: SetTools, observer: SetObserver, rules: SetRules) -> None:
        super().__init__(
            LEADER_WORKER_SETS,
            LeaderWorkerSet,
            store=tools.sets,
            client=tools.client,
            announcer=tools.announcer,
            metrics=tools.metrics,
        )
        self._tools = tools
        self._observer = observer
        self._rules = rules

    async def work(self, item: LeaderWorkerSet) -> float | None:
        """See the base class."""
        planned = plan(await self._observer.observe(item), self._rules)
        await carry_out(planned, item, self._tools)
        return planned.look_again_seconds
