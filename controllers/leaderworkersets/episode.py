"""What is watched and done while the cluster knows LeaderWorkerSets: stores, informers, work queue.

The sets themselves come by kopf, leaders and StatefulSets by informers on the labels of LeaderWorkerSets; worker pods are not
watched. Nothing is reconciled before the informers have listed.
"""

import asyncio
import random as randomness
from dataclasses import dataclass
from typing import Any, Final

from api.constants import (
    CONDITION_SCHEDULED,
    EVENT_FAILED_SCHEDULING,
    LEADER_INDEX,
    LWS_GROUP_INDEX,
    LWS_NAME,
    LWS_WORKER_INDEX,
    MANAGED,
)
from api.lws import LWS_KIND, LeaderWorkerSet
from api.meta import condition_of, controller_of
from api.podgroup import PodGroup, Workload
from controllers.announcer import Announcer, Recorder
from controllers.fresh import Fresh
from controllers.handover import handing_over_to
from controllers.job_watch import WatchEnded, kopf_settings, watch_until_it_ends, watching_registry
from controllers.leaderworkersets.execute import SetTools
from controllers.leaderworkersets.observe import LEADER_INDEXERS, STATEFUL_SET_INDEXERS, GroupObjects, SetObserver
from controllers.leaderworkersets.observed import ReplicaPod, StatefulSet, set_of
from controllers.leaderworkersets.plan import SetRules
from controllers.leaderworkersets.reconcile import SetReconciler
from controllers.metrics import Metrics
from controllers.missed_deletions import forget_deleted
from controllers.owner_store import OwnerStore
from controllers.provider_groups import ProviderGroups
from controllers.settings import ControllersSettings
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.cache.store import Key
from kube.cache.workqueue import WorkQueue
from kube.client.client import Client
from kube.client.resources import LEADER_WORKER_SETS, PODS, STATEFUL_SETS
from kube.groups.group_api import GroupAPI
from providers.selection import Providers

RESYNC_SPREAD: Final = 0.1
_LEADERS: Final = f"{LWS_WORKER_INDEX}={LEADER_INDEX},{MANAGED}"


@dataclass(frozen=True, slots=True)
class Shared:
    """What this part shares with the rest of the process."""

    client: Client
    group_api: GroupAPI
    settings: ControllersSettings
    providers: Providers
    workloads: Fresh[Workload]
    pod_groups: Fresh[PodGroup]
    provider_groups: ProviderGroups
    recorder: Recorder
    metrics: Metrics
    random: randomness.Random


