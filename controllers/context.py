"""What the controllers of one process share (kube-controller-manager: ControllerContext)."""

import random as randomness
from dataclasses import dataclass

from api.podgroup import PodGroup, Workload
from controllers.events import Recorder
from controllers.metrics import Metrics
from controllers.mutation_cache import MutationCache
from controllers.provider_groups import ProviderGroups
from controllers.settings import ControllersSettings
from kube.client.client import Client
from kube.client.resources import Resource
from kube.groups.group_api import GroupAPI
from providers.selection import Providers


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """One value for the whole life of the process.

    Attributes:
        client: refuses writes while the lease is not held.
        group_api: where Workloads and PodGroups are: built-in kinds or our own.
        settings: of this process.
        providers: the gang schedulers.
        workloads: all Workloads, our own recent writes included.
        pod_groups: all PodGroups, our own recent writes included.
        provider_groups: the group objects of gang schedulers that bring their own kind.
        recorder: writes events.
        metrics: counts.
        random: spreads load.
        composites: where CompositePodGroups are kept; None where the server has none.
    """

    client: Client
    group_api: GroupAPI
    settings: ControllersSettings
    providers: Providers
    workloads: MutationCache[Workload]
    pod_groups: MutationCache[PodGroup]
    provider_groups: ProviderGroups
    recorder: Recorder
    metrics: Metrics
    random: randomness.Random
    composites: Resource | None = None
