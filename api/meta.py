"""Metadata that all Kubernetes objects share, as slim records.

Only the fields Tutti reads are decoded; everything else in an answer is skipped by the decoder at no cost.
"""

from typing import Final

import msgspec


class OwnerReference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One entry of `metadata.ownerReferences`."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Metadata(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`ObjectMeta`, as far as Tutti reads it. Time stamps stay RFC 3339 strings."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    generate_name: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    finalizers: tuple[str, ...] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """(namespace, name); namespace is `` for cluster-scoped objects."""
        return (self.namespace, self.name)

    @property
    def is_terminating(self) -> bool:
        """True once somebody asked for the deletion of the object."""
        return self.deletion_timestamp is not None

    def label(self, key: str) -> str | None:
        """The value of a label, None when absent."""
        return self.labels.get(key) if self.labels else None

    def annotation(self, key: str) -> str | None:
        """The value of an annotation, None when absent."""
        return self.annotations.get(key) if self.annotations else None


class Condition(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One entry of a `status.conditions` list; `last_transition_time` is RFC 3339."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int | None = None


NO_METADATA: Final = Metadata()


def controlled_by(api_version: str, kind: str, metadata: Metadata) -> OwnerReference:
    """The owner reference that makes the object with this metadata the controller of another, which goes first."""
    return OwnerReference(
        api_version=api_version,
        kind=kind,
        name=metadata.name,
        uid=metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )


def controller_of(metadata: Metadata) -> OwnerReference | None:
    """The owner reference with `controller: true`, None when the object has no controller."""
    for owner in metadata.owner_references or ():
        if owner.controller:
            return owner
    return None


def condition_of(conditions: tuple[Condition, ...], condition_type: str) -> Condition | None:
    """The condition of that type, None when there is none."""
    for condition in conditions:
        if condition.type == condition_type:
            return condition
    return None
