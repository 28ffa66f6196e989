"""People who may see one namespace are told by the scheduler why their objects wait, through the API server, by their own token.

The scheduler runs beside the cluster, so a pod that nobody runs stands for it, with the address of this machine; since it has no
node, its endpoint is made here. Everything else (Service, rights, the way through the API server) is that of the component `why`.
"""

import http.client
import json
import secrets
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from install.manifests import CONFIG_FOLDER
from verify.clusters.client import Api, ApiError
from verify.clusters.cluster_files import ADMIN, NOBODY, token_of, write_kubeconfig
from verify.clusters.controlplane import ControlPlane, Ran
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import SYSTEM_NAMESPACE, Tutti, run_tutti

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("no stand-in passes requests on to Services")]
SETTLE_SECONDS = 30
WAY_SECONDS = 60
COMPONENT = CONFIG_FOLDER / "components" / "why"
MANIFESTS = (COMPONENT / "rights" / "roles.yaml", COMPONENT / "service.yaml")
LABELS = {"app.kubernetes.io/name": "tutti", "app.kubernetes.io/component": "scheduler"}
STAND_IN = "scheduler-of-this-machine"


def address_of_this_machine() -> str:
    """One by which the API server may reach a pod: none of loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return str(asked.getsockname()[0])


def stand_in_pod(port: int) -> dict[str, Any]:
    container = {
        "name": "scheduler",
        "image": "registry.example/none:1",
        "ports": [{"name": "why", "containerPort": port}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    security = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"schedulerName": "nobody", "securityContext": security, "containers": [container]}
    return {"metadata": {"name": STAND_IN, "labels": LABELS}, "spec": spec}


def endpoints(address: str, port: int) -> dict[str, Any]:
    target = {"kind": "Pod", "name": STAND_IN, "namespace": SYSTEM_NAMESPACE}
    return {
        "metadata": {"name": STAND_IN, "labels": {"kubernetes.io/service-name": "tutti-scheduler"}},
        "addressType": "IPv4",
        "ports": [{"name": "why", "port": port}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}, "targetRef": target}],
    }


@pytest.fixture
def way(tutti: Tutti, control_plane: ControlPlane) -> Iterator[None]:
    """The component `why` is in the cluster, and its Service has somebody behind it."""
    api, address = control_plane.admin, address_of_this_machine()
    for file in MANIFESTS:
        control_plane.kubectl("apply", "-f", str(file), user=ADMIN)
    api.create("pods", stand_in_pod(tutti.why_port), SYSTEM_NAMESPACE)
    ready = {"type": "Ready", "status": "True"}
    status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": [ready]}
    path = f"{api.path('pods', SYSTEM_NAMESPACE, STAND_IN)}/status"
    api.request("PATCH", path, {"status": status}, kind="merge")
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{SYSTEM_NAMESPACE}/endpointslices"
    api.request("POST", slices, endpoints(address, tutti.why_port))
    yield
    api.request("DELETE", f"{slices}/{STAND_IN}")
    api.delete("pods", STAND_IN, SYSTEM_NAMESPACE)
    for file in MANIFESTS:
        control_plane.kubectl("delete", "-f", str(file), "--wait=false", user=ADMIN)


@dataclass
class Tenant:
    """Somebody with the role `edit` in one namespace, and a Job that waits there for more than there is."""

    namespace: str
    token: str
    kubeconfig: Path
    control_plane: ControlPlane

    def asks(self, what: str, *options: str, namespace: str = "") -> Ran:
        where = ("-n", namespace or self.namespace, "--kubeconfig", str(self.kubeconfig))
        return run_tutti("why", what, *where, *options, folder=self.control_plane.folder)


def tenant(control_plane: ControlPlane, name: str) -> Tenant:
    api = control_plane.admin
    namespace = f"{name}-{secrets.token_hex(3)}"
    api.create("namespaces", {"metadata": {"name": namespace}})
    api.create("serviceaccounts", {"metadata": {"name": f"{name}-person"}}, namespace)
    subject = {"kind": "ServiceAccount", "name": f"{name}-person", "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
    api.create("rolebindings", {"metadata": {"name": "edits"}, "roleRef": role, "subjects": [subject]}, namespace)
    path = f"{api.path('serviceaccounts', namespace, f'{name}-person')}/token"
    token = str(api.request("POST", path, {"spec": {"expirationSeconds": 3600}})["status"]["token"])
    file = control_plane.folder / f"{namespace}.kubeconfig"
    write_kubeconfig(file, server=control_plane.url, ca=control_plane.ca, user=f"{name}-person", token=token)
    return Tenant(namespace, token, file, control_plane)


@pytest.fixture
def tenants(control_plane: ControlPlane, way: None) -> Iterator[tuple[Tenant, Tenant]]:
    both = tenant(control_plane, "scarlet"), tenant(control_plane, "azure")
    yield both
    for each in both:
        control_plane.admin.delete("namespaces", each.namespace)


def until_it_waits(control_plane: ControlPlane, namespace: str, name: str) -> None:
    def waits() -> bool:
        groups = [each for each in control_plane.admin.list("podgroups", namespace) if name in each["metadata"]["name"]]
        return any(
            one["type"] == "PodGroupInitiallyScheduled" and one["status"] == "False"
            for group in groups
            for one in (group.get("status") or {}).get("conditions") or ()
        )

    eventually(waits, within_seconds=SETTLE_SECONDS)


def test_each_tenant_is_told_of_his_own_and_the_other_is_not_named(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, tenants: tuple[Tenant, Tenant]
) -> None:
    api = control_plane.admin
    nodes.add(2, cpu="4")
    for each, name in zip(tenants, ("scarlet", "azure"), strict=True):
        api.create("jobs", indexed_job(f"{name}-runs", 2, cpu="2", run_seconds=600), each.namespace)
    for each, name in zip(tenants, ("scarlet", "azure"), strict=True):
        api.create("jobs", indexed_job(f"{name}-waits", 4, cpu="2"), each.namespace)
    for each, name in zip(tenants, ("scarlet", "azure"), strict=True):
        until_it_waits(control_plane, each.namespace, f"{name}-waits")

    for each, name, other in zip(tenants, ("scarlet", "azure"), ("azure", "scarlet"), strict=True):
        ran = told(each, f"job/{name}-waits", "-o", "json")
        (answer,) = json.loads(ran.out)
        assert answer["item"]["owner"] == f"job/{name}-waits"
        assert answer["verdict"] == "waits"
        assert answer["members"]["pending"] == 4
        assert answer["hint"], answer
        screen = each.asks(f"job/{name}-waits")
        assert f"job/{name}-waits in {each.namespace}: waits" in screen.out
        for text in (ran.out, ran.err, screen.out, screen.err):
            assert other not in text
        assert "the scheduler was asked" in ran.err


def told(tenant: Tenant, what: str, *options: str) -> Ran:
    """What somebody is told once the way is there: endpoints and rights take their time."""
    ran = tenant.asks(what, *options)

    def has_answer() -> bool:
        nonlocal ran
        if ran.code not in {0, 3, 4}:
            ran = tenant.asks(what, *options)
        assert ran.code in {0, 3, 4}, ran
        return True

    eventually(has_answer, within_seconds=WAY_SECONDS, poll_seconds=2.0)
    return ran


def test_nobody_is_told_of_what_he_may_not_see(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, tenants: tuple[Tenant, Tenant]
) -> None:
    scarlet, azure = tenants
    control_plane.admin.create("jobs", indexed_job("scarlet-waits", 4, cpu="2"), scarlet.namespace)
    until_it_waits(control_plane, scarlet.namespace, "scarlet-waits")
    assert told(scarlet, "job/scarlet-waits").code in {3, 4}

    refused = azure.asks("job/scarlet-waits", namespace=scarlet.namespace)
    assert (refused.code, refused.out) == (2, "")
    assert "may not get podgroups" in refused.err
    missing = azure.asks("job/never-was")
    assert (missing.code, missing.out) == (2, "")
    assert "nothing of that name" in missing.err
    nobody = run_tutti(
        "why", "job/scarlet-waits", "-n", scarlet.namespace, "--kubeconfig", str(control_plane.kubeconfig_of(NOBODY)),
        folder=control_plane.folder,
    )  # fmt: skip
    assert (nobody.code, nobody.out) == (2, "")

    path = f"/why/namespaces/{scarlet.namespace}/job/scarlet-waits"
    assert status_of(tutti, path, "") == 401
    assert status_of(tutti, path, "made-up") == 401
    assert status_of(tutti, path, token_of(NOBODY)) == 403
    assert status_of(tutti, path, azure.token) in {403, 429}
    assert status_of(tutti, "/metrics", azure.token) == 404


def test_the_way_leads_to_that_port_alone(
    tutti: Tutti, control_plane: ControlPlane, tenants: tuple[Tenant, Tenant]
) -> None:
    azure = tenants[1]
    api = Api(control_plane.url, token=azure.token, ca=control_plane.ca, group_api=control_plane.group_api)
    services = f"/api/v1/namespaces/{SYSTEM_NAMESPACE}/services"
    for service in ("tutti-scheduler:why", "http:tutti-scheduler:why", "https:tutti-scheduler:443", "tutti-webhooks"):
        with pytest.raises(ApiError) as refused:
            api.request("GET", f"{services}/{service}/proxy/metrics")
        assert refused.value.status == 403
    with pytest.raises(ApiError) as refused:
        api.request("POST", f"{services}/https:tutti-scheduler:why/proxy/x", {})
    assert refused.value.status == 403
    api.close()


def status_of(tutti: Tutti, path: str, token: str) -> int:
    """What the scheduler itself answers, without the API server between."""
    strangers = ssl.create_default_context()
    strangers.check_hostname, strangers.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", tutti.why_port, context=strangers, timeout=30)
    try:
        connection.request("GET", path, headers={"Tutti-Authorization": f"Bearer {token}"} if token else {})
        return connection.getresponse().status
    finally:
        connection.close()
