"""Namespaces that end, accounts and their tokens, and questions about users and rights."""

from typing import Any

from tests.parity.scripts.objects import Object, config_map, job, of, pod
from tests.parity.steps import ADMIN, NOBODY, Script, delete, get, patch, post, put, quiet

NAMESPACES = "/api/v1/namespaces"
ENDING = f"{NAMESPACES}/parity-ending"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
CORE = "/api/v1/namespaces/{ns}"
TOKENS = f"{CORE}/serviceaccounts/robot/token"

ENDS = Script(
    "ending",
    [
        post("create", NAMESPACES, of("v1", "Namespace", "parity-ending"), keep={"uid": "metadata.uid"}),
        post("create again", NAMESPACES, of("v1", "Namespace", "parity-ending")),
        post(
            "create with finalizers",
            NAMESPACES,
            {**of("v1", "Namespace", "parity-kept"), "spec": {"finalizers": ["example.org/mine"]}},
        ),
        quiet(get("read", ENDING, keep_as="read")),
        put("change", ENDING, {"metadata": {"labels": {"a": "b"}}}, onto="read"),
        put("change what was read before", ENDING, {"metadata": {"labels": {"a": "c"}}}, onto="read"),
        patch("take its name away", ENDING, {"metadata": {"labels": {"kubernetes.io/metadata.name": "other"}}}),
        patch("take its finalizer away", ENDING, {"spec": {"finalizers": []}}),
        quiet(post("something in it", f"{ENDING}/configmaps", config_map("one"))),
        delete("delete a former one", ENDING, {"preconditions": {"uid": "other"}}),
        delete("delete for trial", ENDING, query={"dryRun": "All"}),
        delete("delete", ENDING, {"preconditions": {"uid": "${uid}"}, "propagationPolicy": "Background"}),
        delete("delete again", ENDING, {"preconditions": {"uid": "${uid}"}}),
        *(
            post(f"nothing new: {what}", f"{path}/namespaces/parity-ending/{plural}", body)
            for what, path, plural, body in (
                ("a pod", "/api/v1", "pods", pod("p")),
                ("a job", "/apis/batch/v1", "jobs", job("j")),
                ("a map", "/api/v1", "configmaps", config_map("two")),
                (
                    "a claim by a prefix",
                    "/api/v1",
                    "configmaps",
                    {**config_map(""), "metadata": {"generateName": "a-"}},
                ),
            )
        ),
        patch("what is in it may change", f"{ENDING}/configmaps/one", {"data": {"a": "b"}}),
        quiet(get("read it going", ENDING, keep_as="going")),
        put(
            "say what it waits for",
            f"{ENDING}/status",
            {
                "status": {
                    "conditions": [
                        {
                            "type": "NamespaceContentRemaining",
                            "status": "True",
                            "lastTransitionTime": "2026-01-15T08:00:00Z",
                            "reason": "SomeResourcesRemain",
                            "message": "Some resources are remaining: configmaps. has 1 resource instances",
                        }
                    ]
                }
            },
            onto="going",
        ),
        put("finalize what was read before", f"{ENDING}/finalize", {"spec": {"finalizers": []}}, onto="going"),
        get("reading what finalizes", f"{ENDING}/finalize"),
        quiet(get("read it again", ENDING, keep_as="going")),
        put("finalize another way", f"{ENDING}/finalize", config_map("parity-ending")),
        delete("empty it", f"{ENDING}/configmaps", {"propagationPolicy": "Background"}),
        delete("empty it of what it has not", f"{ENDING}/pods", {"propagationPolicy": "Background"}),
        delete("empty it of accounts", f"{ENDING}/serviceaccounts", {"propagationPolicy": "Background"}),
        put("finalize", f"{ENDING}/finalize", {"spec": {"finalizers": []}}, onto="going"),
        get("it is gone", ENDING),
        put("finalize what is gone", f"{ENDING}/finalize", {"spec": {"finalizers": []}}, onto="going"),
        delete("delete what is gone", ENDING, {"preconditions": {"uid": "${uid}"}}),
        delete("all of them", NAMESPACES),
    ],
)


