"""What a hollow node looks like: its resources, labels and taints, read from the command line's short forms.

Pure. A hollow node is an ordinary Node object with a mark, `HOLLOW_LABEL`; the hollow kubelet runs the pods of every
node that carries the mark, whoever made it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.errors import ConfigurationError, InvalidQuantity
from api.quantity import parse_milli

HOLLOW_LABEL = "localcluster.tutti.scheduler/hollow"
"""Label of nodes whose pods the hollow kubelet runs; the value is `true`."""

DEFAULT_PODS = "110"
"""How many pods a node takes when its shape does not say: the kubelet's own default."""

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class NodeShape:
    """What many equal nodes have in common."""

    resources: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()


def parse_resources(text: str) -> dict[str, str]:
    """`cpu=8,memory=32Gi,nvidia.com/gpu=8` as a mapping, with a number of pods added when there is none.

    Raises:
        ConfigurationError: a part is no `name=quantity`.
    """
    resources: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        name, found, quantity = part.partition("=")
        if not found or not name:
            raise ConfigurationError(f"--shape: {part!r} is not of the form name=quantity, such as cpu=8")
        try:
            parse_milli(quantity)
        except InvalidQuantity as error:
            raise ConfigurationError(f"--shape: {name}: {error}") from error
        resources[name] = quantity
    return {"pods": DEFAULT_PODS, **resources}


def parse_labels(texts: Iterable[str]) -> dict[str, str]:
    """`key=value` entries as a mapping.

    Raises:
        ConfigurationError: an entry is no `key=value`.
    """
    labels: dict[str, str] = {}
    for text in texts:
        key, found, value = text.partition("=")
        if not found or not key:
            raise ConfigurationError(f"--label: {text!r} is not of the form key=value")
        labels[key] = value
    return labels


def parse_taints(texts: Iterable[str]) -> tuple[Mapping[str, str], ...]:
    """`key=value:Effect` or `key:Effect` entries as taints.

    Raises:
        ConfigurationError: an entry has another form or an unknown effect.
    """
    taints: list[Mapping[str, str]] = []
    for text in texts:
        mark, _, effect = text.rpartition(":")
        key, _, value = mark.partition("=")
        if not key or effect not in TAINT_EFFECTS:
            raise ConfigurationError(f"--taint: {text!r} is not of the form key=value:{'|'.join(TAINT_EFFECTS)}")
        taints.append({"key": key, "effect": effect, **({"value": value} if value else {})})
    return tuple(taints)


def node_manifest(name: str, shape: NodeShape, *, now: str) -> dict[str, Any]:
    """A Ready node of that shape; `now` is RFC 3339."""
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "hollow kubelet is posting ready status",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **shape.labels, HOLLOW_LABEL: "true"}},
        "spec": {"taints": [dict(taint) for taint in shape.taints]},
        "status": {
            "capacity": dict(shape.resources),
            "allocatable": dict(shape.resources),
            "conditions": [ready],
            "nodeInfo": _node_info(),
        },
    }


def _node_info() -> dict[str, str]:
    """What a kubelet says of its machine; empty strings would show as `<unknown>` in kubectl."""
    return {
        "architecture": "amd64",
        "operatingSystem": "linux",
        "kubeletVersion": "v1.37.0-hollow",
        "kubeProxyVersion": "",
        "containerRuntimeVersion": "hollow://0",
        "osImage": "hollow",
        "kernelVersion": "",
        "machineID": "",
        "systemUUID": "",
        "bootID": "",
    }
