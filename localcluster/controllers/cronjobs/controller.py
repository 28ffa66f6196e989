"""The CronJob controller: looks at a CronJob when it or one of its Jobs changes, and when its time has come."""

import contextlib
import copy
import datetime
import random as randomness
from collections.abc import Callable
from typing import Any, Final

import msgspec

from api.meta import controller_of
from kube.cache.informer import Change, Informer
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.errors import AlreadyExists, AnsweredError, Conflict, KubeError, NotFound
from kube.client.events import EventRecorder, ObjectReference
from kube.client.resources import CRON_JOBS, JOBS
from localcluster.controllers.cronjobs.model import CronJob, CronJobStatus, JobReference
from localcluster.controllers.cronjobs.plan import CronPlan, job_name, plan_cron_job
from localcluster.controllers.cronjobs.schedule import zone_of
from localcluster.controllers.documents import Document, Whole, WholeDecoder
from localcluster.controllers.following import follow
from localcluster.controllers.jobs.conclude import Happening
from localcluster.controllers.jobs.model import Job
from localcluster.controllers.times import Now, render_time

SCHEDULED_AT: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
LATE_SECONDS: Final = 0.1
"""A look comes so much after the scheduled moment, never before it."""

SETTLE_SECONDS: Final = 0.2

Key = tuple[str, str]


