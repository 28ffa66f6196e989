"""I8: after faults have ended, the state equals that of an undisturbed run: both are brought to a form that leaves out chance.

Left out are UIDs, versions, times, generated parts of names, and on which of equal nodes a pod is. What is compared: which Jobs
and sets there are and whether they are held, how many of their pods are bound, run or have ended, their Workloads and PodGroups
with owners, minimum and conditions, and what is left of others.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from api import constants
from verify.auditor.model import controller_of

Object = dict[str, Any]
State = dict[str, Counter[str]]

KINDS = ("jobs", "leaderworkersets", "statefulsets", "pods", "workloads", "podgroups")
NAMED = frozenset({"jobs", "leaderworkersets", "statefulsets"})


def normalised(objects: Mapping[str, Iterable[Object]]) -> State:
    """The state of a namespace.

    Args:
        objects: by plural: KINDS, as a list of the API server has them.

    Returns:
        For each kind how often there is an object that looks like this.
    """
    found = {kind: list(objects.get(kind, ())) for kind in KINDS}
    names = {each["metadata"]["uid"]: f"{kind}/{_name(kind, each)}" for kind in KINDS for each in found[kind]}
    return {kind: Counter(_LOOKS[kind](each, names) for each in found[kind]) for kind in KINDS}


def differences(disturbed: State, undisturbed: State) -> list[str]:
    """What is there and should not be, and what is missing; empty when both are equal."""
    told = []
    for kind in KINDS:
        there, wanted = disturbed.get(kind, Counter()), undisturbed.get(kind, Counter())
        told += [f"{kind}: {count} too many of {look}" for look, count in sorted((there - wanted).items())]
        told += [f"{kind}: {count} missing of {look}" for look, count in sorted((wanted - there).items())]
    return told


def _name(kind: str, one: Object) -> str:
    """Names that users chose; generated ones say whose they are by their owner."""
    return str(one["metadata"]["name"]) if kind in NAMED else ""


def _owner(one: Object, names: Mapping[str, str]) -> str:
    uid = controller_of(one["metadata"])
    return names.get(uid, "somebody who is gone") if uid else "nobody"


def _conditions(one: Object, kinds: Iterable[str]) -> str:
    said = {each["type"]: each for each in (one.get("status") or {}).get("conditions") or []}
    shown = [f"{kind}={said[kind]['status']}({said[kind].get('reason', '')})" for kind in kinds if kind in said]
    return " ".join(shown)


def _job(one: Object, _names: Mapping[str, str]) -> str:
    spec, annotations = one["spec"], one["metadata"].get("annotations") or {}
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    held = "suspended" if spec.get("suspend") else "resumed"
    gate = annotations.get(constants.GATE, "no gate")
    ends = _conditions(one, ("Complete", "Failed"))
    sizes = f"{spec.get('parallelism')}/{spec.get('completions')}"
    return f"{_name('jobs', one)} {sizes} {held} {gate} {labels.get(constants.MANAGED, 'plain')} {ends}".strip()


def _set(one: Object, _names: Mapping[str, str]) -> str:
    spec = one["spec"]
    return f"{_name('leaderworkersets', one)} {spec.get('replicas')}x{spec['leaderWorkerTemplate'].get('size')}"


def _stateful_set(one: Object, names: Mapping[str, str]) -> str:
    return f"{_name('statefulsets', one)} of {_owner(one, names)} with {one['spec'].get('replicas')}"


def _pod(one: Object, names: Mapping[str, str]) -> str:
    bound = "bound" if one["spec"].get("nodeName") else "unbound"
    leaving = "leaving " if one["metadata"].get("deletionTimestamp") else ""
    index = (one["metadata"].get("annotations") or {}).get("batch.kubernetes.io/job-completion-index", "")
    phase = (one.get("status") or {}).get("phase", "")
    named = "named" if constants.POD_GROUP in (one["metadata"].get("annotations") or {}) else "alone"
    return f"of {_owner(one, names)} {index} {leaving}{bound} {phase} {named}"


def _workload(one: Object, names: Mapping[str, str]) -> str:
    templates = one["spec"].get("podGroupTemplates") or []
    policies = sorted(str(each.get("schedulingPolicy")) for each in templates)
    return f"of {_owner(one, names)} {policies}"


def _group(one: Object, names: Mapping[str, str]) -> str:
    spec = one["spec"]
    told = _conditions(one, (constants.CONDITION_SCHEDULED,))
    # That it was degraded once is no trace that matters.
    satisfied = constants.CONDITION_POD_GROUP_SATISFIED
    is_degraded = _conditions(one, (satisfied,)).startswith(f"{satisfied}=False")
    told += " degraded" if is_degraded else ""
    return f"of {_owner(one, names)} {spec.get('schedulingPolicy')} {sorted(spec.get('disruptionMode') or {})} {told}"


_LOOKS = {
    "jobs": _job,
    "leaderworkersets": _set,
    "statefulsets": _stateful_set,
    "pods": _pod,
    "workloads": _workload,
    "podgroups": _group,
}
