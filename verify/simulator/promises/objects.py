"""The objects in a simulated server's memory, as the judges of a run read them. Amounts are added up anew."""

from collections import Counter
from typing import Any, Final

from api.quantity import parse_milli
from kube.groups.group_api import OWN
from localcluster.apiserver.store.memory import Store

Object = dict[str, Any]
Resource = tuple[str, str]

PODS: Final[Resource] = ("", "pods")
NODES: Final[Resource] = ("", "nodes")
CLAIMS: Final[Resource] = ("", "persistentvolumeclaims")
JOBS: Final[Resource] = ("batch", "jobs")
GROUPS: Final[Resource] = (OWN.pod_groups.group, OWN.pod_groups.plural)
WORKLOADS: Final[Resource] = (OWN.workloads.group, OWN.workloads.plural)
ENDED: Final = frozenset({"Succeeded", "Failed"})


def used_on(store: Store, node: str) -> Counter[str]:
    """What the pods on a node ask for, in thousandths."""
    used: Counter[str] = Counter()
    for each in store.list(PODS):
        if each.obj["spec"].get("nodeName") == node and not has_ended(each.obj):
            used.update(requests_of(each.obj))
    return used


def requests_of(pod: Object) -> dict[str, int]:
    """What one pod asks for, in thousandths."""
    asked: Counter[str] = Counter(pods=1000)
    for container in pod["spec"]["containers"]:
        for name, text in ((container.get("resources") or {}).get("requests") or {}).items():
            asked[name] += parse_milli(str(text))
    return dict(asked)


def has_ended(pod: Object) -> bool:
    """Whether its containers run no more."""
    return pod.get("status", {}).get("phase") in ENDED
