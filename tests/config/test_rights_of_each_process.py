"""The exact rights of each process. A line more here is a decision, not a detail: a stolen token can do just this."""

import pytest

from install.kinds import BINDINGS
from install.manifests import load
from install.rights import Right, granted_to
from providers.selection import standard_providers

GROUPS = ("scheduling.k8s.io", "tutti.scheduler")
SYSTEM = "tutti-system"
READ = "get list watch"


def rights(verbs: str, group: str, resource: str, namespace: str = "", name: str = "") -> set[Right]:
    return {Right(verb, group, resource, namespace, name) for verb in verbs.split()}


def groups(verbs: str, *resources: str) -> set[Right]:
    """The same rights in the built-in group API and in our own."""
    return {right for group in GROUPS for resource in resources for right in rights(verbs, group, resource)}


PROVIDER_KINDS = [each.kind for each in standard_providers().all if each.kind is not None]
"""The group objects of other gang schedulers: a provider with a kind of its own needs a rule in config/rbac."""

STORAGE = ("storageclasses", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments")
"""What tells where volumes can be."""

DEVICES = ("deviceclasses", "resourceslices", "devicetaintrules", "resourceclaimtemplates")
"""What tells which devices there are, and what will be asked of them."""

EVERYBODY = rights("create", "", "configmaps", SYSTEM) | rights("get", "", "configmaps", SYSTEM, "tutti-group-api")
"""The record of the group API in force."""


def lease(name: str) -> set[Right]:
    group = "coordination.k8s.io"
    return rights("create", group, "leases", SYSTEM) | rights("get update", group, "leases", SYSTEM, name)


TABLE = {
    "tutti-scheduler": (
        EVERYBODY
        | lease("tutti-scheduler")
        | rights(f"{READ} delete", "", "pods")
        | rights(READ, "", "nodes")
        | rights(READ, "", "namespaces")
        | rights(READ, "", "services")
        | rights(READ, "", "replicationcontrollers")
        | rights(READ, "apps", "replicasets")
        | rights(READ, "apps", "statefulsets")
        | rights(READ, "policy", "poddisruptionbudgets")
        | rights(READ, "scheduling.k8s.io", "priorityclasses")
        | rights(f"{READ} patch", "", "persistentvolumes")
        | rights(f"{READ} patch", "", "persistentvolumeclaims")
        | {right for resource in STORAGE for right in rights("list watch", "storage.k8s.io", resource)}
        | {right for resource in DEVICES for right in rights("list watch", "resource.k8s.io", resource)}
        | rights(f"create delete {READ} patch", "resource.k8s.io", "resourceclaims")
        | rights("patch", "resource.k8s.io", "resourceclaims/status")
        | rights("patch", "resource.k8s.io", "resourceclaims/binding")
        | rights("create", "", "pods/binding")
        | rights("patch", "", "pods/status")
        | groups(READ, "podgroups", "compositepodgroups")
        | groups("patch", "podgroups/status", "compositepodgroups/status")
        | rights("create patch", "events.k8s.io", "events")
    ),
    "tutti-controllers": (
        EVERYBODY
        | lease("tutti-controllers")
        | rights(f"{READ} patch", "batch", "jobs")
        | rights("patch", "batch", "jobs/status")
        | rights("update", "batch", "jobs/finalizers")
        | rights("list patch watch", "", "pods")
        | rights(READ, "leaderworkerset.x-k8s.io", "leaderworkersets")
        | rights("patch", "leaderworkerset.x-k8s.io", "leaderworkersets/status")
        | rights("update", "leaderworkerset.x-k8s.io", "leaderworkersets/finalizers")
        | rights(READ, "jobset.x-k8s.io", "jobsets")
        | rights("update", "jobset.x-k8s.io", "jobsets/finalizers")
        | rights("list patch", "kueue.x-k8s.io", "workloads")
        | rights("list", "kueue.x-k8s.io", "topologies")
        | rights("list watch", "apps", "statefulsets")
        | rights("list", "apps", "controllerrevisions")
        | groups(f"{READ} create patch", "workloads", "podgroups")
        | groups("create get patch", "compositepodgroups")
        | groups("delete", "podgroups")
        | {right for kind in PROVIDER_KINDS for right in rights(f"{READ} create patch", kind.group, kind.plural)}
        | rights("manage", "tutti.scheduler", "podgroups")
        | groups("update", "workloads/finalizers")
        | rights("create patch", "events.k8s.io", "events")
    ),
    "tutti-webhooks": (
        EVERYBODY
        | rights(READ, "", "namespaces")
        | rights("get", "", "pods")
        | rights(READ, "scheduling.k8s.io", "priorityclasses")
        | rights("get patch", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", name="tutti-mutating")
        | rights(
            "get patch", "admissionregistration.k8s.io", "validatingwebhookconfigurations", name="tutti-validating"
        )
        | rights("create", "", "secrets", SYSTEM)
        | rights("get update", "", "secrets", SYSTEM, "tutti-webhooks-certificates")
    ),
}
NEVER = {"*", "escalate", "bind", "impersonate", "deletecollection", "delete"}
PREEMPTION = Right("delete", "", "pods", "", "")
"""An exception: the scheduler deletes pods that give way to more important ones."""
OWN_CLAIMS = Right("delete", "resource.k8s.io", "resourceclaims", "", "")
"""Another one: it deletes claims that it has made for extended resources; a policy keeps it from all others."""


@pytest.mark.parametrize("account", TABLE)
def test_each_process_holds_exactly_its_rights(account: str) -> None:
    assert granted_to(account, load("rbac")) == TABLE[account]


def test_nobody_holds_a_right_that_opens_others() -> None:
    for account in TABLE:
        for right in granted_to(account, load("rbac")):
            if account == "tutti-scheduler" and right in {PREEMPTION, OWN_CLAIMS}:
                continue
            # Groups of a JobSet's former attempts; a policy keeps them from all others.
            if account == "tutti-controllers" and (right.verb, right.resource) == ("delete", "podgroups"):
                continue
            assert right.verb not in NEVER, right
            assert "*" not in {right.group, right.resource}, right
            assert right.resource not in {"serviceaccounts/token", "pods/exec", "nodes/proxy"}, right


def test_secrets_are_reached_by_name_and_in_our_own_namespace_only() -> None:
    for account in TABLE:
        for right in granted_to(account, load("rbac")):
            if right.resource == "secrets":
                assert right.namespace == SYSTEM
                assert right.name or right.verb == "create"


def test_every_role_is_bound_to_the_account_of_its_name_and_to_nobody_else() -> None:
    bindings = [each for each in load("rbac") if each.resource in BINDINGS]
    assert len(bindings) == 2 * len(TABLE)
    for each in bindings:
        subject = {"kind": "ServiceAccount", "name": each.name, "namespace": SYSTEM}
        assert each.body["subjects"] == [subject]
        assert each.body["roleRef"]["name"] == each.name
        assert each.body["roleRef"]["kind"] == each.resource.kind.removesuffix("Binding")
