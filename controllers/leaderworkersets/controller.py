"""Looks after LeaderWorkerSets while the cluster knows them: what is followed, and which sets are looked at when something changes.

Leaders and StatefulSets are followed by the labels of LeaderWorkerSets; worker pods are not watched. Nothing is reconciled before
everything has been listed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
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
from api.lws import LeaderWorkerSet
from api.meta import Metadata, condition_of, controller_of
from api.podgroup import PodGroup, Workload
from controllers.context import ControllerContext
from controllers.events import DedupEventRecorder
from controllers.gangs.common_steps import Rules
from controllers.gangs.controller import Controller
from controllers.gangs.reconciler import Reconciler
from controllers.gangs.tools import tools_of
from controllers.leaderworkersets.execute import SetTools, execute
from controllers.leaderworkersets.observe import LEADER_INDEXERS, STATEFUL_SET_INDEXERS, GroupObjects, SetObserver
from controllers.leaderworkersets.observed import ObservedSet, ReplicaPod, StatefulSet, set_of
from controllers.leaderworkersets.plan import plan
from controllers.mutation_cache import MutationCache
from controllers.owner_cache import OwnerCache
from kube.cache.decoding import ListDecoder
from kube.cache.informer import Change, Informer
from kube.client.resources import LEADER_WORKER_SETS, PODS, STATEFUL_SETS

_LEADERS: Final = f"{LWS_WORKER_INDEX}={LEADER_INDEX},{MANAGED}"


class SetController(Controller[LeaderWorkerSet]):
    """Makes the Workload of every LeaderWorkerSet whose replicas are gangs, and a PodGroup for each of them."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.client
        self.leaders: Informer[ReplicaPod] = Informer(
            client, PODS, ListDecoder(ReplicaPod), label_selector=_LEADERS, indexers=LEADER_INDEXERS
        )
        self.stateful_sets: Informer[StatefulSet] = Informer(
            client, STATEFUL_SETS, ListDecoder(StatefulSet), label_selector=LWS_NAME, indexers=STATEFUL_SET_INDEXERS
        )
        leaders = MutationCache(self.leaders.store, LEADER_INDEXERS)
        self._observer = SetObserver(
            client,
            leaders=leaders,
            stateful_sets=self.stateful_sets.store,
            workloads=context.workloads,
            pod_groups=context.pod_groups,
            group_objects=GroupObjects(context.providers, context.provider_groups),
            composites=context.composites,
        )

        def reconciler(
            sets: OwnerCache[LeaderWorkerSet], event_recorder: DedupEventRecorder
        ) -> Reconciler[LeaderWorkerSet, ObservedSet]:
            tools = SetTools(
                **vars(tools_of(context, sets, event_recorder)), leaders=leaders, composites=context.composites
            )
            gang_sets = context.settings.feature_gates.gang_leader_worker_sets
            rules = Rules(
                context.providers,
                context.group_api.workloads.api_version,
                makes_gangs=gang_sets,
                has_composites=context.composites is not None,
            )
            return set_reconciler(tools, self._observer, rules)

        super().__init__(context, LEADER_WORKER_SETS, ListDecoder(LeaderWorkerSet), reconciler)
        self.leaders.add_handler(leaders.caught_up)
        self.leaders.add_handler(self._leader_changed)
        self.stateful_sets.add_handler(self._stateful_set_changed)

    @property
    def informers(self) -> tuple[tuple[str, Informer[Any]], ...]:
        """What is followed, with a name for people."""
        sets = ("LeaderWorkerSets", self.informer)
        return (sets, ("leader pods", self.leaders), ("StatefulSets", self.stateful_sets))

    async def run_until(self, gone: Callable[[], Awaitable[object]]) -> None:
        """Work until `gone` returns, or until cancelled."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(informer.run()) for _, informer in self.informers]
            tasks.append(group.create_task(self._work_once_listed()))
            await gone()
            for task in tasks:
                task.cancel()

    def workload_changed(self, workload: Workload) -> None:
        """A Workload came, changed or went."""
        self.add(self._observer.sets_of_workload(workload))

    def pod_group_changed(self, group: PodGroup) -> None:
        """A PodGroup came, went, or changed by more than its status."""
        self.add(self._observer.sets_of_group(group))

    def group_object_changed(self, owned: Metadata) -> None:
        """A group object of another gang scheduler came, went, or changed its minimum."""
        self.add(self._observer.sets_of_owned(owned))

    def report_waiting(self, group: PodGroup) -> None:
        """A group that waits says why on its LeaderWorkerSet, too, where people look first; once per reason."""
        said = condition_of(group.status.conditions or (), CONDITION_SCHEDULED)
        if said is None or said.status != "False" or not said.message:
            return
        for key in self._observer.sets_of_group(group):
            lws = self.owners.get(key)
            if lws is not None:
                index = group.metadata.label(LWS_GROUP_INDEX)
                note = f"replica {index}: {said.message}"
                self._event_recorder.warn_once(lws, reason=EVENT_FAILED_SCHEDULING, note=note, action="Scheduling")

    # --- inside --------------------------------------------------------------------------------------------------------

    async def _work_once_listed(self) -> None:
        for _, informer in self.informers:
            await informer.synced.wait()
        await self.work()

    def _leader_changed(self, change: Change[ReplicaPod]) -> None:
        if change.old is not None and change.new is not None and _is_same_for_plans(change.old, change.new):
            return
        leader = change.new if change.new is not None else change.old
        if leader is not None:
            self.add(set_of(leader.metadata))

    def _stateful_set_changed(self, change: Change[StatefulSet]) -> None:
        old, new = change.old, change.new
        if old is not None and new is not None and old.spec == new.spec and _same_owner(old, new):
            return
        changed = new if new is not None else old
        if changed is not None:
            self.add(set_of(changed.metadata))


def set_reconciler(tools: SetTools, observer: SetObserver, rules: Rules) -> Reconciler[LeaderWorkerSet, ObservedSet]:
    """What does one pass over one LeaderWorkerSet."""
    return Reconciler(
        LEADER_WORKER_SETS,
        LeaderWorkerSet,
        tools,
        observe=observer.observe,
        plan=partial(plan, rules=rules),
        execute=partial(execute, tools=tools),
    )


def _is_same_for_plans(old: ReplicaPod, new: ReplicaPod) -> bool:
    """Whether only what plans do not look at moved (the rest of a pod's status, mostly)."""
    before, after = old.metadata, new.metadata
    return (
        (before.uid, before.labels, before.annotations) == (after.uid, after.labels, after.annotations)
        and before.is_terminating == after.is_terminating
        and (old.spec, old.status) == (new.spec, new.status)
    )


def _same_owner(old: StatefulSet, new: StatefulSet) -> bool:
    return controller_of(old.metadata) == controller_of(new.metadata)