class Episode:
    """From the moment the kind is served until it is not."""

    def __init__(self, shared: Shared) -> None:
        client = shared.client
        self._shared = shared
        self.sets: OwnerStore[LeaderWorkerSet] = OwnerStore()
        self.leaders: Informer[ReplicaPod] = Informer(
            client, PODS, ListDecoder(ReplicaPod), label_selector=_LEADERS, indexers=LEADER_INDEXERS
        )
        self.stateful_sets: Informer[StatefulSet] = Informer(
            client, STATEFUL_SETS, ListDecoder(StatefulSet), label_selector=LWS_NAME, indexers=STATEFUL_SET_INDEXERS
        )
        leaders = Fresh(self.leaders.store, LEADER_INDEXERS)
        self.observer = SetObserver(
            client,
            leaders=leaders,
            stateful_sets=self.stateful_sets.store,
            workloads=shared.workloads,
            pod_groups=shared.pod_groups,
            group_objects=GroupObjects(shared.providers, shared.provider_groups),
        )
        announcer = self._announcer = Announcer(shared.recorder, LEADER_WORKER_SETS, is_there=self.sets.has)
        self.queue: WorkQueue[Key] = WorkQueue(
            _reconciler(shared, self.sets, leaders, self.observer, announcer),
            workers=shared.settings.workers,
            random=shared.random,
        )
        shared.metrics.follow_queue(LWS_KIND, lambda: float(len(self.queue)))
        self.sets.on_change(self.queue.add)
        self.sets.on_leave(announcer.forget)
        self.leaders.add_handler(leaders.caught_up)
        self.leaders.add_handler(self._leader_changed)
        self.stateful_sets.add_handler(self._stateful_set_changed)

    @property
    def informers(self) -> tuple[tuple[str, Informer[Any]], ...]:
        """What is followed, with a name for people."""
        return (("leader pods", self.leaders), ("StatefulSets", self.stateful_sets))

    async def run(self) -> None:
        """Work until cancelled, or until LeaderWorkerSets cannot be watched any more.

        Raises:
            WatchEnded: that.
        """
        ended: WatchEnded | None = None
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.leaders.run()), group.create_task(self.stateful_sets.run())]
            await self.leaders.synced.wait()
            await self.stateful_sets.synced.wait()
            tasks += [group.create_task(self.queue.run()), group.create_task(self._resync())]
            credentials = self._shared.client.credentials
            registry = watching_registry(credentials, LEADER_WORKER_SETS, LeaderWorkerSet, handing_over_to(self.sets))
            try:
                await watch_until_it_ends(registry, kopf_settings(), "LeaderWorkerSets")
            except WatchEnded as end:
                ended = end
            for task in tasks:
                task.cancel()
        if ended is not None:
            raise ended

    def add(self, keys: set[Key]) -> None:
        """These sets are to be looked at, if they are there."""
        for key in keys:
            if self.sets.get(key) is not None:
                self.queue.add(key)

    def tell_why(self, group: PodGroup) -> None:
        """A group that waits says why on its LeaderWorkerSet, too, where people look first; once per reason."""
        said = condition_of(group.status.conditions or (), CONDITION_SCHEDULED)
        if said is None or said.status != "False" or not said.message:
            return
        for key in self.observer.sets_of_group(group):
            lws = self.sets.get(key)
            if lws is not None:
                index = group.metadata.label(LWS_GROUP_INDEX)
                note = f"replica {index}: {said.message}"
                self._announcer.warn_once(lws, reason=EVENT_FAILED_SCHEDULING, note=note, action="Scheduling")

    # --- inside --------------------------------------------------------------------------------------------------------

    async def _resync(self) -> None:
        period_seconds = self._shared.settings.resync_seconds
        while True:
            await asyncio.sleep(period_seconds)
            await forget_deleted(self.sets, self._shared.client, LEADER_WORKER_SETS)
            for key in self.sets.keys():  # noqa: SIM118 (the store is no mapping)
                self.queue.add_after(key, self._shared.random.uniform(0, period_seconds * RESYNC_SPREAD))

    def _leader_changed(self, change: Change[ReplicaPod]) -> None:
        if change.old is not None and change.new is not None and _says_the_same(change.old, change.new):
            return
        leader = change.new if change.new is not None else change.old
        if leader is not None:
            self.add(set(set_of(leader.metadata)))

    def _stateful_set_changed(self, change: Change[StatefulSet]) -> None:
        old, new = change.old, change.new
        if old is not None and new is not None and old.spec == new.spec and _same_owner(old, new):
            return
        changed = new if new is not None else old
        if changed is not None:
            self.add(set(set_of(changed.metadata)))


def _says_the_same(old: ReplicaPod, new: ReplicaPod) -> bool:
    """Whether only what plans do not look at moved (the rest of a pod's status, mostly)."""
    before, after = old.metadata, new.metadata
    return (
        (before.uid, before.labels, before.annotations) == (after.uid, after.labels, after.annotations)
        and before.is_terminating == after.is_terminating
        and (old.spec, old.status) == (new.spec, new.status)
    )


def _same_owner(old: StatefulSet, new: StatefulSet) -> bool:
    return controller_of(old.metadata) == controller_of(new.metadata)


def _reconciler(
    shared: Shared,
    sets: OwnerStore[LeaderWorkerSet],
    leaders: Fresh[ReplicaPod],
    observer: SetObserver,
    announcer: Announcer,
) -> SetReconciler:
    tools = SetTools(
        client=shared.client,
        group_api=shared.group_api,
        providers=shared.providers,
        sets=sets,
        leaders=leaders,
        workloads=shared.workloads,
        pod_groups=shared.pod_groups,
        announcer=announcer,
        metrics=shared.metrics,
        provider_groups=shared.provider_groups,
    )
    gang_sets = shared.settings.feature_gates.gang_leader_worker_sets
    rules = SetRules(shared.providers, shared.group_api.workloads.api_version, gang_sets=gang_sets)
    return SetReconciler(tools, observer, rules)
