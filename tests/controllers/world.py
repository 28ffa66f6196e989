"""The controllers' stores and reconciler on top of the cluster in memory, as one process would hold them."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import msgspec
from prometheus_client import CollectorRegistry

from api.job import Job
from api.meta import controller_of
from api.podgroup import PodGroup, Workload
from controllers.events import DedupEventRecorder
from controllers.gangs.common_steps import Rules
from controllers.gangs.indexes import POD_GROUP_INDEXERS, WORKLOAD_INDEXERS
from controllers.gangs.tools import Tools
from controllers.jobs.controller import job_reconciler
from controllers.jobs.observe import JobObserver, group_objects_of
from controllers.metrics import Metrics
from controllers.mutation_cache import MutationCache
from controllers.owner_cache import OwnerCache
from controllers.provider_groups import KindMissing, ProviderGroup, ProviderGroups, resource_of
from kube.cache.informer import Change
from kube.cache.store import Store
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import JOBS
from kube.groups.group_api import OWN
from providers.base import GroupKind
from providers.selection import standard_providers
from tests.controllers.builders import GROUP_API_VERSION, NAMESPACE
from tests.controllers.fake_cluster import FakeCluster

MOST_PASSES = 25


class RecordedEvents:
    """Events as (reason, note), in the order in which they were recorded; `at` has the writes done before each."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.told: list[tuple[str, str]] = []
        self.at: list[int] = []
        self._cluster = cluster

    @property
    def reasons(self) -> list[str]:
        return [reason for reason, _ in self.told]

    def record(self, regarding: Any, *, reason: str, note: str, **_: Any) -> None:
        assert regarding.kind == "Job"
        self.told.append((reason, note))
        self.at.append(len(self._cluster.written()))


class GroupObjects:
    """What `ProviderGroups` shows of the cluster, without informers."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster
        self.knows_all = False

    async def owned(self, kind: GroupKind, owner_uid: str) -> tuple[ProviderGroup, ...]:
        if kind.crd in self._cluster.unknown_kinds and not self.knows_all:
            raise KindMissing(kind)
        found = [msgspec.convert(each, ProviderGroup) for each in self._cluster.all(resource_of(kind))]
        owners = [controller_of(each.metadata) for each in found]
        return tuple(
            each
            for each, owner in zip(found, owners, strict=True)
            if owner is not None and owner.uid == owner_uid and not each.metadata.is_terminating
        )

    def note(self, kind: GroupKind, written: ProviderGroup) -> None:
        """The cluster shows it already."""

    def is_missing(self, kind: GroupKind) -> KindMissing:
        return KindMissing(kind)


class World:
    """One process. `look` does what informers do; a second World on the same cluster is a restart."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.cluster = cluster
        self.now = 1000.0
        self.events = RecordedEvents(cluster)
        self.registry = CollectorRegistry()
        self._jobs: Store[Job] = Store()
        self.jobs: OwnerCache[Job] = OwnerCache(self._jobs, clock=lambda: self.now)
        self._workloads: Store[Workload] = Store(WORKLOAD_INDEXERS)
        self._groups: Store[PodGroup] = Store(POD_GROUP_INDEXERS)
        self.workloads = MutationCache(self._workloads, WORKLOAD_INDEXERS, clock=lambda: self.now)
        self.groups = MutationCache(self._groups, POD_GROUP_INDEXERS, clock=lambda: self.now)
        client = cast("Client", cluster)
        providers = standard_providers(built_in_groups=True)
        self.group_objects = GroupObjects(cluster)
        tools = Tools(
            client=client,
            group_api=OWN,
            providers=providers,
            owners=self.jobs,
            workloads=self.workloads,
            pod_groups=self.groups,
            event_recorder=DedupEventRecorder(self.events),
            metrics=Metrics(self.registry),
            provider_groups=cast("ProviderGroups", self.group_objects),
        )
        objects = partial(group_objects_of, providers=providers, groups=tools.provider_groups)
        self.observer = JobObserver(client, OWN.workloads, self.workloads, self.groups, objects)
        self.reconcile = job_reconciler(tools, self.observer, Rules(providers, GROUP_API_VERSION))
        self.look()

    def look(self) -> None:
        """Make the stores equal to the cluster."""
        self.look_at_jobs()
        follow(self._workloads, self.cluster.all(OWN.workloads), Workload, self.workloads.caught_up)
        follow(self._groups, self.cluster.all(OWN.pod_groups), PodGroup, self.groups.caught_up)

    def look_at_jobs(self) -> None:
        follow(self._jobs, self.cluster.all(JOBS), Job, self.jobs.caught_up)

    async def once(self, name: str = "train") -> float | None:
        """One pass."""
        return await self.reconcile((NAMESPACE, name))

    async def attempt(self, job: Job) -> None:
        """One pass that raises what would have it repeated."""
        plan = self.reconcile._plan(await self.reconcile._observe(job))
        await self.reconcile._execute(plan, job)

    async def settle(self, name: str = "train") -> None:
        """Passes, with fresh stores and retries after errors, until one of them writes nothing."""
        for _ in range(MOST_PASSES):
            self.look()
            before = self.cluster.writes
            try:
                await self.once(name)
            except KubeError:
                continue
            if self.cluster.writes == before:
                return
        raise AssertionError(f"no rest after {MOST_PASSES} passes: {self.cluster.calls[-12:]}")

    def counted(self, kind: str, result: str) -> float:
        """The value of the creation counter."""
        labels = {"kind": kind, "result": result}
        return self.registry.get_sample_value("tutti_job_objects_created_total", labels) or 0.0


def follow(
    store: Store[Any], manifests: list[dict[str, Any]], record: type[Any], handler: Callable[[Change[Any]], None]
) -> None:
    """What an informer does: make its store equal to the cluster, then tell its handler what changed."""
    live = {item.metadata.key: item for item in (msgspec.convert(found, record) for found in manifests)}
    for old in store.all():
        new = live.get(old.metadata.key)
        if new is None or new.metadata.uid != old.metadata.uid:
            store.remove(*old.metadata.key)
            handler(Change("deleted", old, None))
    for item in live.values():
        before = store.put(item)
        handler(Change("updated" if before else "added", before, item))
