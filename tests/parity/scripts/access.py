"""Roles, reviews and tokens: who may do what."""

from tests.parity.scripts.objects import of
from tests.parity.steps import NOBODY, Script, delete, get, patch, post, quiet, table

CORE = "/api/v1/namespaces/{ns}"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"

ROLE = of(
    "rbac.authorization.k8s.io/v1",
    "ClusterRole",
    "parity-reader",
    rules=[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}],
)
ACCESS = Script(
    "access",
    [
        post("create a role", f"{RBAC}/clusterroles", ROLE),
        post(
            "bind it",
            f"{RBAC}/namespaces/{{ns}}/rolebindings",
            {
                **of("rbac.authorization.k8s.io/v1", "RoleBinding", "parity-reader"),
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "parity-reader"},
                "subjects": [
                    {"kind": "User", "name": "nobody", "apiGroup": "rbac.authorization.k8s.io"},
                    {"kind": "ServiceAccount", "name": "robot", "namespace": "{ns}"},
                ],
            },
        ),
        table("roles", f"{RBAC}/clusterroles/parity-reader"),
        table("bindings", f"{RBAC}/namespaces/{{ns}}/rolebindings"),
        patch(
            "change the bound role",
            f"{RBAC}/namespaces/{{ns}}/rolebindings/parity-reader",
            {"roleRef": {"name": "other"}},
        ),
        quiet(get("wait for the right", f"{CORE}/configmaps", user=NOBODY, until=("kind", "ConfigMapList"))),
        get("what was granted", f"{CORE}/configmaps/nothing", user=NOBODY),
        get("what was not granted", f"{CORE}/secrets/nothing", user=NOBODY),
        post(
            "may I",
            f"{AUTHORIZATION}/selfsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"verb": "create", "resource": "pods", "namespace": "{ns}"}},
            },
        ),
        post(
            "may nobody",
            f"{AUTHORIZATION}/selfsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"verb": "create", "resource": "pods", "namespace": "{ns}"}},
            },
            user=NOBODY,
        ),
        post(
            "may nobody read",
            f"{AUTHORIZATION}/selfsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "{ns}"}},
            },
            user=NOBODY,
        ),
        post(
            "may nobody see paths",
            f"{AUTHORIZATION}/selfsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"nonResourceAttributes": {"verb": "get", "path": "/metrics"}},
            },
            user=NOBODY,
        ),
        post(
            "may another",
            f"{AUTHORIZATION}/subjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {
                    "user": "nobody",
                    "resourceAttributes": {"verb": "list", "resource": "configmaps", "namespace": "{ns}"},
                },
            },
        ),
        post(
            "who am I",
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
            user=NOBODY,
        ),
        post(
            "a review of nothing",
            f"{AUTHORIZATION}/selfsubjectaccessreviews",
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {}},
        ),
        quiet(post("a robot", f"{CORE}/serviceaccounts", of("v1", "ServiceAccount", "robot"))),
        quiet(
            post(
                "its token",
                f"{CORE}/serviceaccounts/robot/token",
                {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
                keep={"token": "status.token"},
            )
        ),
        delete("unbind", f"{RBAC}/namespaces/{{ns}}/rolebindings/parity-reader"),
        delete("drop the role", f"{RBAC}/clusterroles/parity-reader"),
    ],
)

SCRIPTS = [ACCESS]
