"""What admission does to a pod of a LeaderWorkerSet when it is created: labels of its place, affinity, variables.

Pure. The pod's template says all there is to know; the LeaderWorkerSet itself is never looked at.
"""

import copy
from typing import Any

from api.constants import (
    LEADER_INDEX,
    LWS_EXCLUSIVE_TOPOLOGY,
    LWS_GROUP_INDEX,
    LWS_GROUP_KEY,
    LWS_NAME,
    LWS_SIZE,
    LWS_WORKER_INDEX,
)
from localcluster.controllers.admission.affinity import keep_apart
from localcluster.controllers.leaderworkersets.model import LEADER_EXCLUDED, UNIQUE
from localcluster.controllers.leaderworkersets.names import (
    LEADER_NAME_ANNOTATION,
    SUBDOMAIN_ANNOTATION,
    SUBGROUP_EXCLUSIVE_ANNOTATION,
    SUBGROUP_INDEX_LABEL,
    SUBGROUP_KEY_LABEL,
    SUBGROUP_SIZE_ANNOTATION,
    SUBGROUP_TYPE_ANNOTATION,
    parent_and_ordinal,
    unique_key,
)

Object = dict[str, Any]


class Unfit(Exception):
    """The pod says that it belongs to a LeaderWorkerSet, and lacks what such a pod must have; `str()` says what."""


def admitted(pod: Object, namespace: str) -> Object:
    """The pod as it is to be created; one that belongs to no LeaderWorkerSet stays as it is.

    Raises:
        Unfit: it cannot belong to one.
    """
    if LWS_NAME not in (pod["metadata"].get("labels") or {}):
        return pod
    made = copy.deepcopy(pod)
    name, annotations = str(made["metadata"].get("name", "")), made["metadata"].get("annotations") or {}
    size = _number(annotations.get(LWS_SIZE), f"size annotation is unexpectedly missing for pod {name}")
    if made["metadata"]["labels"].get(LWS_WORKER_INDEX) == LEADER_INDEX:
        _place_leader(made, name, namespace, annotations)
    else:
        _place_worker(made, name, size, annotations)
    _add_variables(made, namespace, annotations[LWS_SIZE])
    return made


def subgroup_of(size: int, subgroup_size: int, worker: int) -> int:
    """The subgroup of a worker; a leader that is one too many for equal subgroups shares the first one."""
    if (size - 1) % subgroup_size == 0 and size % subgroup_size != 0:
        return (worker - 1) // subgroup_size
    return worker // subgroup_size


def _place_leader(pod: Object, name: str, namespace: str, annotations: dict[str, str]) -> None:
    labels = pod["metadata"]["labels"]
    if LWS_GROUP_INDEX not in labels:
        labels[LWS_GROUP_INDEX] = str(_ordinal(name))
    if annotations.get(SUBDOMAIN_ANNOTATION) == UNIQUE:
        pod["spec"]["subdomain"] = name
    key = labels.setdefault(LWS_GROUP_KEY, unique_key(namespace, name))
    if LWS_EXCLUSIVE_TOPOLOGY in annotations:
        keep_apart(pod, LWS_GROUP_KEY, key, annotations[LWS_EXCLUSIVE_TOPOLOGY])
    if SUBGROUP_SIZE_ANNOTATION in annotations and annotations.get(SUBGROUP_TYPE_ANNOTATION) != LEADER_EXCLUDED:
        _place_in_subgroup(pod, name, 0, annotations)


def _place_worker(pod: Object, name: str, size: int, annotations: dict[str, str]) -> None:
    worker = _ordinal(name)
    pod["metadata"]["labels"][LWS_WORKER_INDEX] = str(worker)
    if SUBGROUP_SIZE_ANNOTATION in annotations:
        step = _number(annotations[SUBGROUP_SIZE_ANNOTATION], f"subgroup size of pod {name} is no number")
        leader = annotations.get(LEADER_NAME_ANNOTATION, "")
        _place_in_subgroup(pod, leader, subgroup_of(size, step, worker), annotations)


def _place_in_subgroup(pod: Object, leader: str, subgroup: int, annotations: dict[str, str]) -> None:
    labels = pod["metadata"]["labels"]
    if labels.get(SUBGROUP_INDEX_LABEL):
        return
    labels[SUBGROUP_INDEX_LABEL] = str(subgroup)
    labels[SUBGROUP_KEY_LABEL] = unique_key(leader, str(subgroup))
    if SUBGROUP_EXCLUSIVE_ANNOTATION in annotations:
        keep_apart(pod, SUBGROUP_KEY_LABEL, labels[SUBGROUP_KEY_LABEL], annotations[SUBGROUP_EXCLUSIVE_ANNOTATION])


def _add_variables(pod: Object, namespace: str, size: str) -> None:
    """The group's address, size and place come first, in every container, whatever the user called so."""
    labels, spec = pod["metadata"]["labels"], pod["spec"]
    if LWS_GROUP_INDEX not in labels:
        raise Unfit(f"no group index label found for pod {pod['metadata'].get('name', '')}")
    leader = f"{labels[LWS_NAME]}-{labels[LWS_GROUP_INDEX]}"
    own = {
        "LWS_LEADER_ADDRESS": f"{leader}.{spec.get('subdomain', '')}.{namespace}",
        "LWS_GROUP_SIZE": size,
        "LWS_WORKER_INDEX": labels[LWS_WORKER_INDEX],
    }
    first = [{"name": name, "value": value} for name, value in own.items()]
    for container in [*spec["containers"], *(spec.get("initContainers") or [])]:
        container["env"] = [*first, *(each for each in container.get("env") or [] if each["name"] not in own)]


def _ordinal(name: str) -> int:
    found = parent_and_ordinal(name)
    if found is None:
        raise Unfit(f"parsing pod ordinal for pod {name}")
    return found[1]


def _number(text: str | None, complaint: str) -> int:
    if text is None or not (text.isascii() and text.isdigit()):
        raise Unfit(complaint)
    return int(text)
