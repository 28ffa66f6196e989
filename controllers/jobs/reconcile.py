"""One pass over one Job: observe, plan, execute."""

from api.constants import EVENT_INVALID_GANG_SETTINGS
from api.errors import InvalidObject
from api.job import Job
from controllers.gangs.reconciler import Reconciler
from controllers.jobs.execute import Tools, carry_out
from controllers.jobs.observe import Observer
from controllers.jobs.plan import Rules, plan
from kube.client.resources import JOBS


class JobReconciler(Reconciler[Job]):
    """Brings Jobs where they should be."""

    def __init__(self, tools: Tools, observer: Observer, rules: Rules) -> None:
        super().__init__(
            JOBS, Job, store=tools.jobs, client=tools.client, announcer=tools.announcer, metrics=tools.metrics
        )
        self._tools = tools
        self._observer = observer
        self._rules = rules

    async def work(self, item: Job) -> float | None:
        """See the base class."""
        planned = plan(await self._observer.observe(item), self._rules)
        try:
            await carry_out(planned, item, self._tools)
        except InvalidObject as error:
            self._announcer.warn_once(
                item, reason=EVENT_INVALID_GANG_SETTINGS, note=str(error), action="CreateGroupObject"
            )
            return None
        return planned.look_again_seconds
