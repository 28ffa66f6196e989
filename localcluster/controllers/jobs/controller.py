"""The Job controller: follows Jobs and their pods, looks at one Job at a time, and carries out what follows.

A look decides nothing until all earlier writes for that Job are visible (`expectations`), so a stale view never makes a pod
twice. What it keeps in memory (failures in a row) is what the stock controller keeps there too.
"""

import random as randomness
from collections.abc import Callable
from typing import Final

from api.meta import controller_of
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.errors import Conflict
from kube.client.events import EventRecorder
from kube.client.resources import JOBS, PODS
from localcluster.controllers.documents import Whole, WholeDecoder
from localcluster.controllers.expectations import Expectations
from localcluster.controllers.following import follow
from localcluster.controllers.jobs.assess import assess
from localcluster.controllers.jobs.backoff import BASE_SECONDS, Failures
from localcluster.controllers.jobs.conclude import finished_events, flush_uncounted, note
from localcluster.controllers.jobs.model import CONTROLLER_UID_LABEL, Job
from localcluster.controllers.jobs.orphans import release_orphan
from localcluster.controllers.jobs.plan import plan_pods
from localcluster.controllers.jobs.pod_control import PodControl
from localcluster.controllers.jobs.pods import Pod
from localcluster.controllers.jobs.ttl import delete_expired, seconds_left
from localcluster.controllers.times import Now

WORKERS: Final = 8
BATCH_SECONDS: Final = 0.1
"""Changes of pods are looked at together after so long: a Job of a thousand pods is not looked at a thousand times."""

LOOK_AGAIN_SECONDS: Final = 1.0

Key = tuple[str, str]


