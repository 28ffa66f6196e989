"""Rows of the kinds of apps/v1, and of Services."""

from localcluster.apiserver.discovery.tables.cells import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    WORKLOAD_WIDE,
    Cell,
    Object,
    Printer,
    age_of,
    containers,
    name_of,
    number,
    pairs,
    part,
    selector,
    text,
)

DEPLOYMENT_COLUMNS = (
    NAME,
    text("Ready", "How many pods are ready, of how many."),
    text("Up-to-date", "How many pods have the present template."),
    text("Available", "How many pods have been ready long enough."),
    AGE,
    *WORKLOAD_WIDE,
    SELECTOR,
)
STATEFUL_SET_COLUMNS = (NAME, text("Ready", "How many pods are ready, of how many."), AGE, *WORKLOAD_WIDE)
REVISION_COLUMNS = (NAME, text("Controller", "What the revision is of."), text("Revision"), AGE)
REPLICA_SET_COLUMNS = (NAME, number("Desired"), number("Current"), number("Ready"), AGE, *WORKLOAD_WIDE, SELECTOR)
DAEMON_SET_COLUMNS = (
    NAME,
    number("Desired"),
    number("Current"),
    number("Ready"),
    number("Up-to-date"),
    number("Available"),
    text("Node Selector", "Which nodes get a pod."),
    AGE,
    *WORKLOAD_WIDE,
    SELECTOR,
)
SERVICE_COLUMNS = (
    NAME,
    text("Type", "How the service is reached."),
    text("Cluster-IP", "Its address within the cluster."),
    text("External-IP", "Its addresses for the outside."),
    text("Port(s)", "The ports it serves."),
    AGE,
    SELECTOR,
)


def deployment_cells(deployment: Object, now: float) -> list[Cell]:
    """One row of a Deployment."""
    spec, status = part(deployment, "spec"), part(deployment, "status")
    return [
        name_of(deployment),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age_of(deployment, now),
        *containers(part(spec, "template")),
        selector(spec.get("selector")),
    ]


def stateful_set_cells(stateful_set: Object, now: float) -> list[Cell]:
    """One row of a StatefulSet."""
    spec, status = part(stateful_set, "spec"), part(stateful_set, "status")
    return [
        name_of(stateful_set),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        age_of(stateful_set, now),
        *containers(part(spec, "template")),
    ]


def revision_cells(revision: Object, now: float) -> list[Cell]:
    """One row of a ControllerRevision."""
    owners = part(revision, "metadata").get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    return [
        name_of(revision),
        NONE if owner is None else _owner(owner),
        revision.get("revision", 0),
        age_of(revision, now),
    ]


def _owner(owner: Object) -> str:
    group = str(owner.get("apiVersion", "")).rpartition("/")[0]
    kind = str(owner.get("kind", "")).lower()
    return f"{kind}.{group}/{owner.get('name', '')}" if group else f"{kind}/{owner.get('name', '')}"


def replica_set_cells(replica_set: Object, now: float) -> list[Cell]:
    """One row of a ReplicaSet."""
    spec, status = part(replica_set, "spec"), part(replica_set, "status")
    return [
        name_of(replica_set),
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age_of(replica_set, now),
        *containers(part(spec, "template")),
        selector(spec.get("selector")),
    ]


def replication_controller_cells(controller: Object, now: float) -> list[Cell]:
    """One row of a ReplicationController, whose selector is a plain map."""
    return [*replica_set_cells(controller, now)[:-1], pairs(part(controller, "spec").get("selector"))]


def daemon_set_cells(daemon_set: Object, now: float) -> list[Cell]:
    """One row of a DaemonSet."""
    spec, status = part(daemon_set, "spec"), part(daemon_set, "status")
    counts = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        name_of(daemon_set),
        *(status.get(key, 0) for key in counts),
        pairs(part(spec, "template", "spec").get("nodeSelector")),
        age_of(daemon_set, now),
        *containers(part(spec, "template")),
        selector(spec.get("selector")),
    ]


def _external_addresses(service: Object) -> str:
    spec = part(service, "spec")
    kind, listed = spec.get("type", "ClusterIP"), list(spec.get("externalIPs") or ())
    if kind == "ExternalName":
        return str(spec.get("externalName", ""))
    if kind != "LoadBalancer":
        return ",".join(listed) or NONE
    ingress = part(service, "status", "loadBalancer").get("ingress") or ()
    given = sorted({str(each.get("ip") or each.get("hostname") or "") for each in ingress} - {""})
    return ",".join(given + listed) or "<pending>"


def _port(port: Object) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', 'TCP')}"


def service_cells(service: Object, now: float) -> list[Cell]:
    """One row of a Service."""
    spec = part(service, "spec")
    addresses = spec.get("clusterIPs") or ()
    return [
        name_of(service),
        spec.get("type", "ClusterIP"),
        addresses[0] if addresses else NONE,
        _external_addresses(service),
        ",".join(_port(each) for each in spec.get("ports") or ()) or NONE,
        age_of(service, now),
        pairs(spec.get("selector")),
    ]


DEPLOYMENT = Printer(DEPLOYMENT_COLUMNS, deployment_cells)
STATEFUL_SET = Printer(STATEFUL_SET_COLUMNS, stateful_set_cells)
CONTROLLER_REVISION = Printer(REVISION_COLUMNS, revision_cells)
REPLICA_SET = Printer(REPLICA_SET_COLUMNS, replica_set_cells)
REPLICATION_CONTROLLER = Printer(REPLICA_SET_COLUMNS, replication_controller_cells)
DAEMON_SET = Printer(DAEMON_SET_COLUMNS, daemon_set_cells)
SERVICE = Printer(SERVICE_COLUMNS, service_cells)
