"""The kinds that `config/` ships, so that a manifest finds its place on the API server without discovery."""

from typing import Any, Final

from api.errors import ConfigurationError
from kube.client.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    MUTATING_POLICIES,
    MUTATING_POLICY_BINDINGS,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    POD_DISRUPTION_BUDGETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_WEBHOOKS,
    Resource,
)

_RBAC: Final = "rbac.authorization.k8s.io"
CLUSTER_ROLES: Final = Resource(_RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False)
CLUSTER_ROLE_BINDINGS: Final = Resource(_RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False)
ROLES: Final = Resource(_RBAC, "v1", "roles", "Role", namespaced=True)
ROLE_BINDINGS: Final = Resource(_RBAC, "v1", "rolebindings", "RoleBinding", namespaced=True)

BINDINGS: Final = frozenset({CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS})
"""What gives rights to an account; without these it can do nothing."""

WEBHOOKS: Final = frozenset({MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS})

_KNOWN: Final = {
    (resource.api_version, resource.kind): resource
    for resource in (
        CLUSTER_ROLES,
        CLUSTER_ROLE_BINDINGS,
        CUSTOM_RESOURCE_DEFINITIONS,
        DEPLOYMENTS,
        MUTATING_POLICIES,
        MUTATING_POLICY_BINDINGS,
        MUTATING_WEBHOOKS,
        NAMESPACES,
        POD_DISRUPTION_BUDGETS,
        ROLES,
        ROLE_BINDINGS,
        SERVICES,
        SERVICE_ACCOUNTS,
        VALIDATING_POLICIES,
        VALIDATING_POLICY_BINDINGS,
        VALIDATING_WEBHOOKS,
    )
}


def resource_of(document: dict[str, Any], source: str) -> Resource:
    """Where the API server keeps objects like this one.

    Raises:
        ConfigurationError: it is of a kind we do not ship.
    """
    kind = (str(document.get("apiVersion")), str(document.get("kind")))
    resource = _KNOWN.get(kind)
    if resource is None:
        raise ConfigurationError(f"{source}: {kind[0]} {kind[1]} is no kind that Tutti installs")
    return resource
