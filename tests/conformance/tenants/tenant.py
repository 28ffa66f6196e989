"""Tenants: people with one of the roles that every cluster has, in a namespace of their own, and a token of their own."""

import secrets
from dataclasses import dataclass

from verify.clusters.client import Api, ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Jobs

SETTLE_SECONDS = 60
RBAC = "rbac.authorization.k8s.io"
TOKEN_SECONDS = 3600


@dataclass(frozen=True)
class Tenant:
    """Somebody with rights in one namespace and nowhere else.

    Attributes:
        api: as he sees it.
        namespace: his.
    """

    api: Api
    namespace: str

    @property
    def jobs(self) -> Jobs:
        """His Jobs, as he sees them."""
        return Jobs(self.api, self.namespace)

    def create(self, resource: str, body: Object) -> Object:
        """Creates an object in his namespace."""
        return self.api.create(resource, body, self.namespace)


def tenant(control_plane: ControlPlane, name: str, role: str) -> Tenant:
    """Makes a namespace and somebody who has this cluster role in it.

    Args:
        control_plane: the cluster.
        name: how the namespace's name begins.
        role: `edit` or `admin`.
    """
    admin = control_plane.admin
    namespace = f"{name}-{secrets.token_hex(3)}"
    admin.create("namespaces", {"metadata": {"name": namespace}})
    admin.create("serviceaccounts", {"metadata": {"name": "person"}}, namespace)
    subject = {"kind": "ServiceAccount", "name": "person", "namespace": namespace}
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    binding = {"metadata": {"name": "person"}, "roleRef": reference, "subjects": [subject]}
    admin.create("rolebindings", binding, namespace)
    path = f"{admin.path('serviceaccounts', namespace, 'person')}/token"
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": TOKEN_SECONDS},
    }
    token = str(admin.request("POST", path, body)["status"]["token"])
    api = Api(control_plane.url, token=token, ca=control_plane.ca, group_api=control_plane.group_api, agent=name)
    made = Tenant(api, namespace)
    # The rules of Tutti's roles are added to those of the cluster's by a controller, a moment after they are there.
    eventually(lambda: _may_write(made), within_seconds=SETTLE_SECONDS)
    return made


def _may_write(who: Tenant) -> bool:
    try:
        for resource in ("jobs", "pods", "podgroups", "workloads"):
            who.api.list(resource, who.namespace)
        who.api.request("DELETE", who.api.path("podgroups", who.namespace, "none"))
    except ApiError as error:
        if error.status != 404:
            raise
    return True
