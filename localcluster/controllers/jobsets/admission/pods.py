"""What admission does to a pod of a JobSet when it is created, and when it refuses it. Pure.

With an exclusive topology the first pod of each Job, its leader, keeps those of other Jobs out of its domain. The others follow
into that domain, by a node selector, and are refused for as long as the leader has no node: the Job controller tries again.
"""

import copy
from typing import Any, Final

from api.constants import JOB_COMPLETION_INDEX, JOBSET_EXCLUSIVE_TOPOLOGY, JOBSET_NAME, JOBSET_NODE_SELECTOR
from localcluster.controllers.admission.affinity import keep_apart

Object = dict[str, Any]

JOB_KEY: Final = "jobset.sigs.k8s.io/job-key"
PRIORITY: Final = "jobset.sigs.k8s.io/priority"

LEADER: Final = "0"


def followed_topology(pod: Object) -> str | None:
    """The label of nodes whose value a pod shares with its leader; None for a pod that follows nobody."""
    return None if _annotation(pod, JOB_COMPLETION_INDEX) == LEADER else _topology(pod)


def admitted(pod: Object, domain: str | None) -> Object:
    """The pod as it is to be created; `domain` is that of its leader, None when it has none or follows nobody."""
    if JOBSET_NAME not in (pod["metadata"].get("labels") or {}) or _annotation(pod, JOBSET_NODE_SELECTOR):
        return pod
    made = copy.deepcopy(pod)
    labels, spec = made["metadata"]["labels"], made["spec"]
    priority = labels[PRIORITY] = str(spec.get("priority") or 0)
    followed, topology = followed_topology(pod), _topology(pod)
    if followed is not None:
        if domain is not None:
            spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), followed: domain}
    elif topology is not None and JOB_KEY in labels:
        # A Job of another priority may come in, for it may send this one away.
        equal = {"key": PRIORITY, "operator": "In", "values": [priority]}
        keep_apart(made, JOB_KEY, labels[JOB_KEY], topology, among=[equal], namespaceSelector={})
    return made


def complaint(pod: Object, domain: str | None) -> str | None:
    """Why the pod may not be created yet; None when it may."""
    followed = followed_topology(pod)
    if followed is None:
        return None
    selected = (pod["spec"].get("nodeSelector") or {}).get(followed)
    if selected is None:
        return "follower pod node selector not set"
    return None if selected == domain else f"follower pod selects {followed}={selected}, where its leader is not"


def _topology(pod: Object) -> str | None:
    """The exclusive topology that the pod webhook sees to; with the strategy of node selectors it has nothing to do."""
    return None if _annotation(pod, JOBSET_NODE_SELECTOR) else _annotation(pod, JOBSET_EXCLUSIVE_TOPOLOGY)


def _annotation(pod: Object, key: str) -> str | None:
    return (pod["metadata"].get("annotations") or {}).get(key) or None
