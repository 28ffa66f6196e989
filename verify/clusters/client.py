"""A small JSON client of the API server, on its own so that the tests share no code with what they judge."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import urllib3

Object = dict[str, Any]

TIMEOUT_SECONDS = 20.0
PATCH_TYPES = {
    "apply": "application/apply-patch+yaml",
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
ROOTS = {
    "clusterrolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "clusterroles": "/apis/rbac.authorization.k8s.io/v1",
    "cronjobs": "/apis/batch/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1",
    "csidrivers": "/apis/storage.k8s.io/v1",
    "csinodes": "/apis/storage.k8s.io/v1",
    "csistoragecapacities": "/apis/storage.k8s.io/v1",
    "events": "/apis/events.k8s.io/v1",
    "flowschemas": "/apis/flowcontrol.apiserver.k8s.io/v1",
    "jobs": "/apis/batch/v1",
    "jobsets": "/apis/jobset.x-k8s.io/v1alpha2",
    "leaderworkersets": "/apis/leaderworkerset.x-k8s.io/v1",
    "leases": "/apis/coordination.k8s.io/v1",
    "mutatingadmissionpolicies": "/apis/admissionregistration.k8s.io/v1",
    "mutatingadmissionpolicybindings": "/apis/admissionregistration.k8s.io/v1",
    "mutatingwebhookconfigurations": "/apis/admissionregistration.k8s.io/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "priorityclasses": "/apis/scheduling.k8s.io/v1",
    "prioritylevelconfigurations": "/apis/flowcontrol.apiserver.k8s.io/v1",
    "resourceslices": "/apis/resource.k8s.io/v1",
    "resourceclaimtemplates": "/apis/resource.k8s.io/v1",
    "resourceclaims": "/apis/resource.k8s.io/v1",
    "devicetaintrules": "/apis/resource.k8s.io/v1",
    "deviceclasses": "/apis/resource.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "statefulsets": "/apis/apps/v1",
    "storageclasses": "/apis/storage.k8s.io/v1",
    "validatingadmissionpolicies": "/apis/admissionregistration.k8s.io/v1",
    "validatingadmissionpolicybindings": "/apis/admissionregistration.k8s.io/v1",
    "validatingwebhookconfigurations": "/apis/admissionregistration.k8s.io/v1",
    "volumeattachments": "/apis/storage.k8s.io/v1",
}
GROUP_ROOTS = {"own": "/apis/tutti.scheduler/v1beta1", "built-in": "/apis/scheduling.k8s.io/v1beta1"}
COMPOSITE_ROOTS = {**GROUP_ROOTS, "built-in": "/apis/scheduling.k8s.io/v1alpha3"}


class ApiError(AssertionError):
    """The API server refused; `status` is its code, the message its own."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class Api:
    """One user's view of one API server."""

    def __init__(self, server: str, *, token: str, ca: Path, group_api: str, agent: str = "conformance") -> None:
        self._server = server
        headers = {"Authorization": f"Bearer {token}", "User-Agent": agent}
        self._pool = urllib3.PoolManager(ca_certs=str(ca), headers=headers, maxsize=64, retries=False)
        self._group_roots = {
            "workloads": GROUP_ROOTS[group_api],
            "podgroups": GROUP_ROOTS[group_api],
            "compositepodgroups": COMPOSITE_ROOTS[group_api],
        }

    def close(self) -> None:
        """Closes the kept connections."""
        self._pool.clear()

    def path(self, resource: str, namespace: str | None = None, name: str | None = None) -> str:
        """The path of a collection or an object; Workloads and PodGroups in the group API in force."""
        root = self._group_roots.get(resource) or ROOTS.get(resource, "/api/v1")
        scope = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{scope}/{resource}" + (f"/{name}" if name else "")

    def request(
        self, method: str, path: str, body: object = None, *, query: Mapping[str, str] | None = None, kind: str = ""
    ) -> Object:
        """One request, its JSON answer; ApiError for every code of 300 and above."""
        headers = {"Content-Type": PATCH_TYPES.get(kind, "application/json"), "Accept": "application/json"}
        answer = self._pool.request(
            method,
            self._server + path,
            body=None if body is None else json.dumps(body).encode(),
            fields=dict(query) if query and method == "GET" else None,
            headers={**self._pool.headers, **headers},
            timeout=TIMEOUT_SECONDS,
        )
        if answer.status >= 300:
            raise ApiError(answer.status, _message(answer.data))
        return cast("Object", json.loads(answer.data)) if answer.data[:1] == b"{" else {"text": answer.data.decode()}

    def get(self, resource: str, name: str, namespace: str | None = None) -> Object:
        """The object; ApiError 404 when there is none."""
        return self.request("GET", self.path(resource, namespace, name))

    def find(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None."""
        try:
            return self.get(resource, name, namespace)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, resource: str, namespace: str | None = None, *, labels: str = "") -> list[Object]:
        """All objects of a kind, optionally of one namespace or with certain labels."""
        query = {"labelSelector": labels} if labels else None
        return cast("list[Object]", self.request("GET", self.path(resource, namespace), query=query)["items"])

    def create(self, resource: str, body: Object, namespace: str | None = None, *, dry_run: bool = False) -> Object:
        """Creates an object."""
        suffix = "?dryRun=All" if dry_run else ""
        return self.request("POST", self.path(resource, namespace) + suffix, body)

    def patch(
        self, resource: str, name: str, body: object, namespace: str | None = None, *, kind: str = "merge"
    ) -> Object:
        """Patches an object."""
        return self.request("PATCH", self.path(resource, namespace, name), body, kind=kind)

    def delete(
        self, resource: str, name: str, namespace: str | None = None, *, propagation: str = "Background", **body: object
    ) -> None:
        """Deletes an object if it is there."""
        options = {"propagationPolicy": propagation, **body}
        try:
            self.request("DELETE", self.path(resource, namespace, name), options)
        except ApiError as error:
            if error.status != 404:
                raise


def _message(data: bytes) -> str:
    try:
        return str(json.loads(data).get("message", ""))
    except ValueError:
        return data.decode(errors="replace")
