"""The inputs of decisions as one value: objects of the API server, and what only the scheduler knows.

Objects are slim: fields that no decision reads are left out (`slim`), so that no environment, secret or annotation with data is
ever among them. Their order is part of the value: of equal nodes, volumes and victims the order decides, and so does `layout`,
which says in which order a running scheduler has met them. Without a layout they are met in the order given here.
"""

from typing import Any, Final, Literal

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from api.namespace import Namespace
from api.node import Node
from api.pod import Pod, PodSpec
from api.podgroup import PodGroup
from api.priorityclass import PriorityClass
from api.storage import Attachment, Claim, CsiDriver, CsiNode, StorageCapacity, StorageClass, Volume
from scheduler.cache.assigned_pods import RowLayout
from scheduler.cache.default_topology_spread import SelectorOwner, SimpleOwner
from scheduler.cache.disruption_budgets import Budget
from scheduler.cache.nodes import SlotLayout
from scheduler.cache.records import EntityKey
from scheduler.cache.volume_records import ClaimKey
from scheduler.queue.queue_state import QueueState


class ClusterObjects(msgspec.Struct, frozen=True, kw_only=True):
    """All objects that decisions look at, by kind (the plural names of the API server)."""

    nodes: tuple[Node, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    priorityclasses: tuple[PriorityClass, ...] = ()
    compositepodgroups: tuple[CompositePodGroup, ...] = ()
    podgroups: tuple[PodGroup, ...] = ()
    pods: tuple[Pod, ...] = ()
    poddisruptionbudgets: tuple[Budget, ...] = ()
    services: tuple[SimpleOwner, ...] = ()
    replicationcontrollers: tuple[SimpleOwner, ...] = ()
    replicasets: tuple[SelectorOwner, ...] = ()
    statefulsets: tuple[SelectorOwner, ...] = ()
    persistentvolumes: tuple[Volume, ...] = ()
    persistentvolumeclaims: tuple[Claim, ...] = ()
    storageclasses: tuple[StorageClass, ...] = ()
    csinodes: tuple[CsiNode, ...] = ()
    csidrivers: tuple[CsiDriver, ...] = ()
    csistoragecapacities: tuple[StorageCapacity, ...] = ()
    volumeattachments: tuple[Attachment, ...] = ()
    deviceclasses: tuple[DeviceClass, ...] = ()
    resourceslices: tuple[ResourceSlice, ...] = ()
    resourceclaims: tuple[ResourceClaim, ...] = ()
    devicetaintrules: tuple[DeviceTaintRule, ...] = ()
    resourceclaimtemplates: tuple[ResourceClaimTemplate, ...] = ()
    """For pods that are to come, of a group or of a manifest (`tutti fit`)."""


class AssumedPod(msgspec.Struct, frozen=True):
    """A pod that it was decided to bind, and that is not known to be bound; the deadline in monotonic seconds."""

    uid: str
    node_name: str
    deadline_seconds: float


class HeldRoom(msgspec.Struct, frozen=True, omit_defaults=True):
    """Room on a node for so many pods that ask for this; `spec` has what decides about that."""

    node_name: str
    spec: PodSpec
    count: int = 1


class KeptDevice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A device that a nomination or a reservation keeps, or a share of one."""

    driver: str
    pool: str
    device: str
    share_id: str = ""
    consumed: dict[str, int] = {}


class NominatedPod(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pod that is nominated to a node; `spec` when it asked for something else then than it does now."""

    uid: str
    node_name: str
    spec: PodSpec | None = None
    devices: tuple[KeptDevice, ...] = ()


class NominationState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A nomination; fields are those of `scheduler.cache.nominator.Nomination`."""

    key: EntityKey
    priority: int
    places: tuple[NominatedPod, ...] = ()
    victims: tuple[str, ...] = ()
    deadline_seconds: float | None = None
    """In monotonic seconds; None: never."""
    has_started: bool = False
    is_overtaken: bool = False
    evicted: int = 0


class KeptOnNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """Devices that are kept on a node for so many pods to come."""

    node_name: str
    pods: int
    kept: tuple[KeptDevice, ...]


class ReservationState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reservation; fields are those of `scheduler.cache.reservations.Reservation`."""

    key: EntityKey
    priority: int
    room: tuple[HeldRoom, ...]
    deadline_seconds: float
    kept_devices: tuple[KeptOnNode, ...] = ()


class PastPreemption(msgspec.Struct, frozen=True, omit_defaults=True):
    """How often somebody was to leave for an item, and until when (monotonic seconds) nobody else is."""

    key: EntityKey
    attempts: int = 0
    is_over_budget: bool = False
    not_before_seconds: float = 0.0


class PastReservation(msgspec.Struct, frozen=True, omit_defaults=True):
    """How often a group's reservation ran out, and until when (monotonic seconds) it gets none."""

    key: EntityKey
    times: int = 0
    not_before_seconds: float = 0.0


class ReleasedClaim(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ResourceClaim from which devices are being taken back; the watch shows that from a version on, empty when not known yet."""

    key: ClaimKey
    until_version: str = ""


class SchedulerState(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What only the scheduler knows."""

    assumed: tuple[AssumedPod, ...] = ()
    nominations: tuple[NominationState, ...] = ()
    reservations: tuple[ReservationState, ...] = ()
    """Of groups that have waited too long."""
    future_reservations: tuple[ReservationState, ...] = ()
    """For pods that are created later."""
    given_volumes: tuple[tuple[str, ClaimKey], ...] = ()
    """(name of a volume, the claim it was decided to give it to)."""
    chosen_nodes: tuple[tuple[ClaimKey, str], ...] = ()
    """(claim, the node for which it was decided to have its volume made)."""
    assumed_claims: tuple[ResourceClaim, ...] = ()
    """ResourceClaims as they will be when what was decided about them is written."""
    released_claims: tuple[ReleasedClaim, ...] = ()
    past_preemptions: tuple[PastPreemption, ...] = ()
    past_reservations: tuple[PastReservation, ...] = ()
    queue: QueueState = QueueState()


class Layout(msgspec.Struct, frozen=True):
    """In which order a scheduler has met nodes and pods."""

    nodes: SlotLayout
    pods: RowLayout


Devices = Literal["followed", "unserved", "unknown"]
"""Whether devices are among the inputs: they are, or the API server does not serve `resource.k8s.io/v1`, or nobody has looked."""


class DecisionInputs(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a decision reads.

    Attributes:
        epoch_seconds: when it was taken, in seconds since 1970.
        monotonic_seconds: the same by the clock that all times in `scheduler` are of.
        settings: those of the scheduler that decide anything and differ from the defaults, as a settings file has them.
        group_api: where PodGroups are kept, `own` or `built-in`.
        server_version: of the API server, empty when not known.
        devices: whether devices are among the objects; `unknown` in files of version 1, and where they may not be listed.
        objects: of the API server.
        scheduler: None when nobody knows, because they were taken from the API server: then everything that waits is new.
        layout: None when nobody has met them yet.
    """

    epoch_seconds: float
    monotonic_seconds: float = 0.0
    settings: dict[str, Any] = {}
    group_api: str = ""
    server_version: str = ""
    devices: Devices = "unknown"
    objects: ClusterObjects = ClusterObjects()
    scheduler: SchedulerState | None = None
    layout: Layout | None = None


NO_STATE: Final = SchedulerState()
