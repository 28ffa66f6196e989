"""Pods as the scheduler, the controllers and admission read them.

What decides *where* a pod may run is kept as raw JSON (`msgspec.Raw`): pods of one gang carry the same bytes there, so the
scheduler parses each distinct set once and finds it again by its bytes. What differs between equal pods (environment,
tokens) is never decoded.
"""

from typing import Final

import msgspec

from api.meta import NO_METADATA, Condition, Metadata

EMPTY: Final = msgspec.Raw(b"")
TERMINAL_PHASES: Final = frozenset({"Succeeded", "Failed"})


class Container(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """A container: what it asks for, the ports it opens on its host, its image; `restart_policy` Always makes a sidecar.

    Its mounts and the rules of its restart decide which features of a node it needs; its name is told with its devices.
    """

    name: str = ""
    image: str = ""
    resources: msgspec.Raw = EMPTY
    ports: msgspec.Raw = EMPTY
    restart_policy: str = ""
    restart_policy_rules: msgspec.Raw = EMPTY
    volume_mounts: msgspec.Raw = EMPTY


class Volume(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """A volume, if it is of a kind that limits where its pod may run; tokens, inline CSI and the like decode to nothing."""

    name: str = ""
    persistent_volume_claim: msgspec.Raw = EMPTY
    ephemeral: msgspec.Raw = EMPTY
    gce_persistent_disk: msgspec.Raw = EMPTY
    aws_elastic_block_store: msgspec.Raw = EMPTY
    iscsi: msgspec.Raw = EMPTY
    rbd: msgspec.Raw = EMPTY


class SchedulingGroup(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec.schedulingGroup` of the built-in group API (Kubernetes 1.36 and later)."""

    pod_group_name: str | None = None


class SchedulingGate(msgspec.Struct, frozen=True, omit_defaults=True):
    """One gate that holds a pod back from scheduling."""

    name: str = ""


class PodSpec(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`spec` of a pod; the raw fields are parsed once per distinct value by the scheduler."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: int = 0
    preemption_policy: str = "PreemptLowerPriority"
    scheduling_group: SchedulingGroup | None = None
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    ephemeral_containers: msgspec.Raw = EMPTY
    volumes: tuple[Volume, ...] = ()
    resources: msgspec.Raw = EMPTY
    overhead: msgspec.Raw = EMPTY
    node_selector: msgspec.Raw = EMPTY
    affinity: msgspec.Raw = EMPTY
    tolerations: msgspec.Raw = EMPTY
    topology_spread_constraints: msgspec.Raw = EMPTY
    resource_claims: msgspec.Raw = EMPTY
    host_network: bool = False
    host_users: bool | None = None


class PodStatus(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`status` of a pod, as far as scheduling needs it."""

    phase: str = "Pending"
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: msgspec.Raw = EMPTY


class Pod(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pod."""

    metadata: Metadata = NO_METADATA
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_terminal(self) -> bool:
        """True when all its containers have ended for good; it holds no room on its node any more."""
        return self.status.phase in TERMINAL_PHASES
