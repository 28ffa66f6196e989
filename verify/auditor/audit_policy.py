"""What the API server is to log for the auditor: whole bodies of the kinds that are replayed, metadata of all other writes."""

from api import constants
from verify.auditor.identities import READS, SCHEDULER_USER

RECORDED_WRITES = ["create", "update", "patch", "delete", "deletecollection"]
GROUP_KINDS = ["workloads", "podgroups", "podgroups/status", "compositepodgroups"]

AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "omitManagedFields": True,
    "rules": [
        {
            "level": "Metadata",
            "verbs": sorted(READS),
            "userGroups": [f"system:serviceaccounts:{constants.SYSTEM_NAMESPACE}"],
        },
        {"level": "None", "verbs": sorted(READS)},
        {
            "level": "RequestResponse",
            "verbs": RECORDED_WRITES,
            "resources": [
                {"group": "", "resources": ["pods", "pods/binding", "nodes"]},
                {"group": "batch", "resources": ["jobs"]},
                {"group": "leaderworkerset.x-k8s.io", "resources": ["leaderworkersets"]},
                {"group": "jobset.x-k8s.io", "resources": ["jobsets"]},
                {"group": "resource.k8s.io", "resources": ["resourceclaims", "resourceclaims/status"]},
                {"group": constants.BUILT_IN_GROUP, "resources": GROUP_KINDS},
                {"group": constants.GROUP, "resources": GROUP_KINDS},
            ],
        },
        {
            "level": "RequestResponse",
            "verbs": RECORDED_WRITES,
            "namespaces": [constants.SYSTEM_NAMESPACE],
            "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}],
        },
        {
            "level": "Request",
            "verbs": ["create"],
            "users": [SCHEDULER_USER],
            "resources": [{"group": "events.k8s.io", "resources": ["events"]}],
        },
        {
            "level": "Request",
            "verbs": ["patch"],
            "resources": [
                {"group": "", "resources": ["pods/status"]},
                {"group": "kueue.x-k8s.io", "resources": ["workloads"]},
            ],
        },
        {"level": "Metadata"},
    ],
}
