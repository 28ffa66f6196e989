"""Rows of the small kinds of core/v1, policy, coordination and scheduling."""

from collections.abc import Mapping

from localcluster.apiserver.discovery.tables.cells import (
    AGE,
    CREATED_AT,
    NAME,
    Cell,
    Object,
    Printer,
    age_of,
    boolean,
    name_of,
    number,
    part,
    text,
)

UNLIMITED = "N/A"
LIMIT_PREFIX = "limits."


def plain_cells(obj: Object, now: float) -> list[Cell]:
    """Name and age: the row of a kind that has no printer of its own."""
    return [name_of(obj), age_of(obj, now)]


def created_at_cells(obj: Object, _now: float) -> list[Cell]:
    """Name and time of creation: the row of the kinds for which Kubernetes has no printer."""
    return [name_of(obj), obj["metadata"].get("creationTimestamp", "")]


def namespace_cells(namespace: Object, now: float) -> list[Cell]:
    """One row of a Namespace."""
    return [name_of(namespace), part(namespace, "status").get("phase", ""), age_of(namespace, now)]


def secret_cells(secret: Object, now: float) -> list[Cell]:
    """One row of a Secret."""
    return [name_of(secret), secret.get("type", ""), len(secret.get("data") or ()), age_of(secret, now)]


def config_map_cells(config_map: Object, now: float) -> list[Cell]:
    """One row of a ConfigMap."""
    count = len(config_map.get("data") or ()) + len(config_map.get("binaryData") or ())
    return [name_of(config_map), count, age_of(config_map, now)]


def lease_cells(lease: Object, now: float) -> list[Cell]:
    """One row of a Lease."""
    return [name_of(lease), part(lease, "spec").get("holderIdentity") or "", age_of(lease, now)]


def priority_class_cells(priority_class: Object, now: float) -> list[Cell]:
    """One row of a PriorityClass."""
    return [
        name_of(priority_class),
        priority_class.get("value", 0),
        bool(priority_class.get("globalDefault")),
        age_of(priority_class, now),
        priority_class.get("preemptionPolicy", ""),
    ]


def disruption_budget_cells(budget: Object, now: float) -> list[Cell]:
    """One row of a PodDisruptionBudget."""
    spec = part(budget, "spec")
    return [
        name_of(budget),
        str(spec.get("minAvailable", UNLIMITED)),
        str(spec.get("maxUnavailable", UNLIMITED)),
        part(budget, "status").get("disruptionsAllowed", 0),
        age_of(budget, now),
    ]


def quota_cells(quota: Object, now: float) -> list[Cell]:
    """One row of a ResourceQuota: requests and limits apart."""
    hard: Mapping[str, object] = part(quota, "spec").get("hard") or {}
    used: Mapping[str, object] = part(quota, "status").get("used") or {}
    listed = [(key, f"{key}: {used.get(key, 0)}/{limit}") for key, limit in sorted(hard.items())]
    requests = ", ".join(told for key, told in listed if not key.startswith(LIMIT_PREFIX))
    limits = ", ".join(told for key, told in listed if key.startswith(LIMIT_PREFIX))
    return [name_of(quota), requests, limits, age_of(quota, now)]


PLAIN = Printer((NAME, AGE), plain_cells)
CREATED = Printer((NAME, CREATED_AT), created_at_cells)
NAMESPACE = Printer((NAME, text("Status", "Active or Terminating."), AGE), namespace_cells)
SECRET = Printer((NAME, text("Type"), text("Data", "How many entries it has."), AGE), secret_cells)
CONFIG_MAP = Printer((NAME, text("Data", "How many entries it has."), AGE), config_map_cells)
LEASE = Printer((NAME, text("Holder", "Who holds it."), AGE), lease_cells)
PRIORITY_CLASS = Printer(
    (
        NAME,
        number("Value", "What the class is worth; more goes first."),
        boolean("Global-Default", "Whether pods without a class get this one."),
        AGE,
        text("PreemptionPolicy", "Whether its pods may make others give way."),
    ),
    priority_class_cells,
)
DISRUPTION_BUDGET = Printer(
    (
        NAME,
        text("Min Available", "How many pods must stay."),
        text("Max Unavailable", "How many pods may be missing."),
        number("Allowed Disruptions", "How many pods may be evicted now."),
        AGE,
    ),
    disruption_budget_cells,
)
QUOTA = Printer(
    (NAME, text("Request", "Use and limit of requests."), text("Limit", "Use and limit of limits."), AGE), quota_cells
)