def request(**spec: Any) -> Object:
    """A request for a token."""
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}


ACCOUNTS = Script(
    "accounts",
    [
        post(
            "an account", f"{CORE}/serviceaccounts", of("v1", "ServiceAccount", "robot"), keep={"uid": "metadata.uid"}
        ),
        post("as an installation asks", TOKENS, request(expirationSeconds=3600), keep={"token": "status.token"}),
        post("as little as can be", TOKENS, {}),
        post("for another audience", TOKENS, request(audiences=["https://example.org"])),
        post("for too long", TOKENS, request(expirationSeconds=2**32 + 1)),
        post("for too short", TOKENS, request(expirationSeconds=599)),
        post("for a text", TOKENS, request(expirationSeconds="long")),
        post("of another kind", TOKENS, pod("robot")),
        post("for trial", TOKENS, request(), query={"dryRun": "All"}),
        get("reading tokens", TOKENS),
        post(
            "who it is",
            f"{AUTHENTICATION}/selfsubjectreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
            user="${token}",
        ),
        post(
            "whose it is",
            f"{AUTHENTICATION}/tokenreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "${token}"}},
        ),
        post(
            "whose nonsense is",
            f"{AUTHENTICATION}/tokenreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "nonsense"}},
        ),
        get("what it may not", f"{CORE}/secrets", user="${token}"),
        get("what nobody may", f"{CORE}/pods", user="nonsense"),
        get("what anybody may", "/livez", user="${token}"),
        delete("drop it", f"{CORE}/serviceaccounts/robot", {"preconditions": {"uid": "${uid}"}}),
        post("a token of what is gone", TOKENS, request()),
    ],
)


def review(kind: str, **spec: Any) -> Object:
    """A question about a right."""
    return {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}


def wanted(verb: str, resource: str, **more: str) -> Object:
    """What somebody wants to do."""
    return {"verb": verb, "resource": resource, **more}


TRIAL = {"dryRun": "All"}
OWN: dict[str, Object] = {
    "of the whole cluster": wanted("list", "pods"),
    "in a namespace": wanted("list", "pods", namespace="{ns}"),
    "of a part": wanted("patch", "pods", subresource="status", namespace="{ns}"),
    "of one name": wanted("get", "configmaps", namespace="{ns}", name="one"),
    "of another name": wanted("get", "configmaps", namespace="{ns}", name="two"),
    "of a group": wanted("create", "podgroups", group="tutti.scheduler", namespace="{ns}"),
    "of every group": wanted("list", "*", group="*"),
    "that is no verb": wanted("manage", "podgroups", group="tutti.scheduler"),
}
ROLE = of(
    "rbac.authorization.k8s.io/v1",
    "Role",
    "parity-one",
    rules=[
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["one"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]},
    ],
)
BOUND = of(
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    "parity-one",
    roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "parity-one"},
    subjects=[
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": NOBODY},
        {"kind": "ServiceAccount", "name": "robot", "namespace": "{ns}"},
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "crew"},
    ],
)


def rules(*given: Object) -> Object:
    """A role of these rules."""
    return {**of("rbac.authorization.k8s.io/v1", "Role", "parity-bad"), "rules": list(given)}


def to(role: Object) -> Object:
    """A binding to this role."""
    return of("rbac.authorization.k8s.io/v1", "RoleBinding", "parity-bad", roleRef=role)


RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}"
SELF = f"{AUTHORIZATION}/selfsubjectaccessreviews"
OTHERS = f"{AUTHORIZATION}/subjectaccessreviews"
LOCAL = f"{AUTHORIZATION}/namespaces/{{ns}}/localsubjectaccessreviews"
STATUS = wanted("patch", "pods", subresource="status", namespace="{ns}")
RIGHTS = Script(
    "rights",
    [
        quiet(post("a role", f"{RBAC}/roles", ROLE)),
        quiet(post("bind it", f"{RBAC}/rolebindings", BOUND)),
        quiet(
            post(
                "wait for it",
                SELF,
                review("SelfSubjectAccessReview", resourceAttributes=STATUS),
                user=NOBODY,
                until=("status.allowed", True),
            )
        ),
        *(
            post(f"{who} {what}", SELF, review("SelfSubjectAccessReview", resourceAttributes=each), user=user)
            for who, user in (("an administrator's right", ADMIN), ("nobody's right", NOBODY))
            for what, each in OWN.items()
        ),
        *(
            post(f"the right of {who}", OTHERS, review("SubjectAccessReview", resourceAttributes=STATUS, **subject))
            for who, subject in (
                ("an account", {"user": "system:serviceaccount:parity-rights:robot"}),
                ("another account", {"user": "system:serviceaccount:parity-rights:other"}),
                ("a member", {"user": "x", "groups": ["crew"]}),
                ("a group", {"groups": ["crew"]}),
                ("no one", {}),
            )
        ),
        post(
            "a path",
            OTHERS,
            review("SubjectAccessReview", user="x", nonResourceAttributes={"verb": "get", "path": "/"}),
        ),
        post(
            "a path and a resource",
            OTHERS,
            review("SubjectAccessReview", user="x", resourceAttributes=STATUS, nonResourceAttributes={"path": "/x"}),
        ),
        post("here", LOCAL, review("LocalSubjectAccessReview", user=NOBODY, resourceAttributes=STATUS)),
        post(
            "here of elsewhere",
            LOCAL,
            review("LocalSubjectAccessReview", user=NOBODY, resourceAttributes={**STATUS, "namespace": "elsewhere"}),
        ),
        post(
            "asked by who may not ask",
            OTHERS,
            review("SubjectAccessReview", user="x", resourceAttributes=STATUS),
            user=NOBODY,
        ),
        post("more than one has", f"{RBAC}/roles", {**ROLE, "metadata": {"name": "more"}}, user=NOBODY),
        put("put a role that is not there", f"{RBAC}/roles/parity-new", {**ROLE, "metadata": {"name": "parity-new"}}),
        post("a role of no verbs", f"{RBAC}/roles", rules({"apiGroups": [""], "resources": ["pods"]}), query=TRIAL),
        post("a role of no resources", f"{RBAC}/roles", rules({"apiGroups": [""], "verbs": ["get"]}), query=TRIAL),
        post("a role of no groups", f"{RBAC}/roles", rules({"resources": ["pods"], "verbs": ["get"]}), query=TRIAL),
        post("a role of paths", f"{RBAC}/roles", rules({"nonResourceURLs": ["/x"], "verbs": ["get"]}), query=TRIAL),
        post("a binding to no role", f"{RBAC}/rolebindings", to({"kind": "Role", "name": ""}), query=TRIAL),
        post("a binding to an unknown kind", f"{RBAC}/rolebindings", to({"kind": "Job", "name": "x"}), query=TRIAL),
        post(
            "a binding to a foreign group",
            f"{RBAC}/rolebindings",
            to({"kind": "Role", "name": "x", "apiGroup": "a"}),
            query=TRIAL,
        ),
        post(
            "a binding of an account of nowhere",
            f"{RBAC}/rolebindings",
            {**to({"kind": "Role", "name": "x"}), "subjects": [{"kind": "ServiceAccount", "name": "a"}]},
            query=TRIAL,
        ),
        post(
            "a binding of a stranger",
            f"{RBAC}/rolebindings",
            {**to({"kind": "Role", "name": "x"}), "subjects": [{"kind": "Stranger", "name": "a"}]},
            query=TRIAL,
        ),
    ],
)

SCRIPTS = [ENDS, ACCOUNTS, RIGHTS]
