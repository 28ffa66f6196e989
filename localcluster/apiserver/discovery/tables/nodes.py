"""Rows of nodes."""

from localcluster.apiserver.discovery.tables.age import UNKNOWN
from localcluster.apiserver.discovery.tables.cells import (
    AGE,
    NAME,
    NONE,
    Cell,
    Column,
    Object,
    Printer,
    age_of,
    condition,
    name_of,
    part,
    text,
)

ROLE_PREFIX = "node-role.kubernetes.io/"
OLD_ROLE_LABEL = "kubernetes.io/role"

COLUMNS = (
    NAME,
    text("Status", "Whether the node takes pods."),
    text("Roles", "The roles its labels give it."),
    AGE,
    text("Version", "The version of its kubelet."),
    Column("Internal-IP", priority=1, description="Its address within the cluster."),
    Column("External-IP", priority=1, description="Its address for the outside."),
    Column("OS-Image", priority=1, description="The operating system it reports."),
    Column("Kernel-Version", priority=1, description="The kernel it reports."),
    Column("Container-Runtime", priority=1, description="The container runtime it reports."),
)


def _status(node: Object) -> str:
    ready = condition(node, "Ready")
    words = ["Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"]
    if part(node, "spec").get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(node: Object) -> str:
    labels = node["metadata"].get("labels") or {}
    roles = {key.removeprefix(ROLE_PREFIX) for key in labels if key.startswith(ROLE_PREFIX) and key != ROLE_PREFIX}
    if labels.get(OLD_ROLE_LABEL):
        roles.add(labels[OLD_ROLE_LABEL])
    return ",".join(sorted(roles)) or NONE


def _address(node: Object, kind: str) -> str:
    addresses = part(node, "status").get("addresses") or ()
    return next((each["address"] for each in addresses if each.get("type") == kind), NONE)


def node_cells(node: Object, now: float) -> list[Cell]:
    """One row of a node."""
    info = part(node, "status", "nodeInfo")
    return [
        name_of(node),
        _status(node),
        _roles(node),
        age_of(node, now),
        info.get("kubeletVersion", ""),
        _address(node, "InternalIP"),
        _address(node, "ExternalIP"),
        *(info.get(key) or UNKNOWN for key in ("osImage", "kernelVersion", "containerRuntimeVersion")),
    ]


NODE = Printer(COLUMNS, node_cells)
