"""One LeaderWorkerSet: its revision, the StatefulSet of its leaders, the shared service, the status."""

from kube.client.errors import Conflict, NotFound
from localcluster.controllers.documents import Document, Whole
from localcluster.controllers.leaderworkersets.manifests import leader_set, shared_service
from localcluster.controllers.leaderworkersets.model import LeaderWorkerSet
from localcluster.controllers.leaderworkersets.names import REPLICAS_ANNOTATION
from localcluster.controllers.leaderworkersets.object_control import UPDATING, ObjectControl
from localcluster.controllers.leaderworkersets.revisions import key_of, latest, new_revision
from localcluster.controllers.leaderworkersets.rollout import Leaders, Target, most_unavailable, next_target
from localcluster.controllers.leaderworkersets.status import status_update
from localcluster.controllers.leaderworkersets.view import View, states
from localcluster.controllers.statefulsets.model import StatefulSet
from localcluster.controllers.statefulsets.revisions import holds_same, next_number
from localcluster.controllers.times import Now, render_time

AGAIN_SECONDS = 0.05
TAKEN_SECONDS = 1.0
"""When to look again at a name that is still somebody else's."""


class SetReconciler:
    """Brings one LeaderWorkerSet forward."""

    def __init__(self, view: View, control: ObjectControl, now: Now) -> None:
        self._view = view
        self._control = control
        self._now = now

    async def __call__(self, key: tuple[str, str]) -> float | None:
        """Looks at the LeaderWorkerSet of that name; when to look again."""
        lws = self._view.lws.store.get(*key)
        if lws is None or lws.metadata.is_terminating:
            return None
        try:
            return await self._bring_forward(lws)
        except (Conflict, NotFound):
            return AGAIN_SECONDS  # something changed or went meanwhile: the news is on its way here

    async def _bring_forward(self, lws: Whole[LeaderWorkerSet]) -> float | None:
        view, leaders = lws.view, self._view.leader_set(lws)
        revision, is_new = await self._revision(lws, leaders)
        key = key_of(revision)
        groups = [self._view.group(pod, key, size=view.size) for pod in self._view.leaders(leaders)]
        now_there = None if leaders is None else _seen(leaders)
        count = 0 if leaders is None else leaders.view.spec.replicas
        target = next_target(view, now_there, states(groups, count), is_new_revision=is_new)
        wanted = leader_set(
            lws.document,
            partition=target.partition,
            replicas=target.replicas,
            unavailable=most_unavailable(view),
            key=key,
        )
        if leaders is None:
            if not await self._control.create_set(lws.document, wanted, f"leader statefulset {lws.metadata.name}"):
                return TAKEN_SECONDS
        else:
            await self._apply(lws, leaders, wanted, target)
        if not view.has_own_subdomains and self._view.services.store.get(*lws.metadata.key) is None:
            await self._control.create_service(shared_service(lws.document))
        reported = 0 if leaders is None else leaders.view.status.replicas
        update = status_update(view, groups, leaders=reported, now=render_time(self._now()))
        if update.status != view.status:
            await self._control.write_status(lws.document, update.status)
        for condition in update.news[:1]:
            ready = f"{update.status.ready_replicas} groups ready of total {view.spec.replicas} groups"
            self._control.tell(lws.document, condition.reason, f"{condition.message}, with {ready}")
        if update.is_done and not is_new:
            for old in self._view.history(lws):
                if key_of(old) != key:
                    await self._control.delete_revision(old)
        return None

    async def _revision(self, lws: Whole[LeaderWorkerSet], leaders: Whole[StatefulSet] | None) -> tuple[Document, bool]:
        """The revision that the leaders are to follow, and whether that is another than the one they name."""
        history = self._view.history(lws)
        number = next_number(history)
        newest = new_revision(lws.document, number)
        if leaders is None:
            same = [each for each in history if holds_same(each, newest)]
            found = max(same, key=lambda each: int(each["revision"]), default=None)
            return found or await self._control.create_revision(lws.document, newest), False
        named = latest(history, key_of(leaders.document))
        if named is None:
            missing = new_revision(lws.document, number, key_of(leaders.document))
            named = await self._control.create_revision(lws.document, missing)
        if holds_same(named, newest):
            return named, False
        top = max(history, key=lambda each: int(each["revision"]), default=named)
        if holds_same(top, newest):
            return top, True
        newer = new_revision(lws.document, next_number([*history, named]))
        return await self._control.create_revision(lws.document, newer), True

    async def _apply(
        self, lws: Whole[LeaderWorkerSet], leaders: Whole[StatefulSet], wanted: Document, target: Target
    ) -> None:
        merged = _merged(leaders.document, wanted)
        if merged == leaders.document:
            return
        before = leaders.view.spec.update_strategy.rolling_update.partition
        await self._control.replace_set(merged)
        if key_of(wanted) == key_of(leaders.document) and before != target.partition:
            self._control.tell(lws.document, UPDATING, f"Updating replicas {before} to {target.partition}")


def _seen(leaders: Whole[StatefulSet]) -> Leaders:
    spec = leaders.view.spec
    recorded = leaders.metadata.annotation(REPLICAS_ANNOTATION) or ""
    wanted = int(recorded) if recorded.isascii() and recorded.isdigit() else spec.replicas
    return Leaders(spec.replicas, spec.update_strategy.rolling_update.partition, wanted)


def _merged(live: Document, wanted: Document) -> Document:
    """The live StatefulSet with what is wanted of it.

    The template is replaced when it is of another revision or lacks what we put on it; otherwise the server's defaults in it
    stay, and what others added.
    """
    head, spec = dict(live["metadata"]), dict(live["spec"])
    for field in ("labels", "annotations"):
        head[field] = {**(head.get(field) or {}), **(wanted["metadata"].get(field) or {})}
    spec |= {key: value for key, value in wanted["spec"].items() if key in {"replicas", "updateStrategy"}}
    if wanted["spec"].get("persistentVolumeClaimRetentionPolicy"):
        spec["persistentVolumeClaimRetentionPolicy"] = wanted["spec"]["persistentVolumeClaimRetentionPolicy"]
    if not _has_all(live["spec"]["template"]["metadata"], wanted["spec"]["template"]["metadata"]):
        spec["template"] = wanted["spec"]["template"]
    return {**live, "metadata": head, "spec": spec}


def _has_all(head: Document, wanted: Document) -> bool:
    return all(
        (head.get(field) or {}).items() >= (wanted.get(field) or {}).items() for field in ("labels", "annotations")
    )
