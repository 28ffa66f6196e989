"""Nodes as the scheduler reads them. Heartbeats change none of these fields but `conditions`, which are not decoded."""

import msgspec

from api.meta import NO_METADATA, Metadata


class Taint(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A mark on a node that keeps away pods which do not tolerate it."""

    key: str
    effect: str
    value: str = ""


class NodeSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec` of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class ContainerImage(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
    """An image that is present on a node; `null` for names is what a kubelet says of one whose tags have gone to another."""

    names: tuple[str, ...] | None = None
    size_bytes: int = 0


class NodeStatus(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`status` of a node: what pods may ask for in total, as quantity strings, the images it holds, what its kubelet can do."""

    allocatable: dict[str, str] = {}
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node."""

    metadata: Metadata = NO_METADATA
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
