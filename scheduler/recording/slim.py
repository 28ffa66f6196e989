"""Leaves out of an object what no decision reads: whatever else it says stays where it is.

Environment, commands and mounted data are not even decoded. What is left are annotations, of which only those named here are
kept, and parts of a pod's spec that may name secrets or hold data: they are written anew from what was understood of them.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from api.compositepodgroup import CompositePodGroup
from api.constants import (
    BIND_COMPLETED,
    DEGRADED,
    DESIRED_COUNT,
    EXTENDED_CLAIM,
    LEGACY_STORAGE_CLASS,
    MANAGED_BY,
    MIN_RESOURCES,
    ON_SCHEDULING_TIMEOUT,
    PARENT_COMPOSITE,
    POD_GROUP,
    PREEMPTION_PRIORITY_CLASS,
    PROVIDER,
    REPAIR_TIMEOUT,
    SCHEDULING_TIMEOUT,
    SELECTED_NODE,
    SLICE_SIZE,
    SLICE_TOPOLOGY,
    TOPOLOGY,
)
from api.features import fields_that_need, required_features
from api.meta import Metadata, controller_of
from api.node import Node
from api.pod import EMPTY, Container, Pod, PodSpec
from api.podgroup import PodGroup
from scheduler.cache.pod_volumes import parse_volumes
from scheduler.recording.device_objects import ABOUT_DEVICES, slim_devices
from scheduler.recording.pods import volumes_of, with_features

KEPT_ANNOTATIONS: Final = frozenset(
    {
        BIND_COMPLETED,
        DEGRADED,
        DESIRED_COUNT,
        EXTENDED_CLAIM,
        LEGACY_STORAGE_CLASS,
        MANAGED_BY,
        MIN_RESOURCES,
        ON_SCHEDULING_TIMEOUT,
        PARENT_COMPOSITE,
        POD_GROUP,
        PREEMPTION_PRIORITY_CLASS,
        PROVIDER,
        REPAIR_TIMEOUT,
        SCHEDULING_TIMEOUT,
        SELECTED_NODE,
        SLICE_SIZE,
        SLICE_TOPOLOGY,
        TOPOLOGY,
    }
)

T = TypeVar("T", bound=msgspec.Struct)


def slim(found: T) -> T:
    """The object without what no decision reads."""
    changes: dict[str, Any] = {}
    metadata = getattr(found, "metadata", None)
    if isinstance(metadata, Metadata):
        changes["metadata"] = slim_metadata(
            metadata, has_labels=not isinstance(found, (PodGroup, CompositePodGroup, *ABOUT_DEVICES))
        )
    if isinstance(found, Pod):
        changes["spec"] = _slim_spec(found.spec, found.metadata.name)
        changes["status"] = msgspec.structs.replace(found.status, conditions=(), start_time=None)
    if isinstance(found, Node):
        changes["status"] = msgspec.structs.replace(found.status)
    return slim_devices(msgspec.structs.replace(found, **changes))


def slim_metadata(metadata: Metadata, *, has_labels: bool = True) -> Metadata:
    """Names, time stamps, labels, the controller, and the annotations that decide something."""
    owner = controller_of(metadata)
    return Metadata(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        creation_timestamp=metadata.creation_timestamp,
        deletion_timestamp=metadata.deletion_timestamp,
        labels=metadata.labels if has_labels else None,
        annotations=_kept(metadata.annotations),
        owner_references=(owner,) if owner is not None else None,
    )


def _kept(annotations: Mapping[str, str] | None) -> dict[str, str] | None:
    return {key: value for key, value in (annotations or {}).items() if key in KEPT_ANNOTATIONS} or None


def _slim_spec(spec: PodSpec, pod_name: str) -> PodSpec:
    features = required_features(spec)
    container, more = fields_that_need(features)
    volumes = parse_volumes(spec, pod_name)
    return msgspec.structs.replace(
        spec,
        containers=with_features(tuple(map(_slim_container, spec.containers)), container),
        init_containers=tuple(map(_slim_container, spec.init_containers)),
        ephemeral_containers=EMPTY,
        volumes=volumes_of(volumes, pod_name) if volumes is not None else (),
        host_users=False if "hostUsers" in more else None,
    )


def _slim_container(container: Container) -> Container:
    return msgspec.structs.replace(container, name="", restart_policy_rules=EMPTY, volume_mounts=EMPTY)
