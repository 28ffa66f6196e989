"""One case: a small cluster, a pod, and what kube-scheduler 1.37 does with it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOSTNAME = "kubernetes.io/hostname"
ZONE = "zone"
OTHER = "OTHER"
"""Stands for the name of the other namespace."""

Spec = dict[str, Any]
Object = dict[str, Any]
Labels = dict[str, str]


@dataclass(frozen=True)
class Machine:
    """A node; all have 8 cores and 64 GiB unless said otherwise."""

    labels: Labels = field(default_factory=dict)
    taints: tuple[dict[str, str], ...] = ()
    images: tuple[tuple[str, int], ...] = ()
    """(name, MiB)."""
    cpu: int = 8
    is_cordoned: bool = False
    memory: int = 64
    pods: int = 110
    more: Labels = field(default_factory=dict)
    """Other amounts."""
    features: tuple[str, ...] = ()
    """What its kubelet declares, in alphabetical order."""


@dataclass(frozen=True)
class Running:
    """A pod that runs on the n-th node; `other` puts it into the other namespace, which has the label team=red."""

    at: int
    labels: Labels = field(default_factory=dict)
    spec: Spec = field(default_factory=dict)
    other: bool = False
    cpu: int = 0
    requests: Labels = field(default_factory=dict)
    """What it asks for beside `cpu`."""


@dataclass(frozen=True)
class Case:
    """The pod gets the n-th node (`node`), or none and is told why (`reasons`, the text between colon and full stop)."""

    name: str
    machines: tuple[Machine, ...]
    running: tuple[Running, ...]
    labels: Labels
    spec: Spec
    node: int | None
    reasons: str = ""
    cpu: int = 0
    services: tuple[Labels, ...] = ()
    """Selectors of Services in the pod's namespace."""
    objects: tuple[Object, ...] = ()
    """Whatever else there is, with the status that controllers give it; `made` ones are made by a controller altogether."""
    delays: bool = False
    """The pod is not bound, because nobody makes its volume; its claim `c` tells the node."""
    requests: Labels = field(default_factory=dict)
    """What the pod asks for beside `cpu`."""
    profile: str = ""
    """One of `profiles.PROFILES`; the default one when empty."""
    is_whole: bool = False
    """`reasons` is all that is said, without a count of nodes."""

    def message(self) -> str:
        """What the pod is told."""
        return self.reasons if self.is_whole else f"0/{len(self.machines)} nodes are available: {self.reasons}."


def selector(**labels: str) -> Spec:
    return {"matchLabels": labels}


def term(chosen: Spec | None, key: str = ZONE, **more: Any) -> Spec:
    return {"topologyKey": key, **({"labelSelector": chosen} if chosen is not None else {}), **more}


def near(*terms: Spec) -> Spec:
    return {"affinity": {"podAffinity": {REQUIRED: list(terms)}}}


def apart(*terms: Spec) -> Spec:
    return {"affinity": {"podAntiAffinity": {REQUIRED: list(terms)}}}


def likes(*wishes: tuple[int, Spec]) -> Spec:
    return {"affinity": {"podAffinity": {PREFERRED: _weighted(wishes)}}}


def avoids(*wishes: tuple[int, Spec]) -> Spec:
    return {"affinity": {"podAntiAffinity": {PREFERRED: _weighted(wishes)}}}


def _weighted(wishes: tuple[tuple[int, Spec], ...]) -> list[Spec]:
    return [{"weight": weight, "podAffinityTerm": wished} for weight, wished in wishes]


def even(chosen: Spec | None, key: str = ZONE, *, skew: int = 1, hard: bool = True, **more: Any) -> Spec:
    when = "DoNotSchedule" if hard else "ScheduleAnyway"
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": when,
        **({"labelSelector": chosen} if chosen is not None else {}),
        **more,
    }


def spread(*constraints: Spec) -> Spec:
    return {"topologySpreadConstraints": list(constraints)}


def prefers(*wishes: tuple[int, Spec]) -> Spec:
    entries = [{"weight": weight, "preference": preference} for weight, preference in wishes]
    return {"affinity": {"nodeAffinity": {PREFERRED: entries}}}


def labelled(key: str, operator: str, *values: str) -> Spec:
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}


def in_zones(*zones: str) -> tuple[Machine, ...]:
    """One node per letter, with the zone of that name; `-` makes one without the label."""
    return tuple(Machine({ZONE: zone} if zone != "-" else {}) for zone in zones)


def own_names(value: Any, name_of: Callable[[str], str]) -> Any:
    """The same with `name_of(x)` where `@x` is, in keys and values and inside texts."""
    if isinstance(value, dict):
        return {key: own_names(entry, name_of) for key, entry in value.items()}
    if isinstance(value, list):
        return [own_names(entry, name_of) for entry in value]
    return re.sub(r"(?<!\w)@(\w+)", lambda found: name_of(found[1]), value) if isinstance(value, str) else value


def named(value: Any, other: str) -> Any:
    """The same with the name of the other namespace where it is referred to."""
    if isinstance(value, dict):
        return {key: named(entry, other) for key, entry in value.items()}
    if isinstance(value, list):
        return [named(entry, other) for entry in value]
    return other if value == OTHER else value
