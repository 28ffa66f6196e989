"""What the real server's own admission does to pods and PriorityClasses: priorities, and the tolerations of every pod.

Pure decisions over values (plugins Priority and DefaultTolerationSeconds).
"""

from collections.abc import Iterable
from typing import Any, Final

from localcluster.apiserver import status
from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.admission.question import refusal_name

Object = dict[str, Any]

PODS: Final = ("", "pods")
PRIORITY_CLASSES: Final = ("scheduling.k8s.io", "priorityclasses")
PREEMPTS: Final = "PreemptLowerPriority"
TOLERATED_SECONDS: Final = 300
_SYSTEM_CLASSES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit_pod(attributes: AdmissionAttributes, classes: Iterable[Object]) -> None:
    """Gives a new pod its priority and tolerations, in place; an updated one keeps its priority.

    Raises:
        StatusError: the class is not there, or the pod names numbers that the class does not give.
    """
    pod, old = attributes.obj, attributes.old
    if pod is None or attributes.subresource or attributes.kind.resource != PODS:
        return
    spec = pod.setdefault("spec", {})
    if attributes.verb == "UPDATE" and old is not None:
        for field in ("priority", "preemptionPolicy"):
            if spec.get(field) is None and old["spec"].get(field) is not None:
                spec[field] = old["spec"][field]
    elif attributes.verb == "CREATE":
        _prioritize(attributes, spec, list(classes))
    if attributes.verb in {"CREATE", "UPDATE"}:
        tolerate_short_outages(spec)


def _prioritize(attributes: AdmissionAttributes, spec: Object, classes: list[Object]) -> None:
    name = spec.get("priorityClassName") or ""
    if name:
        value, policy = _of_class(attributes, name, classes)
    else:
        name, value, policy = default_priority(classes)
        if name:
            spec["priorityClassName"] = name
    if spec.get("priority") is not None and spec["priority"] != value:
        text = f"the integer value of priority ({spec['priority']}) must not be provided in pod spec"
        raise _refused(
            attributes, f"{text}; priority admission controller computed {value} from the given PriorityClass name"
        )
    if spec.get("preemptionPolicy") is not None and spec["preemptionPolicy"] != policy:
        text = f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec"
        raise _refused(
            attributes, f"{text}; priority admission controller computed {policy} from the given PriorityClass name"
        )
    spec["priority"], spec["preemptionPolicy"] = value, policy


def _of_class(attributes: AdmissionAttributes, name: str, classes: list[Object]) -> tuple[int, str]:
    found = next((each for each in classes if each["metadata"]["name"] == name), None)
    if found is not None:
        return int(found.get("value") or 0), found.get("preemptionPolicy") or PREEMPTS
    if name in _SYSTEM_CLASSES:
        return _SYSTEM_CLASSES[name], PREEMPTS
    raise _refused(attributes, f"no PriorityClass with name {name} was found")


def default_priority(classes: Iterable[Object]) -> tuple[str, int, str]:
    """Name, value and preemption policy for pods that name no class: of several default classes the lowest."""
    defaults = [each for each in classes if each.get("globalDefault")]
    if not defaults:
        return "", 0, PREEMPTS
    lowest = min(defaults, key=lambda each: int(each.get("value") or 0))
    return lowest["metadata"]["name"], int(lowest.get("value") or 0), lowest.get("preemptionPolicy") or PREEMPTS


def check_default_class(attributes: AdmissionAttributes, classes: Iterable[Object]) -> None:
    """There is one default class at most.

    Raises:
        StatusError: there would be two.
    """
    new = attributes.obj
    if new is None or attributes.kind.resource != PRIORITY_CLASSES or not new.get("globalDefault"):
        return
    name, _, _ = default_priority(classes)
    if name and name != new["metadata"].get("name"):
        raise _refused(attributes, f"PriorityClass {name} is already marked as default. Only one default can exist")


def tolerate_short_outages(spec: Object) -> None:
    """Adds, in place, the tolerations with which a pod stays for five minutes on a node that is not ready."""
    tolerations = spec.get("tolerations") or []
    missing = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATED_SECONDS}
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        if not any(_tolerates(each, key) for each in tolerations)
    ]
    if missing:
        spec["tolerations"] = [*tolerations, *missing]


def _tolerates(toleration: Object, key: str) -> bool:
    return toleration.get("key") in {None, "", key} and toleration.get("effect") in {None, "", "NoExecute"}


def _refused(attributes: AdmissionAttributes, text: str) -> status.StatusError:
    return status.forbidden(attributes.kind, refusal_name(attributes), text)
