"""How Workloads and PodGroups are found: by what they refer to (KEP-5547), never by name or owner alone."""

from collections.abc import Hashable, Iterable
from typing import Final

from api.podgroup import PodGroup, Workload
from kube.cache.store import Indexer

BY_CONTROLLER: Final = "controller"
"""Index of Workloads: namespace, API group, kind and name of what they name as their controller."""

BY_WORKLOAD: Final = "workload"
"""Index of PodGroups: (namespace, name) of the Workload they were made from."""


def index_workload(workload: Workload) -> Iterable[Hashable]:
    """The value of a Workload in `BY_CONTROLLER`."""
    reference = workload.spec.controller_ref
    if reference is None:
        return ()
    return ((workload.metadata.namespace, reference.api_group, reference.kind, reference.name),)


def _index_pod_group(group: PodGroup) -> Iterable[Hashable]:
    reference = group.spec.workload_ref
    return () if reference is None else ((group.metadata.namespace, reference.workload_name),)


WORKLOAD_INDEXERS: Final[dict[str, Indexer[Workload]]] = {BY_CONTROLLER: index_workload}
POD_GROUP_INDEXERS: Final[dict[str, Indexer[PodGroup]]] = {BY_WORKLOAD: _index_pod_group}
