"""Collects the facts about one JobSet: what we made for it, by the UID of its owner. All of it comes from stores."""

from api.jobset import JobSet
from api.meta import Metadata, controller_of
from api.names import workload_name
from api.parents.kinds import JOB_SET, kind_of
from api.podgroup import PodGroup, Workload
from controllers.gangs.indexes import BY_WORKLOAD
from controllers.gangs.ownership import describe_holder, is_ours
from controllers.jobsets.observed import ObservedJobSet
from controllers.mutation_cache import MutationCache
from kube.cache.store import Key


def job_set_of(owned: Metadata) -> set[Key]:
    """The JobSet that controls an object, if one does."""
    owner = controller_of(owned)
    return {(owned.namespace, owner.name)} if owner is not None and kind_of(owner) is JOB_SET else set()


class JobSetObserver:
    """Looks JobSets up in the stores of Workloads and PodGroups."""

    def __init__(self, workloads: MutationCache[Workload], pod_groups: MutationCache[PodGroup]) -> None:
        self._workloads = workloads
        self._pod_groups = pod_groups

    async def observe(self, jobset: JobSet) -> ObservedJobSet:
        """The facts about the JobSet."""
        metadata = jobset.metadata
        name = workload_name(metadata.name, metadata.uid)
        holder = self._workloads.get(metadata.namespace, name)
        is_usable = holder is not None and is_ours(holder.metadata, jobset) and not holder.metadata.is_terminating
        found = self._pod_groups.by_index(BY_WORKLOAD, (metadata.namespace, name))
        mine = (each for each in found if is_ours(each.metadata, jobset) and not each.metadata.is_terminating)
        return ObservedJobSet(
            jobset=jobset,
            workload=holder if is_usable else None,
            groups=tuple(sorted(mine, key=lambda group: group.metadata.name)),
            name_taken=describe_holder("Workload", holder.metadata) if holder is not None and not is_usable else "",
        )
