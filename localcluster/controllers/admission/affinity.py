"""Rules about other pods that webhooks write into pods. Pure but for the pod that is given."""

from collections.abc import Iterable
from typing import Any, Final

Object = dict[str, Any]

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def keep_apart(pod: Object, label: str, key: str, topology: str, *, among: Iterable[Object] = (), **more: Any) -> None:
    """All pods of one key in one domain, and no pods of another there; not twice for one topology.

    Args:
        pod: gets the rules.
        label: holds the key.
        key: that of the pod.
        topology: label of nodes: those with one value are one domain.
        among: what else must hold of pods of another key for them to be kept away.
        more: further fields of both rules.
    """
    affinity = pod["spec"].setdefault("affinity", {})
    near = affinity.setdefault("podAffinity", {}).setdefault(_REQUIRED, [])
    far = affinity.setdefault("podAntiAffinity", {}).setdefault(_REQUIRED, [])
    if all(any(term.get("topologyKey") == topology for term in terms) for terms in (near, far)):
        return
    same = {"key": label, "operator": "In", "values": [key]}
    others = [{"key": label, "operator": "Exists"}, {"key": label, "operator": "NotIn", "values": [key]}, *among]
    near.append({"labelSelector": {"matchExpressions": [same]}, "topologyKey": topology, **more})
    far.append({"labelSelector": {"matchExpressions": others}, "topologyKey": topology, **more})
