"""How close the pods of a Job, or of a LeaderWorkerSet's replica, are to be: own annotations, else Kueue's on the templates."""

from typing import Final

from api.constants import KUEUE_QUEUE, LWS_EXCLUSIVE_TOPOLOGY, MIN_COUNT, SLICE_SIZE, TOPOLOGY
from api.errors import InvalidGangSettings
from api.job import INDEXED, Job
from api.kueue_topology import SLICE_SIZE as KUEUE_SLICE_SIZE
from api.kueue_topology import Levels, among_levels, kueue_request, path
from api.lws import LeaderWorkerSet
from api.topology import ANYWHERE, TopologyLevel, TopologyRequest
from api.topology_annotations import (
    annotation_path,
    check_slices,
    says_topology,
    topology_annotations,
    topology_request,
)

_JOB_TEMPLATE: Final = "spec.template.metadata"
_SET_TEMPLATE: Final = "spec.leaderWorkerTemplate.workerTemplate.metadata"
_BASIC: Final = "slices need a gang, and the policy is basic"


def is_asked_by_kueue(owner: Job | LeaderWorkerSet) -> bool:
    """Whether Kueue's annotations count: nothing of ours is said, and no queue of Kueue's has the owner, where Kueue places it."""
    return not says_topology(owner.metadata) and owner.metadata.label(KUEUE_QUEUE) is None


def job_topology(job: Job, *, minimum: int, is_gang: bool) -> TopologyRequest:
    """What a Job asks for.

    Args:
        job: the Job.
        minimum: of its pods, those that start together.
        is_gang: whether any must.

    Raises:
        InvalidGangSettings: an annotation has a value that cannot be used, or its pods come in no whole slices.
    """
    request = _of_job(job)
    if not request.slice_size:
        return request
    field = path(_JOB_TEMPLATE, KUEUE_SLICE_SIZE) if is_asked_by_kueue(job) else annotation_path(SLICE_SIZE)
    if not is_gang:
        raise InvalidGangSettings(_BASIC, field=field)
    if job.spec.completion_mode != INDEXED:
        raise InvalidGangSettings(
            "a slice is of consecutive ranks, and the pods of this Job have none; set spec.completionMode to Indexed",
            field=field,
        )
    check_slices(
        request, members=job.pods_at_once, minimum=minimum, field=field, minimum_field=annotation_path(MIN_COUNT)
    )
    return request


def replica_topology(lws: LeaderWorkerSet, *, is_gang: bool) -> TopologyRequest:
    """What each replica asks for: what is said, inside the value that it has for itself where it has one.

    Raises:
        InvalidGangSettings: an annotation has a value that cannot be used, or cannot be kept by a replica.
    """
    request = _of_replica(lws)
    if not request.slice_size:
        return request
    field = path(_SET_TEMPLATE, KUEUE_SLICE_SIZE) if is_asked_by_kueue(lws) else annotation_path(SLICE_SIZE)
    if not is_gang:
        raise InvalidGangSettings(_BASIC, field=field)
    if lws.waits_for_leader or lws.exclusive_topology is not None:
        why = f"annotation {LWS_EXCLUSIVE_TOPOLOGY}" if lws.exclusive_topology is not None else "LeaderReady"
        raise InvalidGangSettings(
            f"the workers of this set are made once their leader has its node ({why}), and slices are decided for all at once",
            field=field,
        )
    check_slices(request, members=lws.size, minimum=lws.size, field=field)
    return request


def names_one_kueue_level(owner: Job | LeaderWorkerSet) -> bool:
    """Whether an owner names one level as Kueue has it, so that the other levels of the cluster belong around it."""
    return is_asked_by_kueue(owner) and len(_usable(owner).levels) == 1


def said_of_topology(owner: Job | LeaderWorkerSet, topologies: tuple[Levels, ...] = ()) -> dict[str, str]:
    """The annotations that the PodGroup of an owner gets; none where its field says it all, or where they are unusable.

    Args:
        owner: whom the group is made for.
        topologies: the levels of each Topology of Kueue's in the cluster.
    """
    request = _usable(owner)
    return topology_annotations(among_levels(request, topologies) if is_asked_by_kueue(owner) else request)


def _usable(owner: Job | LeaderWorkerSet) -> TopologyRequest:
    try:
        return _of_job(owner) if isinstance(owner, Job) else _of_replica(owner)
    except InvalidGangSettings:
        # Its controller says so where it decides whether there is to be a group at all.
        return ANYWHERE


def _of_job(job: Job) -> TopologyRequest:
    if is_asked_by_kueue(job):
        return kueue_request(job.spec.template.metadata.annotations, at=_JOB_TEMPLATE)
    return topology_request(job.metadata)


def _of_replica(lws: LeaderWorkerSet) -> TopologyRequest:
    return _inside_exclusive(_of_set(lws), lws.exclusive_topology)


def _of_set(lws: LeaderWorkerSet) -> TopologyRequest:
    if not is_asked_by_kueue(lws):
        return topology_request(lws.metadata)
    requests = {kueue_request(template.metadata.annotations, at=_SET_TEMPLATE) for template in lws.templates}
    # To Kueue leaders and workers are apart where each has a template; what only one says is not said of the replica.
    return requests.pop() if len(requests) == 1 else ANYWHERE


def _inside_exclusive(request: TopologyRequest, exclusive: str | None) -> TopologyRequest:
    if exclusive is None:
        return request
    if request.required_key not in (None, exclusive):
        raise InvalidGangSettings(
            f"a replica has a value of {exclusive} for itself (annotation {LWS_EXCLUSIVE_TOPOLOGY}) and cannot be kept inside "
            f"one {request.required_key} as well; use one of the two",
            field=annotation_path(TOPOLOGY),
        )
    if request.required_key is not None:
        return request
    others = tuple(level for level in request.levels if level.key != exclusive)
    return TopologyRequest((TopologyLevel(exclusive), *others), request.slice_size, request.slice_key)