class JobController:
    """Runs Jobs until cancelled."""

    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        *,
        now: Now,
        clock: Callable[[], float],
        random: randomness.Random,
        backoff_seconds: float = BASE_SECONDS,
    ) -> None:
        self._client = client
        self._now = now
        self._clock = clock
        self._backoff_seconds = backoff_seconds
        self._pod_control = PodControl(client, recorder)
        self._expectations: dict[str, Expectations] = {}
        self._failures: dict[str, Failures] = {}
        self.jobs = Informer[Whole[Job]](client, JOBS, WholeDecoder(Job), clock=clock, random=random)
        self.pods = Informer[Pod](
            client,
            PODS,
            ListDecoder(Pod),
            label_selector=CONTROLLER_UID_LABEL,
            indexers={"job": lambda pod: (_job_uid(pod),)},
            clock=clock,
            random=random,
        )
        self._queue = WorkQueue[Key](self._look, workers=WORKERS, clock=clock, random=random)
        self._orphans = WorkQueue[Key](self._look_at_orphan, workers=WORKERS, clock=clock, random=random)
        self._expiring = WorkQueue[Key](self._look_at_age, workers=2, clock=clock, random=random)
        self.jobs.add_handler(self._job_changed)
        self.pods.add_handler(self._pod_changed)

    async def run(self) -> None:
        """Runs the informers, then the queues."""
        await follow((self.jobs, self.pods), self._queue, self._orphans, self._expiring)

    # --- what to look at ---------------------------------------------------------------------------------------------

    def _job_changed(self, change: Change[Whole[Job]]) -> None:
        whole = change.new or change.old
        if whole is None:
            return
        key = whole.metadata.key
        self._queue.add(key)
        if whole.view.spec.ttl_seconds_after_finished is not None:
            self._expiring.add(key)
        if change.new is None:
            self._forget(whole.metadata.uid)
        if change.new is None or whole.view.is_finished:
            for pod in self.pods.store.by_index("job", whole.metadata.uid):
                self._orphans.add(pod.metadata.key)

    def _pod_changed(self, change: Change[Pod]) -> None:
        pod = change.new or change.old
        if pod is None:
            return
        owner = controller_of(pod.metadata)
        if owner is None:
            # The garbage collector takes the reference to a Job that is gone off a pod that has another owner, too.
            if pod.is_tracked:
                self._orphans.add(pod.metadata.key)
            return
        if owner.kind != JOBS.kind:
            return
        self._queue.add_after((pod.metadata.namespace, owner.name), BATCH_SECONDS)
        job = self.jobs.store.by_uid(owner.uid)
        if pod.is_tracked and (job is None or job.view.is_finished):
            self._orphans.add(pod.metadata.key)

    def _forget(self, uid: str) -> None:
        self._expectations.pop(uid, None)
        self._failures.pop(uid, None)

    # --- one Job -----------------------------------------------------------------------------------------------------

    async def _look(self, key: Key) -> float | None:
        whole = self.jobs.store.get(*key)
        if whole is None or not whole.view.is_ours:
            return None
        uid = whole.metadata.uid
        if whole.view.is_finished:
            self._forget(uid)
            return None
        expectations = self._expectations.setdefault(uid, Expectations())
        if expectations.is_unsure:
            await self._find_unknown(whole.view, expectations)
        pods = {pod.metadata.uid: pod for pod in self.pods.store.by_index("job", uid)}
        if not expectations.satisfied(whole.metadata.resource_version, pods, self._clock()):
            return LOOK_AGAIN_SECONDS
        try:
            return await self._act(whole, list(pods.values()), expectations)
        except Conflict:
            return BATCH_SECONDS  # the Job changed meanwhile: its new version is on its way here

    async def _act(self, whole: Whole[Job], pods: list[Pod], expectations: Expectations) -> float | None:
        job, now = whole.view, self._now()
        seen = assess(job, pods, self._failures.get(job.metadata.uid, Failures()), now)
        plan = plan_pods(seen, now, backoff_seconds=self._backoff_seconds)
        expectations.since = self._clock()
        outcome = await self._pod_control.carry_out(whole.document, plan, expectations)
        noted = note(seen, outcome.handled, now)
        document = whole.document
        if noted.status != job.status:
            document = await self._pod_control.write_status(document, noted.status)
            expectations.version = int(document["metadata"]["resourceVersion"])
        for happening in noted.happenings:
            self._pod_control.tell(job, happening)
        self._failures[job.metadata.uid] = seen.failures
        released, error = await self._pod_control.release(noted.release, expectations)
        tracked = {pod.metadata.uid for pod in seen.pods if pod.is_tracked} - released
        flushed = flush_uncounted(noted, tracked, self._now())
        if flushed != noted.status:
            document = await self._pod_control.write_status(document, flushed)
            expectations.version = int(document["metadata"]["resourceVersion"])
            if flushed.holds("Complete") or flushed.holds("Failed"):
                for happening in finished_events(noted.ending) if noted.ending else ():
                    self._pod_control.tell(job, happening)
        if outcome.error or error:
            raise outcome.error or error or AssertionError
        return plan.again_seconds if noted.is_all else 0.0

    async def _find_unknown(self, job: Job, expectations: Expectations) -> None:
        """Reads the Job's pods from the server, so that one whose creation was not confirmed is waited for."""
        selector = f"{CONTROLLER_UID_LABEL}={job.metadata.uid}"
        found = await self._client.list(PODS, job.metadata.namespace, label_selector=selector)
        expectations.creations |= {pod["metadata"]["uid"] for pod in found["items"]}
        expectations.since = self._clock()
        expectations.is_unsure = False

    # --- what is left of a Job ---------------------------------------------------------------------------------------

    async def _look_at_orphan(self, key: Key) -> float | None:
        pod = self.pods.store.get(*key)
        if pod is not None:
            owner = controller_of(pod.metadata)
            job = self.jobs.store.by_uid(owner.uid) if owner is not None else None
            await release_orphan(self._client, pod, job, owner)
        return None

    async def _look_at_age(self, key: Key) -> float | None:
        whole = self.jobs.store.get(*key)
        left = seconds_left(whole.view, self._now()) if whole is not None else None
        if whole is None or left is None:
            return None
        if left > 0:
            return left
        await delete_expired(self._client, whole.view)
        return None


def _job_uid(pod: Pod) -> str:
    owner = controller_of(pod.metadata)
    return owner.uid if owner is not None and owner.kind == JOBS.kind else ""
