"""The JobSet controller with its webhooks: looks at one JobSet at a time, decides, writes. A stand-in for the real one."""

import random as randomness
from collections.abc import Callable
from typing import Final

import msgspec

from api.constants import JOBSET_NAME
from api.job import Job
from api.meta import Metadata, controller_of
from kube.cache.informer import Change, Informer
from kube.cache.store import Key
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, NotFound
from kube.client.events import EventRecorder, ObjectReference
from kube.client.resources import JOB_SETS, JOBS, SERVICES
from localcluster.controllers.admission.server import Serve, serving
from localcluster.controllers.documents import Whole, WholeDecoder
from localcluster.controllers.following import follow
from localcluster.controllers.jobsets.admission.review import Reviewer
from localcluster.controllers.jobsets.ends import End
from localcluster.controllers.jobsets.installation import INSTALLATION
from localcluster.controllers.jobsets.manifests import child, child_name, resumed, service
from localcluster.controllers.jobsets.model import FAILED, JobSet, Part, part_of
from localcluster.controllers.jobsets.plan import Plan, plan
from localcluster.controllers.jobsets.status import status_of
from localcluster.controllers.times import Now, parse_time, render_time

WORKERS: Final = 8
CHANGED_SECONDS: Final = 0.05
LOOK_AGAIN_SECONDS: Final = 1.0


class JobSetController:
    """Runs JobSets until cancelled."""

    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        *,
        now: Now,
        clock: Callable[[], float],
        random: randomness.Random,
        serve: Serve = serving,
    ) -> None:
        self._client = client
        self._serve = serve
        self._recorder = recorder
        self._now = now
        self.jobsets = Informer[Whole[JobSet]](client, JOB_SETS, WholeDecoder(JobSet), clock=clock, random=random)
        self.jobs = Informer[Whole[Job]](
            client,
            JOBS,
            WholeDecoder(Job),
            label_selector=JOBSET_NAME,
            indexers={"jobset": lambda job: (_owner_uid(job.metadata),)},
            clock=clock,
            random=random,
        )
        self._queue = WorkQueue[Key](self._look, workers=WORKERS, clock=clock, random=random)
        self.jobsets.add_handler(self._jobset_changed)
        self.jobs.add_handler(self._job_changed)

    async def run(self) -> None:
        """Installs the webhooks and the kind, then runs the informers and the queue."""
        async with (
            self._serve("jobset", Reviewer(self._client)) as admission,
            INSTALLATION.registered(self._client, admission),
        ):
            # Nobody makes a JobSet that its webhooks have not seen: they are there before the kind is.
            await INSTALLATION.define(self._client)
            await follow((self.jobsets, self.jobs), self._queue)

    def _jobset_changed(self, change: Change[Whole[JobSet]]) -> None:
        if (whole := change.new or change.old) is not None:
            self._queue.add(whole.metadata.key)

    def _job_changed(self, change: Change[Whole[Job]]) -> None:
        job = change.new or change.old
        owner = controller_of(job.metadata) if job is not None else None
        if job is not None and owner is not None and owner.kind == JOB_SETS.kind:
            self._queue.add((job.metadata.namespace, owner.name))

    async def _look(self, key: Key) -> float | None:
        whole = self.jobsets.store.get(*key)
        if whole is None or whole.metadata.is_terminating or whole.view.spec.managed_by:
            return None
        try:
            return await self._act(whole)
        except Conflict:
            return CHANGED_SECONDS
        except NotFound:
            return LOOK_AGAIN_SECONDS  # something of it is gone, and we shall hear of it

    async def _act(self, whole: Whole[JobSet]) -> float | None:
        children = {job.metadata.uid: job for job in self.jobs.store.by_index("jobset", whole.metadata.uid)}
        decided = plan(whole.view, [job.view for job in children.values()])
        # What has ended is said before anything is done about it: a restart is known before its children go.
        await self._write_status(whole, decided)
        for job in decided.delete:
            await self._delete(job)
        if decided.create and whole.view.subdomain:
            await self._create_service(whole)
        # A name that is taken keeps nobody else from being made.
        taken = [name for part, index in decided.create if (name := await self._create(whole, part, index))]
        for job in decided.suspend:
            document = children[job.metadata.uid].document
            await self._replace({**document, "spec": {**document["spec"], "suspend": True}})
        for job in decided.resume:
            await self._replace(resumed(children[job.metadata.uid].document, whole.document, part_of(job)))
        return LOOK_AGAIN_SECONDS if taken else await self._expire(whole)

    async def _write_status(self, whole: Whole[JobSet], decided: Plan) -> None:
        status = status_of(whole.view, decided, render_time(self._now()))
        if status == whole.view.status:
            return
        meta = whole.metadata
        body = {**whole.document, "status": msgspec.to_builtins(status)}
        await self._client.replace(JOB_SETS, body, meta.name, meta.namespace, subresource="status")
        if decided.end is not None:
            self._tell_end(whole, decided.end)

    async def _delete(self, job: Job) -> None:
        meta = job.metadata
        await self._client.delete(JOBS, meta.name, meta.namespace, uid=meta.uid, propagation="Foreground")

    async def _create_service(self, whole: Whole[JobSet]) -> None:
        try:
            await self._client.create(SERVICES, service(whole.view), whole.metadata.namespace, parse=False)
        except AlreadyExists:
            return

    async def _create(self, whole: Whole[JobSet], part: Part, index: int) -> str:
        """Creates a child; its name when somebody else has it."""
        name, namespace = child_name(whole.view, part, index), whole.metadata.namespace
        try:
            await self._client.create(JOBS, child(whole.view, whole.document, part, index), namespace, parse=False)
        except AlreadyExists:
            found = msgspec.convert(await self._client.get(JOBS, name, namespace), Job)
            if _owner_uid(found.metadata) == whole.metadata.uid:
                return ""
            self._tell(whole, "JobCreationFailed", f'job "{name}" already exists', is_warning=True)
            return name
        return ""

    async def _replace(self, document: dict[str, object]) -> None:
        job = msgspec.convert(document, Job)
        await self._client.replace(JOBS, document, job.metadata.name, job.metadata.namespace)

    async def _expire(self, whole: Whole[JobSet]) -> float | None:
        """Deletes a finished JobSet once its time is over; seconds until then."""
        ttl_seconds, meta = whole.view.spec.ttl_seconds_after_finished, whole.metadata
        if ttl_seconds is None or not whole.view.is_finished:
            return None
        ends = (each for each in whole.view.status.conditions or () if each.type in {"Completed", FAILED})
        ended = parse_time(next(ends).last_transition_time)
        left = ttl_seconds - (self._now() - ended).total_seconds() if ended is not None else 0.0
        if left > 0:
            return left
        await self._client.delete(JOB_SETS, meta.name, meta.namespace, uid=meta.uid, propagation="Foreground")
        return None

    def _tell_end(self, whole: Whole[JobSet], end: End) -> None:
        self._tell(whole, end.reason, end.message, is_warning=end.condition != "Completed")

    def _tell(self, whole: Whole[JobSet], reason: str, note: str, *, is_warning: bool) -> None:
        meta = whole.metadata
        self._recorder.record(
            ObjectReference(JOB_SETS.api_version, JOB_SETS.kind, meta.namespace, meta.name, meta.uid),
            reason=reason,
            note=note,
            type="Warning" if is_warning else "Normal",
            action="Sync",
        )


def _owner_uid(metadata: Metadata) -> str:
    owner = controller_of(metadata)
    return owner.uid if owner is not None and owner.kind == JOB_SETS.kind else ""
