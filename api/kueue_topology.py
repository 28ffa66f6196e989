"""What Kueue's annotations on pod templates ask of the topology, so that manifests written for it move over unchanged.

Kueue (kubernetes-sigs/kueue, topology-aware scheduling) names one level on the pod template. A Topology of Kueue's
(`topologies.kueue.x-k8s.io`) lists the levels of a cluster, widest first, and what Kueue does with the one level rests on it:
it climbs from a preferred level to the next wider one, and uses few of the narrower domains inside the one it has found.

Jobs in a queue of Kueue's are left to it: it places them itself, by node selectors.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from api.errors import InvalidGangSettings
from api.topology import ANYWHERE, MOST_LEVELS, TopologyLevel, TopologyRequest
from api.topology_annotations import label_key, slice_size

REQUIRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-required-topology"
PREFERRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-preferred-topology"
UNCONSTRAINED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-unconstrained-topology"
SLICE_REQUIRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-slice-required-topology"
SLICE_SIZE: Final = "kueue.x-k8s.io/podset-slice-size"
SLICE_CONSTRAINTS: Final = "kueue.x-k8s.io/podset-slice-required-topology-constraints"

Levels = Sequence[str]
"""Node label keys of one Topology of Kueue's, widest first."""


def kueue_request(annotations: Mapping[str, str] | None, *, at: str) -> TopologyRequest:
    """What a pod template asks for in Kueue's annotations, `ANYWHERE` for nothing.

    Args:
        annotations: those of the pod template.
        at: the path of its metadata, for messages.

    Raises:
        InvalidGangSettings: one of them has a value that cannot be used, or they contradict each other.
    """
    said = annotations or {}
    if SLICE_CONSTRAINTS in said:
        raise InvalidGangSettings(
            f"slices of several levels are not understood here; use {SLICE_REQUIRED_TOPOLOGY} and {SLICE_SIZE}",
            field=path(at, SLICE_CONSTRAINTS),
        )
    size, key = said.get(SLICE_SIZE), said.get(SLICE_REQUIRED_TOPOLOGY)
    if (size is None) != (key is None):
        alone, other = (SLICE_SIZE, SLICE_REQUIRED_TOPOLOGY) if key is None else (SLICE_REQUIRED_TOPOLOGY, SLICE_SIZE)
        raise InvalidGangSettings(f"it needs {other} beside it", field=path(at, alone))
    levels = _levels(said, at)
    if size is None or key is None:
        return TopologyRequest(levels) if levels else ANYWHERE
    return TopologyRequest(
        levels,
        slice_size=slice_size(size, field=path(at, SLICE_SIZE)),
        slice_key=label_key(key, field=path(at, SLICE_REQUIRED_TOPOLOGY)),
    )


def among_levels(request: TopologyRequest, topologies: Sequence[Levels]) -> TopologyRequest:
    """The request with the other levels of the cluster around the one that it names.

    Narrower levels are preferred, and wider ones beside a preferred one. The order of a Topology counts if exactly one names the
    level; else the request stays as it is.

    Args:
        request: as `kueue_request` gives it.
        topologies: the levels of each Topology of the cluster.
    """
    if len(request.levels) != 1:
        return request
    (named,) = request.levels
    naming = [levels for levels in topologies if named.key in levels]
    if len(naming) != 1 or len(set(naming[0])) != len(naming[0]):
        return request
    levels = list(naming[0])
    place = levels.index(named.key)
    # What is wider than a required level is settled by it.
    wider = [] if named.is_required else levels[:place]
    wider = wider[-(MOST_LEVELS - 1) :]
    narrower = levels[place + 1 :][: MOST_LEVELS - 1 - len(wider)]
    around = (
        *(TopologyLevel(key, is_required=False) for key in wider),
        named,
        *(TopologyLevel(key, is_required=False) for key in narrower),
    )
    return TopologyRequest(around, request.slice_size, request.slice_key)


def path(at: str, key: str) -> str:
    """Where an annotation of a pod template stands, for messages."""
    return f"{at}.annotations[{key}]"


def _levels(said: Mapping[str, str], at: str) -> tuple[TopologyLevel, ...]:
    is_unconstrained = said.get(UNCONSTRAINED_TOPOLOGY) == "true"
    named = [key for key in (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY) if key in said]
    if len(named) + is_unconstrained > 1:
        both = (*named, UNCONSTRAINED_TOPOLOGY)[:2]
        raise InvalidGangSettings(f"{both[0]} and {both[1]} exclude each other", field=f"{at}.annotations")
    return tuple(
        TopologyLevel(label_key(said[key], field=path(at, key)), is_required=key == REQUIRED_TOPOLOGY) for key in named
    )