class CronJobController:
    """Runs CronJobs until cancelled."""

    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        *,
        now: Now,
        clock: Callable[[], float],
        random: randomness.Random,
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._now = now
        self._written: dict[str, int] = {}
        self.cron_jobs = Informer[Whole[CronJob]](client, CRON_JOBS, WholeDecoder(CronJob), clock=clock, random=random)
        self.jobs = Informer[Whole[Job]](
            client,
            JOBS,
            WholeDecoder(Job),
            indexers={"owner": lambda whole: (_owner_uid(whole.view),)},
            clock=clock,
            random=random,
        )
        self._queue = WorkQueue[Key](self._look, workers=4, clock=clock, random=random)
        self.cron_jobs.add_handler(self._changed)
        self.jobs.add_handler(self._job_changed)

    async def run(self) -> None:
        """Runs the informers, then the queue."""
        await follow((self.cron_jobs, self.jobs), self._queue)

    def _changed(self, change: Change[Whole[CronJob]]) -> None:
        if change.new is not None:
            self._queue.add(change.new.metadata.key)
        elif change.old is not None:
            self._written.pop(change.old.metadata.uid, None)

    def _job_changed(self, change: Change[Whole[Job]]) -> None:
        whole = change.new or change.old
        owner = controller_of(whole.metadata) if whole is not None else None
        if whole is not None and owner is not None and owner.kind == CRON_JOBS.kind:
            self._queue.add_after((whole.metadata.namespace, owner.name), SETTLE_SECONDS)

    async def _look(self, key: Key) -> float | None:
        whole = self.cron_jobs.store.get(*key)
        if whole is None:
            return None
        version = whole.metadata.resource_version
        if version.isdigit() and int(version) < self._written.get(whole.metadata.uid, 0):
            return SETTLE_SECONDS  # our own last write has not arrived here yet
        jobs = await self._jobs_of(whole.view)
        now = self._now()
        plan = plan_cron_job(whole.view, jobs, now)
        try:
            status = await self._carry_out(whole, plan)
            if status != whole.view.status:
                await self._write(whole.document, status)
        except Conflict:
            return SETTLE_SECONDS  # it changed under our hands: its new version is on its way here
        return None if plan.next is None else max(0.0, (plan.next - now).total_seconds()) + LATE_SECONDS

    async def _jobs_of(self, cron: CronJob) -> list[Job]:
        """Its Jobs; one that the status names and we do not know yet is asked for, before it is taken for missing."""
        jobs = [each.view for each in self.jobs.store.by_index("owner", cron.metadata.uid)]
        known = {job.metadata.uid for job in jobs}
        for reference in cron.status.active:
            if reference.uid not in known:
                with contextlib.suppress(NotFound):
                    found = await self._client.get(JOBS, reference.name, reference.namespace)
                    if found["metadata"]["uid"] == reference.uid:
                        jobs.append(msgspec.convert(found, Job))
        return jobs

    async def _carry_out(self, whole: Whole[CronJob], plan: CronPlan) -> CronJobStatus:
        for happening in plan.happenings:
            self._tell(whole.view, happening)
        for job in plan.forget:
            await self._delete(whole.view, job.metadata.namespace, job.metadata.name, job.metadata.uid)
        status = plan.status
        if plan.start is None:
            return status
        for running in plan.replace:
            await self._delete(whole.view, running.namespace, running.name, running.uid)
            kept = tuple(each for each in status.active if each.uid != running.uid)
            status = msgspec.structs.replace(status, active=kept)
        made = await self._create(whole, plan.start)
        if made is None:
            return status
        reference = JobReference(
            "batch/v1",
            "Job",
            made["metadata"]["name"],
            made["metadata"]["namespace"],
            made["metadata"]["uid"],
            made["metadata"]["resourceVersion"],
        )
        active = (*status.active, reference)
        return msgspec.structs.replace(status, active=active, last_schedule_time=render_time(plan.start))

    async def _create(self, whole: Whole[CronJob], start: datetime.datetime) -> Document | None:
        """The Job of that moment, made now or by a look whose end was lost; None when it is somebody else's."""
        cron, body = whole.view, job_of(whole, start)
        namespace = cron.metadata.namespace
        try:
            made = await self._client.create(JOBS, body, namespace)
        except AlreadyExists:
            found = await self._client.get(JOBS, body["metadata"]["name"], namespace)
            owners = found["metadata"].get("ownerReferences") or []
            is_ours = any(each["uid"] == cron.metadata.uid and each.get("controller") for each in owners)
            return found if is_ours else None
        except KubeError as error:
            message = error.message if isinstance(error, AnsweredError) else str(error)
            self._tell(cron, Happening("FailedCreate", f"Error creating job: {message}", is_warning=True))
            raise
        self._tell(cron, Happening("SuccessfulCreate", f"Created job {made['metadata']['name']}"))
        return made

    async def _delete(self, cron: CronJob, namespace: str, name: str, uid: str) -> None:
        try:
            await self._client.delete(JOBS, name, namespace, uid=uid)
        except (NotFound, Conflict):
            return
        self._tell(cron, Happening("SuccessfulDelete", f"Deleted job {name}"))

    async def _write(self, document: Document, status: CronJobStatus) -> None:
        meta = document["metadata"]
        body = {**document, "status": msgspec.to_builtins(status)}
        written = await self._client.replace(CRON_JOBS, body, meta["name"], meta["namespace"], subresource="status")
        self._written[meta["uid"]] = int(written["metadata"]["resourceVersion"])

    def _tell(self, cron: CronJob, happening: Happening) -> None:
        meta = cron.metadata
        self._recorder.record(
            ObjectReference("batch/v1", "CronJob", meta.namespace, meta.name, meta.uid),
            reason=happening.reason,
            note=happening.note,
            type="Warning" if happening.is_warning else "Normal",
            action="Sync",
        )


def job_of(whole: Whole[CronJob], start: datetime.datetime) -> dict[str, Any]:
    """The manifest of the Job of that moment."""
    cron = whole.view
    template = copy.deepcopy(whole.document["spec"]["jobTemplate"])
    head = template.get("metadata") or {}
    owner = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "name": cron.metadata.name,
        "uid": cron.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    local = start.astimezone(zone_of(cron.spec.time_zone)).isoformat(timespec="seconds")
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(cron, start),
            "namespace": cron.metadata.namespace,
            "labels": dict(head.get("labels") or {}),
            "annotations": {**(head.get("annotations") or {}), SCHEDULED_AT: local.replace("+00:00", "Z")},
            "ownerReferences": [owner],
        },
        "spec": template["spec"],
    }


def _owner_uid(job: Job) -> str:
    owner = controller_of(job.metadata)
    return owner.uid if owner is not None and owner.kind == CRON_JOBS.kind else ""
