"""A gang as a scheduler that is not ours has to be told about it.

Admission and the controllers build one from a Job or from a replica of a LeaderWorkerSet; the providers turn it into pod
metadata and group objects. All of it is known without asking anybody: a name, the pods by role with what each asks for, and
what the user wrote on the object and on its pod template.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import msgspec

from api.constants import MANAGED_BY, MANAGED_BY_TUTTI
from api.meta import OwnerReference
from api.names import fnv1a_32, safe_encode
from api.pod import PodSpec
from api.requests import PODS, effective_requests, format_amount

LEADER: Final = "leader"
WORKER: Final = "worker"
PLACEMENT: Final = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")

Manifest = dict[str, Any]
Amounts = Mapping[str, int]


class StartupPolicy(Enum):
    """When the workers of a LeaderWorkerSet replica are created (LWS `spec.startupPolicy`)."""

    LEADER_CREATED = "LeaderCreated"
    LEADER_READY = "LeaderReady"


@dataclass(frozen=True, slots=True)
class Role:
    """Pods of a gang that are made from one template.

    Attributes:
        name: `worker` for all pods of a Job; `leader` and `worker` in a LeaderWorkerSet.
        count: how many there are in the whole gang.
        requests: what one of them takes of its node, in the units of `api.requests`.
        placement: the fields of the template's spec that say where its pods may run, as they stand there.
    """

    name: str
    count: int
    requests: Amounts = field(default_factory=dict)
    placement: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """Pods that start together or not at all.

    Attributes:
        name: the name of its PodGroup, different for every incarnation of the owner.
        namespace: where its pods and its group objects live.
        min_count: pods that must be able to start together; up to `size`.
        roles: the pods, the leader's role first.
        startup: when the workers of a LeaderWorkerSet replica are created.
        leader_is_placed: whether its leader has a node already.
        owner: the controller of the group objects: the Job, or the leader pod.
        labels: those of the Job or LeaderWorkerSet over those of the pod template.
        annotations: likewise.
        priority_class_name: the one of all its pods.
        timeout_seconds: how long a scheduler that gives up waits for the whole gang; None leaves that to it.
    """

    name: str
    namespace: str
    min_count: int
    roles: tuple[Role, ...]
    startup: StartupPolicy = StartupPolicy.LEADER_CREATED
    leader_is_placed: bool = False
    owner: OwnerReference | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    priority_class_name: str = ""
    timeout_seconds: int | None = None

    @property
    def size(self) -> int:
        """All its pods."""
        return sum(role.count for role in self.roles)

    @property
    def leader_comes_first(self) -> bool:
        """True when its workers are created only once its leader is ready, so that they cannot start together with it."""
        return self.startup is StartupPolicy.LEADER_READY and self.size > 1

    def minimum_of(self, role: Role) -> int:
        """How many pods of that role belong to the minimum; a minimum below the size needs a single role."""
        return min(role.count, self.min_count) if len(self.roles) == 1 else role.count

    def setting(self, key: str) -> str | None:
        """What the user wrote under this key, as a label or else as an annotation."""
        return self.labels.get(key) or self.annotations.get(key)


def role_of(name: str, count: int, template_spec: Mapping[str, Any]) -> Role:
    """The role of `count` pods with this `spec`, as the API server has it.

    Raises:
        InvalidQuantity: a quantity is out of bounds.
    """
    spec = msgspec.json.decode(msgspec.json.encode(template_spec), type=PodSpec)
    requests = {key: amount for key, amount in effective_requests(spec).items() if key != PODS}
    return Role(name, count, requests, {key: template_spec[key] for key in PLACEMENT if template_spec.get(key)})


def quantities(amounts: Amounts) -> dict[str, str]:
    """A resource list as manifests write it."""
    return {name: format_amount(name, amount) for name, amount in sorted(amounts.items())}


def minimum_resources(gang: Gang) -> dict[str, str]:
    """What the minimum of the gang takes together: each role's pods by their own template, without the resource `pods`."""
    total: dict[str, int] = {}
    for role in gang.roles:
        for name, amount in role.requests.items():
            total[name] = total.get(name, 0) + amount * gang.minimum_of(role)
    return quantities(total)


def short_name(name: str, longest: int) -> str:
    """The name itself if it fits, else its beginning and a hash of all of it, as a DNS label where it was one."""
    if len(name) <= longest:
        return name
    digest = safe_encode(str(fnv1a_32(name.encode())))
    return f"{name[: longest - len(digest) - 1].rstrip('-.')}-{digest}"


def group_object(api_version: str, kind: str, name: str, gang: Gang, spec: Mapping[str, Any]) -> Manifest:
    """A group object of this gang that lives as long as the gang's owner."""
    metadata: Manifest = {
        "name": name,
        "namespace": gang.namespace,
        "annotations": {MANAGED_BY: MANAGED_BY_TUTTI},
    }
    if gang.owner is not None:
        metadata["ownerReferences"] = [msgspec.to_builtins(gang.owner)]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": _stated(spec)}


def _stated(spec: Mapping[str, Any]) -> Manifest:
    return {key: value for key, value in spec.items() if value not in (None, "", {})}
