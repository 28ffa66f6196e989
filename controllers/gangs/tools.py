"""What a pass needs beside the object it is about."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from api.podgroup import PodGroup, Workload
from controllers.context import ControllerContext
from controllers.events import DedupEventRecorder
from controllers.metrics import Metrics
from controllers.mutation_cache import MutationCache
from controllers.owner_cache import OwnerCache
from controllers.provider_groups import ProviderGroups
from kube.cache.store import KubeObject
from kube.client.client import Client
from kube.groups.group_api import GroupAPI
from kube.outside import utc_now
from providers.selection import Providers

T = TypeVar("T", bound=KubeObject)


@dataclass(frozen=True)
class Tools(Generic[T]):
    """What reads and writes need; one value for the whole life of a controller.

    Attributes:
        client: the API server; refuses writes while the lease is not held.
        group_api: where Workloads and PodGroups are.
        providers: the gang schedulers.
        owners: the Jobs, or the LeaderWorkerSets.
        workloads: all Workloads, our own recent writes included.
        pod_groups: all PodGroups, our own recent writes included.
        event_recorder: of events about owners.
        metrics: counts.
        provider_groups: the group objects of gang schedulers that bring their own kind.
        now: the time of day, for conditions.
    """

    client: Client
    group_api: GroupAPI
    providers: Providers
    owners: OwnerCache[T]
    workloads: MutationCache[Workload]
    pod_groups: MutationCache[PodGroup]
    event_recorder: DedupEventRecorder
    metrics: Metrics
    provider_groups: ProviderGroups
    now: Callable[[], dt.datetime] = utc_now


def tools_of(context: ControllerContext, owners: OwnerCache[T], event_recorder: DedupEventRecorder) -> Tools[T]:
    """The tools of a controller of these owners."""
    return Tools(
        client=context.client,
        group_api=context.group_api,
        providers=context.providers,
        owners=owners,
        workloads=context.workloads,
        pod_groups=context.pod_groups,
        event_recorder=event_recorder,
        metrics=context.metrics,
        provider_groups=context.provider_groups,
    )
