"""What a gang scheduler cannot do for a Job that asks for it: said at admission, where its user reads it.

Two kinds: what would leave the gang waiting for ever, or break it, is refused; what is merely not carried out is a
warning.
"""

from dataclasses import dataclass

from api.constants import (
    DEGRADED,
    DISRUPTION_MODE,
    ELASTIC,
    EMBEDDED_PROVIDER,
    MIN_COUNT,
    ON_SCHEDULING_TIMEOUT,
    REPAIR_TIMEOUT,
    SCHEDULING_TIMEOUT,
    SLICE_SIZE,
    SPARE_NODES,
    TOPOLOGY,
)
from api.gang import GroupIntent
from api.job import Job
from api.meta import Metadata
from api.topology import TopologyRequest
from api.topology_annotations import topology_annotations, topology_request
from providers.base import Provider


@dataclass(frozen=True, slots=True)
class Limit:
    """One thing that is asked for and cannot be had.

    Attributes:
        key: the annotation that asks for it, "" when the shape of the Job does.
        message: why not, and what to do.
        breaks: whether the gang could not work.
    """

    key: str
    message: str
    breaks: bool


def limits_for(provider: Provider, job: Job, intent: GroupIntent) -> list[Limit]:
    """What this provider cannot do for the Job."""
    if intent.policy != "gang":
        return []
    return [*_breaking(provider, job, intent), *unobserved(provider, job.metadata)]


def _breaking(provider: Provider, job: Job, intent: GroupIntent) -> list[Limit]:
    able, found = provider.capabilities, []
    if intent.elastic and not able.mutable_minimum:
        note = f"provider {provider.name} cannot resize a gang that exists; leave the annotation out"
        found.append(Limit(ELASTIC, note, breaks=True))
    if intent.min_count < job.pods_at_once and not able.partial_minimum:
        note = f"provider {provider.name} starts all pods of a gang or none; leave the annotation out"
        found.append(Limit(MIN_COUNT, note, breaks=True))
    keeps_tail = able.counts_succeeded or able.mutable_minimum
    if not keeps_tail and (job.spec.completions or 0) > job.parallelism:
        note = (
            f"spec.completions: must not exceed spec.parallelism ({job.parallelism}) with provider {provider.name}: "
            "the last pods of the Job would wait for a gang that is not there any more"
        )
        found.append(Limit("", note, breaks=True))
    return found


def unobserved(provider: Provider, metadata: Metadata) -> list[Limit]:
    """What the annotations in an object's metadata ask for and this provider does not carry out."""
    able = provider.capabilities
    # A scheduler of others gives up in its own way, and nobody says so on the PodGroup.
    tells_when = able.timeout and able.reads_pod_groups
    asked_for = (
        (TOPOLOGY, metadata.annotation(TOPOLOGY) is not None and not able.topology),
        (SLICE_SIZE, metadata.annotation(SLICE_SIZE) is not None and provider.name != EMBEDDED_PROVIDER),
        (DISRUPTION_MODE, metadata.annotation(DISRUPTION_MODE) == "all" and not able.whole_disruption),
        (SCHEDULING_TIMEOUT, metadata.annotation(SCHEDULING_TIMEOUT) is not None and not able.timeout),
        (DEGRADED, metadata.annotation(DEGRADED) is not None and provider.name != EMBEDDED_PROVIDER),
        (REPAIR_TIMEOUT, metadata.annotation(REPAIR_TIMEOUT) is not None and provider.name != EMBEDDED_PROVIDER),
        (SPARE_NODES, metadata.annotation(SPARE_NODES) is not None and provider.name != EMBEDDED_PROVIDER),
        (ON_SCHEDULING_TIMEOUT, metadata.annotation(ON_SCHEDULING_TIMEOUT) is not None and not tells_when),
    )
    found = [
        Limit(key, f"provider {provider.name} does not observe it", breaks=False) for key, unmet in asked_for if unmet
    ]
    return [*found, *_only_required(provider, topology_request(metadata))]


def _only_required(provider: Provider, request: TopologyRequest) -> list[Limit]:
    """What a scheduler leaves out that knows one required level and no other."""
    knows_all = provider.name == EMBEDDED_PROVIDER or TOPOLOGY not in topology_annotations(request)
    if knows_all or not provider.capabilities.topology:
        return []
    key = request.required_key
    note = f"inside one {key}" if key is not None else "nowhere in particular"
    return [Limit(TOPOLOGY, f"provider {provider.name} knows one required level: the gang is {note}", breaks=False)]
