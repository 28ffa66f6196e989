"""What ordinary users get by the roles that every cluster has; on a server it is tested in tests/conformance."""

from typing import Any

from install.kinds import CLUSTER_ROLES
from install.manifests import load

PREFIX = "rbac.authorization.k8s.io/aggregate-to-"
ROLES: dict[str, dict[str, Any]] = {
    each.name: each.body
    for each in load("rbac")
    if each.resource == CLUSTER_ROLES and each.body["metadata"]["labels"]["app.kubernetes.io/component"] == "users"
}


def test_viewers_read_and_editors_write_our_own_kinds_and_nobody_gets_more() -> None:
    joined = {
        name: {key.removeprefix(PREFIX) for key in body["metadata"]["labels"] if key.startswith(PREFIX)}
        for name, body in ROLES.items()
    }
    assert joined == {"tutti-view": {"view", "edit", "admin"}, "tutti-edit": {"edit", "admin"}}
    (seen,), (changed,) = ROLES["tutti-view"]["rules"], ROLES["tutti-edit"]["rules"]
    assert seen["apiGroups"] == changed["apiGroups"] == ["tutti.scheduler"]
    assert seen["resources"] == [
        "compositepodgroups",
        "compositepodgroups/status",
        "podgroups",
        "podgroups/status",
        "workloads",
    ]
    assert seen["verbs"] == ["get", "list", "watch"]
    assert changed["resources"] == ["compositepodgroups", "podgroups", "workloads"]
    assert changed["verbs"] == ["create", "delete", "deletecollection", "patch", "update"]
