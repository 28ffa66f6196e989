"""What somebody can do who has got hold of the token of one of our processes: what that process does, and little more.

Roles say which kinds an account may write; which fields of them, and of which objects, is said by admission policies.
"""

import base64
import secrets

import pytest

from install.manifests import load
from verify.clusters.client import Api, ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.jobs import POD_GROUP, Jobs, plain_pod
from verify.clusters.tutti_process import SYSTEM_NAMESPACE, Tutti

SETTLE_SECONDS = 30
MANAGED = "tutti.scheduler/managed"


@pytest.fixture
def controllers(tutti: Tutti, control_plane: ControlPlane) -> Api:
    return control_plane.api_of_thief("tutti-controllers")


@pytest.fixture
def scheduler(tutti: Tutti, control_plane: ControlPlane) -> Api:
    return control_plane.api_of_thief("tutti-scheduler")


@pytest.fixture
def webhooks(tutti: Tutti, control_plane: ControlPlane) -> Api:
    return control_plane.api_of_thief("tutti-webhooks")


def pod(api: Api, namespace: str, name: str, *, managed: bool) -> Object:
    """A pod that nobody places, of a gang of ours or of somebody else."""
    body = plain_pod(name)
    body["spec"]["schedulerName"] = "nobody"
    body["spec"]["tolerations"] = []
    body["metadata"].setdefault("labels", {})["app"] = "web"
    made = api.create("pods", body, namespace)
    return api.patch("pods", name, {"metadata": {"labels": {MANAGED: "embedded"}}}, namespace) if managed else made


def refused(api: Api, path: str, body: object, *, kind: str = "merge", method: str = "PATCH") -> str:
    """The words with which the patch, or another request, was refused."""
    with pytest.raises(ApiError) as answer:
        api.request(method, path, body, kind=kind if method == "PATCH" else "")
    assert answer.value.status in {403, 422}
    return answer.value.message


IMAGE = [{"op": "replace", "path": "/spec/containers/0/image", "value": "evil"}]


def test_the_controllers_change_no_pod_that_is_not_of_a_gang_of_ours(controllers: Api, jobs: Jobs) -> None:
    pod(jobs.api, jobs.namespace, "foreign", managed=False)
    path = jobs.api.path("pods", jobs.namespace, "foreign")
    for body in (
        {"metadata": {"annotations": {POD_GROUP: "g"}}},
        {"metadata": {"labels": {MANAGED: "embedded"}}},
        {"metadata": {"labels": {"app": "other"}}},
    ):
        assert "only pods of gangs of Tutti" in refused(controllers, path, body)
    assert "only pods of gangs of Tutti" in refused(controllers, path, IMAGE, kind="json")
    jobs.api.delete("pods", "foreign", jobs.namespace)


def test_not_even_in_kube_system(controllers: Api, control_plane: ControlPlane, namespace: str) -> None:
    name = f"important-{secrets.token_hex(3)}"
    pod(control_plane.admin, "kube-system", name, managed=False)
    path = control_plane.admin.path("pods", "kube-system", name)
    assert "only pods of gangs of Tutti" in refused(controllers, path, IMAGE, kind="json")
    control_plane.admin.delete("pods", name, "kube-system")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (IMAGE, "json"),
        ({"spec": {"activeDeadlineSeconds": 1}}, "merge"),
        ({"metadata": {"labels": {"app": "other"}}}, "merge"),
        ({"metadata": {"labels": {"app": None}}}, "merge"),
        ({"metadata": {"labels": {"more": "x"}}}, "merge"),
        ({"metadata": {"annotations": {"sidecar.istio.io/inject": "true"}}}, "merge"),
        ({"metadata": {"annotations": {"tutti.scheduler/incarnation": "x"}}}, "merge"),
        ({"metadata": {"finalizers": ["example.com/stay"]}}, "merge"),
        (
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "x"}]}},
            "merge",
        ),
    ],
)
def test_of_a_pod_of_ours_the_controllers_change_our_keys_only(
    controllers: Api, jobs: Jobs, body: object, kind: str
) -> None:
    pod(jobs.api, jobs.namespace, "member", managed=True)
    path = jobs.api.path("pods", jobs.namespace, "member")
    assert "only the group of a pod" in refused(controllers, path, body, kind=kind)
    ours = {"annotations": {POD_GROUP: "g", "tutti.scheduler/pod-group-uid": "u"}, "labels": {MANAGED: None}}
    controllers.request("PATCH", path, {"metadata": ours}, kind="merge")
    jobs.api.delete("pods", "member", jobs.namespace)


def condition(of: str, status: str = "True") -> Object:
    return {"type": of, "status": status, "reason": "Stolen", "lastTransitionTime": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"labels": {"app": "other"}}},
        {"metadata": {"labels": {"app": None}}},
        {"metadata": {"annotations": {"any": "thing"}}},
        {"metadata": {"finalizers": ["example.com/stay"]}},
        {"status": {"phase": "Succeeded"}},
        {"status": {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}},
        {"status": {"message": "stolen"}},
        {"status": {"conditions": [condition("Ready")]}},
        {"status": {"conditions": [condition("Ready"), condition("PodScheduled", "False")]}},
    ],
)
def test_of_the_status_of_a_pod_the_scheduler_changes_its_conditions_and_the_nominated_node_only(
    scheduler: Api, jobs: Jobs, body: Object
) -> None:
    pod(jobs.api, jobs.namespace, "waits", managed=False)
    path = jobs.api.path("pods", jobs.namespace, "waits") + "/status"
    assert "only why a pod waits" in refused(scheduler, path, body, kind="strategic")
    for ours in (
        {"conditions": [condition("PodScheduled", "False")], "nominatedNodeName": "n"},
        {"conditions": [condition("DisruptionTarget")], "nominatedNodeName": None},
    ):
        scheduler.request("PATCH", path, {"status": ours}, kind="strategic")
    assert jobs.api.get("pods", "waits", jobs.namespace)["metadata"]["labels"] == {"app": "web"}
    jobs.api.delete("pods", "waits", jobs.namespace)


@pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37")
def test_of_claims_the_scheduler_makes_and_deletes_those_for_extended_resources_only(
    scheduler: Api, jobs: Jobs
) -> None:
    owner = pod(jobs.api, jobs.namespace, "asks", managed=False)["metadata"]
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "asks", "uid": owner["uid"], "controller": True}
    marked = {"annotations": {"resource.kubernetes.io/extended-resource-claim": "true"}}
    owned = {"ownerReferences": [reference]}
    path = jobs.api.path("resourceclaims", jobs.namespace)

    def claim(name: str, **metadata: object) -> Object:
        return {"metadata": {"name": name, **metadata}, "spec": {"devices": {}}}

    for metadata in ({}, marked, owned):
        told = refused(scheduler, path, claim("made", **metadata), method="POST")
        assert "only claims for the extended resources of a pod" in told
    jobs.api.create("resourceclaims", claim("theirs"), jobs.namespace)
    told = refused(scheduler, f"{path}/theirs", {}, method="DELETE")
    assert "only claims for the extended resources of a pod" in told
    scheduler.request("POST", path, claim("made", **marked, **owned))
    scheduler.request("DELETE", f"{path}/made", {})
    jobs.api.delete("resourceclaims", "theirs", jobs.namespace)
    jobs.api.delete("pods", "asks", jobs.namespace)


CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
NAMES = dict(zip(CONFIGURATIONS, ("tutti-mutating", "tutti-validating"), strict=True))
SECRETS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["secrets"]}


@pytest.mark.parametrize("kind", CONFIGURATIONS)
@pytest.mark.parametrize(
    "change",
    [
        [{"op": "replace", "path": "/webhooks/0/rules/0", "value": SECRETS}],
        [{"op": "add", "path": "/webhooks/0/rules/-", "value": SECRETS}],
        [{"op": "remove", "path": "/webhooks/0/matchConditions"}],
        [{"op": "replace", "path": "/webhooks/0/namespaceSelector", "value": {}}],
        [{"op": "replace", "path": "/webhooks/0/clientConfig", "value": {"url": "https://192.0.2.1/"}}],
        [{"op": "replace", "path": "/webhooks/0/name", "value": "other.tutti.scheduler"}],
        [{"op": "remove", "path": "/webhooks/0"}],
    ],
    ids=["rule", "rule more", "conditions", "namespaces", "address", "name", "fewer"],
)
def test_of_their_configurations_the_webhooks_change_the_authorities_only(
    webhooks: Api, kind: str, change: Object
) -> None:
    path = webhooks.path(kind, None, NAMES[kind])
    assert "only which authorities sign its certificate" in refused(webhooks, path, change, kind="json")


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_a_webhook_more_is_refused_and_other_authorities_are_taken(webhooks: Api, kind: str) -> None:
    path = webhooks.path(kind, None, NAMES[kind])
    known = webhooks.get(kind, NAMES[kind])["webhooks"]
    more = {**known[0], "name": "more.tutti.scheduler", "rules": [SECRETS]}
    told = refused(webhooks, path, [{"op": "add", "path": "/webhooks/-", "value": more}], kind="json")
    assert "only which authorities sign its certificate" in told
    bundle = known[0]["clientConfig"]["caBundle"]
    twice = base64.b64encode(base64.b64decode(bundle) * 2).decode()
    for value in (twice, bundle):
        same = {"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": value}
        webhooks.request("PATCH", path, [same], kind="json")


def test_the_webhooks_touch_no_other_configuration_and_no_other_secret(webhooks: Api, namespace: str) -> None:
    for path in (
        webhooks.path("mutatingwebhookconfigurations", None, "other"),
        webhooks.path("secrets", SYSTEM_NAMESPACE, "other"),
        webhooks.path("secrets", namespace, "tutti-webhooks-certificates"),
    ):
        with pytest.raises(ApiError) as answer:
            webhooks.request("GET", path)
        assert answer.value.status == 403


@pytest.mark.real_only("the types of the fields in expressions")
def test_the_server_has_nothing_to_say_about_the_expressions_of_our_policies(
    tutti: Tutti, control_plane: ControlPlane
) -> None:
    def checked() -> list[Object]:
        found = control_plane.admin.list("validatingadmissionpolicies", labels="app.kubernetes.io/part-of=tutti")
        assert all(each.get("status", {}).get("observedGeneration") for each in found)
        return found

    policies = eventually(checked, within_seconds=SETTLE_SECONDS)
    shipped = {each.name for each in load("policy") if each.resource.kind == "ValidatingAdmissionPolicy"}
    assert {each["metadata"]["name"] for each in policies} >= shipped
    assert [each["metadata"]["name"] for each in policies if each["status"].get("typeChecking")] == []
