"""The controllers' part for LeaderWorkerSets on top of a cluster in memory, as one process would hold it."""

from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import orjson
from prometheus_client import CollectorRegistry

from api.lws import LeaderWorkerSet
from api.meta import controller_of
from api.podgroup import PodGroup, Workload
from controllers.events import DedupEventRecorder
from controllers.gangs.common_steps import Rules
from controllers.gangs.indexes import POD_GROUP_INDEXERS, WORKLOAD_INDEXERS
from controllers.leaderworkersets.controller import set_reconciler
from controllers.leaderworkersets.execute import SetTools
from controllers.leaderworkersets.observe import LEADER_INDEXERS, STATEFUL_SET_INDEXERS, GroupObjects, SetObserver
from controllers.leaderworkersets.observed import ReplicaPod, StatefulSet
from controllers.metrics import Metrics
from controllers.mutation_cache import MutationCache
from controllers.owner_cache import OwnerCache
from controllers.provider_groups import ProviderGroups
from kube.cache.store import Store
from kube.client.client import Client
from kube.client.errors import KubeError, NotFound
from kube.client.resources import KUEUE_TOPOLOGIES, LEADER_WORKER_SETS, PODS, STATEFUL_SETS, Resource
from kube.groups.group_api import OWN, OWN_COMPOSITES
from providers.selection import standard_providers
from tests.controllers.fake_cluster import FakeCluster
from tests.controllers.world import GroupObjects as GroupObjectsShown
from tests.controllers.world import follow
from tests.lws.builders import NAMESPACE, Object

MOST_PASSES = 25


class SelectingCluster(FakeCluster):
    """A cluster that understands selectors of several labels."""

    async def list_pages(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> AsyncIterator[bytes]:
        assert (namespace, field_selector) == (NAMESPACE if resource.namespaced else None, None)
        self.calls.append(("list", resource.plural, ""))
        if resource in KUEUE_TOPOLOGIES and resource.version not in self.kueue_versions:
            raise NotFound(404, "NotFound", "the server could not find the requested resource")
        wanted = dict(part.split("=") for part in (label_selector or "").split(",") if part)
        items = [o for o in self.all(resource) if wanted.items() <= (o["metadata"].get("labels") or {}).items()]
        yield orjson.dumps({"metadata": {"resourceVersion": "1"}, "items": items})

    def collect_garbage(self) -> None:
        """Remove groups and StatefulSets whose controller is gone."""
        alive = {found["metadata"]["uid"] for found in self.objects.values()}
        for key, found in list(self.objects.items()):
            owners = found["metadata"].get("ownerReferences") or []
            if key[0] in {"podgroups", "workloads"} and not any(owner["uid"] in alive for owner in owners):
                del self.objects[key]


class RecordedEvents:
    """Events as (reason, note)."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    @property
    def reasons(self) -> list[str]:
        return [reason for reason, _ in self.told]

    def record(self, regarding: Any, *, reason: str, note: str, **_: Any) -> None:
        assert regarding.kind == "LeaderWorkerSet"
        self.told.append((reason, note))


class World:
    """One process. `look` does what informers do; a second World on the same cluster is a restart."""

    def __init__(
        self, cluster: SelectingCluster, *, gang_sets: bool = True, composites: Resource | None = OWN_COMPOSITES
    ) -> None:
        self.cluster = cluster
        self.now = 1000.0
        self.events = RecordedEvents()
        self._sets: Store[LeaderWorkerSet] = Store()
        self.sets = OwnerCache(self._sets)
        self._leaders: Store[ReplicaPod] = Store(LEADER_INDEXERS)
        self._stateful_sets: Store[StatefulSet] = Store(STATEFUL_SET_INDEXERS)
        self._workloads: Store[Workload] = Store(WORKLOAD_INDEXERS)
        self._groups: Store[PodGroup] = Store(POD_GROUP_INDEXERS)
        self.leaders = MutationCache(self._leaders, LEADER_INDEXERS, clock=lambda: self.now)
        self.workloads = MutationCache(self._workloads, WORKLOAD_INDEXERS, clock=lambda: self.now)
        self.groups = MutationCache(self._groups, POD_GROUP_INDEXERS, clock=lambda: self.now)
        client, providers = cast("Client", cluster), standard_providers()
        self.group_objects = GroupObjectsShown(cluster)
        provider_groups = cast("ProviderGroups", self.group_objects)
        tools = SetTools(
            client=client,
            group_api=OWN,
            providers=providers,
            owners=self.sets,
            leaders=self.leaders,
            workloads=self.workloads,
            pod_groups=self.groups,
            event_recorder=DedupEventRecorder(self.events, LEADER_WORKER_SETS),
            metrics=Metrics(CollectorRegistry()),
            provider_groups=provider_groups,
            composites=composites,
        )
        self.observer = SetObserver(
            client,
            leaders=self.leaders,
            stateful_sets=self._stateful_sets,
            workloads=self.workloads,
            pod_groups=self.groups,
            group_objects=GroupObjects(providers, provider_groups),
            composites=composites,
        )
        rules = Rules(
            providers,
            OWN.workloads.api_version,
            makes_gangs=gang_sets,
            has_composites=composites is not None,
        )
        self.reconcile = set_reconciler(tools, self.observer, rules)
        self.look()

    def look(self) -> None:
        """Make all stores equal to the cluster."""
        follow(self._sets, self.cluster.all(LEADER_WORKER_SETS), LeaderWorkerSet, self.sets.caught_up)
        self.look_at_leaders()
        follow(self._stateful_sets, self.cluster.all(STATEFUL_SETS), StatefulSet, lambda _: None)
        follow(self._workloads, self.cluster.all(OWN.workloads), Workload, self.workloads.caught_up)
        self.look_at_groups()

    def look_at_leaders(self) -> None:
        pods = self.cluster.all(PODS)
        leaders = [
            pod for pod in pods if pod["metadata"]["labels"].get("leaderworkerset.sigs.k8s.io/worker-index") == "0"
        ]
        follow(self._leaders, leaders, ReplicaPod, self.leaders.caught_up)

    def look_at_groups(self) -> None:
        follow(self._groups, self.cluster.all(OWN.pod_groups), PodGroup, self.groups.caught_up)

    async def once(self) -> float | None:
        """One pass."""
        return await self.reconcile((NAMESPACE, "serve"))

    async def settle(self) -> None:
        """Passes, with fresh stores and retries after errors, until one of them writes nothing."""
        for _ in range(MOST_PASSES):
            self.look()
            before = self.cluster.writes
            try:
                await self.once()
            except KubeError:
                continue
            if self.cluster.writes == before:
                return
        raise AssertionError(f"no rest after {MOST_PASSES} passes: {self.cluster.calls[-12:]}")


def groups_of(cluster: FakeCluster) -> dict[str, Object]:
    """The groups by the UID of their leader."""
    found = {}
    for group in cluster.all(OWN.pod_groups):
        owner = controller_of(msgspec.convert(group, PodGroup).metadata)
        assert owner is not None
        found[owner.uid] = group
    return found
