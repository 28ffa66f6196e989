"""One pass over one Job: observe, plan, execute.

A pass that meets a newer state of the world reads the Job again and repeats itself, a few times at once and then later;
any other error is left to the work queue and its growing pauses.
"""

from typing import Final

import msgspec

from api.constants import EVENT_INVALID_GANG_SETTINGS, EVENT_NAME_TAKEN
from api.errors import InvalidObject
from api.job import Job
from controllers.jobs.creation import NameTaken, Outdated
from controllers.jobs.execute import JobGone, Tools, carry_out
from controllers.jobs.observe import Observer
from controllers.jobs.plan import NAME_TAKEN_SECONDS, Rules, plan
from controllers.provider_groups import KindMissing
from kube.cache.store import Key
from kube.client.errors import NotFound
from kube.client.resources import JOBS

KIND: Final = "Job"
ATTEMPTS: Final = 3
LATER_SECONDS: Final = 1.0


class JobReconciler:
    """Brings Jobs where they should be, one at a time. The work queue calls it with keys."""

    def __init__(self, tools: Tools, observer: Observer, rules: Rules) -> None:
        self._tools = tools
        self._observer = observer
        self._rules = rules

    async def __call__(self, key: Key) -> float | None:
        """One pass; gives the seconds until another one is due, None when the next event is soon enough.

        Raises:
            KubeError: the pass could not be finished.
        """
        with self._tools.metrics.reconciling(KIND):
            for _ in range(ATTEMPTS):
                job = self._tools.jobs.get(key)
                if job is None:
                    return None
                try:
                    return await self._pass(job)
                except Outdated as news:
                    await self._learn(job, news)
            return LATER_SECONDS

    async def _pass(self, job: Job) -> float | None:
        planned = plan(await self._observer.observe(job), self._rules)
        try:
            await carry_out(planned, job, self._tools)
        except NameTaken as taken:
            note = f"waits for a name: {taken}"
            self._tools.announcer.warn_once(job, reason=EVENT_NAME_TAKEN, note=note, action="CreateGroup")
            return NAME_TAKEN_SECONDS
        except KindMissing:
            # The next look finds the same and says so.
            return LATER_SECONDS
        except InvalidObject as error:
            self._tools.announcer.warn_once(
                job, reason=EVENT_INVALID_GANG_SETTINGS, note=str(error), action="CreateGroupObject"
            )
            return None
        return planned.look_again_seconds

    async def _learn(self, job: Job, news: Outdated) -> None:
        jobs = self._tools.jobs
        if isinstance(news, JobGone):
            jobs.remove(job)
            return
        try:
            jobs.put(
                msgspec.convert(await self._tools.client.get(JOBS, job.metadata.name, job.metadata.namespace), Job)
            )
        except NotFound:
            jobs.remove(job)
