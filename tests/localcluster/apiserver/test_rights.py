"""Who may do what: tokens, roles, reviews, and the words of a refusal."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from localcluster.apiserver.server import ApiServer
from localcluster.apiserver.tokens import Claims
from tests.localcluster.apiserver.conftest import NOBODY
from tests.localcluster.apiserver.rest import PODS, Rest

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
REVIEWS = "/apis/authorization.k8s.io/v1"


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        (
            "GET",
            "/api/v1/pods",
            'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" at the cluster scope',
        ),
        (
            "GET",
            PODS + "/x",
            'pods "x" is forbidden: User "nobody" cannot get resource "pods" in API group "" in the namespace "default"',
        ),
        (
            "POST",
            PODS + "/x/binding",
            'pods "x" is forbidden: User "nobody" cannot create resource "pods/binding" in API group "" in the namespace "default"',
        ),
        (
            "GET",
            "/apis/batch/v1/jobs?watch=1",
            'jobs.batch is forbidden: User "nobody" cannot watch resource "jobs" in API group "batch" at the cluster scope',
        ),
        (
            "DELETE",
            PODS,
            'pods is forbidden: User "nobody" cannot deletecollection resource "pods" in API group "" in the namespace "default"',
        ),
        ("GET", "/foo", 'forbidden: User "nobody" cannot get path "/foo"'),
    ],
)
async def test_a_refusal_says_who_may_not_do_what(rest: Rest, method: str, path: str, message: str) -> None:
    answer = await rest.ask(method, path, {} if method == "POST" else None, token=NOBODY)
    assert (answer.code, answer.body["reason"], answer.message) == (403, "Forbidden", message)


async def test_no_token_is_anonymous_and_a_wrong_one_nobody(rest: Rest) -> None:
    anonymous = await rest.ask("GET", "/api/v1/nodes", token="")
    assert 'User "system:anonymous" cannot list' in anonymous.message
    assert (await rest.ask("GET", "/readyz", token="")).code == 200
    wrong = await rest.ask("GET", "/api/v1/nodes", token="wrong")
    assert (wrong.code, wrong.message) == (401, "Unauthorized")


async def grant(rest: Rest, *rules: dict[str, Any], user: str = "nobody", namespaced: bool = False) -> None:
    role, bindings = ("Role", f"{RBAC}/namespaces/default") if namespaced else ("ClusterRole", RBAC)
    await rest.create(f"{bindings}/{role.lower()}s", {"metadata": {"name": "r"}, "rules": list(rules)})
    body = {
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": "r"},
        "subjects": [{"kind": "User", "name": user}],
    }
    await rest.create(f"{bindings}/{role.lower()}bindings", body)


async def test_a_cluster_role_counts_everywhere(rest: Rest) -> None:
    await grant(rest, {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]})
    assert (await rest.ask("GET", "/api/v1/pods", token=NOBODY)).code == 200
    assert (await rest.ask("GET", f"{PODS}/x", token=NOBODY)).code == 403


async def test_a_role_counts_in_its_namespace(rest: Rest) -> None:
    await grant(rest, {"apiGroups": [""], "resources": ["*"], "verbs": ["*"]}, namespaced=True)
    assert (await rest.ask("GET", PODS, token=NOBODY)).code == 200
    assert (await rest.ask("GET", "/api/v1/namespaces/kube-system/pods", token=NOBODY)).code == 403


async def test_a_rule_for_some_names_counts_for_those(rest: Rest) -> None:
    await grant(rest, {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["a"]})
    assert (await rest.ask("GET", f"{PODS}/a", token=NOBODY)).code == 404
    assert (await rest.ask("GET", f"{PODS}/b", token=NOBODY)).code == 403


async def test_a_right_ends_with_its_binding(rest: Rest) -> None:
    await grant(rest, {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]})
    assert (await rest.ask("DELETE", f"{RBAC}/clusterrolebindings/b")).code == 200
    assert (await rest.ask("GET", "/api/v1/pods", token=NOBODY)).code == 403


async def test_a_binding_keeps_its_role(rest: Rest) -> None:
    await grant(rest, {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]})
    answer = await rest.patch(f"{RBAC}/clusterrolebindings/b", {"roleRef": {"name": "other"}})
    assert (answer.code, answer.fields) == (422, ["roleRef"])


def review(**attributes: str) -> dict[str, Any]:
    return {"spec": {"resourceAttributes": {"verb": "list", "resource": "pods", **attributes}}}


async def test_access_reviews_tell_what_is_allowed(rest: Rest) -> None:
    mine = await rest.create(f"{REVIEWS}/selfsubjectaccessreviews", review())
    assert mine["status"]["allowed"] is True
    theirs = await rest.ask("POST", f"{REVIEWS}/selfsubjectaccessreviews", review(), token=NOBODY)
    assert theirs.body["status"]["allowed"] is False
    about = review()
    about["spec"]["user"] = "nobody"
    assert (await rest.create(f"{REVIEWS}/subjectaccessreviews", about))["status"]["allowed"] is False
    assert (await rest.ask("POST", f"{REVIEWS}/selfsubjectaccessreviews", {"spec": {}})).code == 422


async def test_a_service_account_is_known_by_its_token(rest: Rest) -> None:
    await rest.create(ACCOUNTS, {"metadata": {"name": "sa"}})
    answer = await rest.create(f"{ACCOUNTS}/sa/token", {"spec": {"expirationSeconds": 600}})
    token = answer["status"]["token"]
    who = await rest.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, token=token)
    assert who.body["status"]["userInfo"]["username"] == "system:serviceaccount:default:sa"
    assert "system:serviceaccounts:default" in who.body["status"]["userInfo"]["groups"]
    await rest.ask("DELETE", f"{ACCOUNTS}/sa")
    assert (await rest.ask("GET", PODS, token=token)).code == 401


async def test_a_short_or_foreign_token_is_none(rest: Rest, server: ApiServer) -> None:
    made = await rest.create(ACCOUNTS, {"metadata": {"name": "sa"}})
    short = await rest.ask("POST", f"{ACCOUNTS}/sa/token", {"spec": {"expirationSeconds": 5}})
    assert short.message.endswith(
        "spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes"
    )
    now = datetime.now(UTC)
    claims = Claims("default", "sa", made["metadata"]["uid"], (now - timedelta(seconds=1)).timestamp(), ())
    old = server.signer.sign(claims, issued_at=0, token_id="t")
    assert (await rest.ask("GET", PODS, token=old)).code == 401
    assert (await rest.ask("GET", PODS, token=old[:-4] + "AAAA")).code == 401


async def test_many_strangers_do_not_hold_up_the_server(rest: Rest) -> None:
    answers = await asyncio.gather(*(rest.ask("GET", PODS, token=f"t{n}") for n in range(50)))
    assert {each.code for each in answers} == {401}


@pytest.mark.parametrize(
    ("role", "label", "code"),
    [("view", "view", 200), ("edit", "edit", 200), ("admin", "admin", 200), ("view", "edit", 403)],
)
async def test_rules_of_a_role_with_the_label_join_those_of_users(rest: Rest, role: str, label: str, code: int) -> None:
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{label}": "true"}
    rules = [{"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": ["list"]}]
    await rest.create(f"{RBAC}/clusterroles", {"metadata": {"name": "more", "labels": labels}, "rules": rules})
    subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "nobody"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    binding = {"metadata": {"name": "person"}, "roleRef": reference, "subjects": [subject]}
    await rest.create(f"{RBAC}/clusterrolebindings", binding)
    answer = await rest.ask("GET", "/apis/scheduling.k8s.io/v1/priorityclasses", token=NOBODY)
    assert answer.code == code
    assert (await rest.ask("GET", PODS, token=NOBODY)).code == 200, "its own rules hold as before"
