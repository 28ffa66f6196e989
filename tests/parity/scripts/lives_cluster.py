"""The ordinary lives of what a scheduler and an installation read and write beside pods: storage, policies, rights."""

from tests.parity.life import Kind, lives
from tests.parity.scripts.admission import webhook
from tests.parity.scripts.objects import Object, condition, of
from tests.parity.steps import Script

CORE = "/api/v1/namespaces/{ns}"
STORAGE = "/apis/storage.k8s.io/v1"
HOOKS = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
RULES = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
UNPROTECTED: Object = {"metadata": {"finalizers": None}}
"""A real server guards volumes and claims by finalizers; see the known differences."""
SUBJECTS = [{"kind": "ServiceAccount", "name": "robot", "namespace": "{ns}"}]


def rights(kind: str, name: str = "", **more: object) -> Object:
    """A role or a binding."""
    return of("rbac.authorization.k8s.io/v1", kind, name, **more)


def binding(kind: str, role: str) -> Object:
    """A binding of a role that is not there."""
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": "parity-nothing"}
    return rights(kind, roleRef=reference, subjects=SUBJECTS)


def definition(name: str) -> Object:
    """A definition of anything at all."""
    plural = name.partition(".")[0]
    names = {"plural": plural, "kind": plural.capitalize()}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": "parity.example.org", "scope": "Namespaced", "names": names, "versions": [version]}
    return of("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, spec=spec)


STORAGE_LIVES = Script(
    "lives-storage",
    lives(
        Kind(
            f"{CORE}/persistentvolumeclaims",
            of(
                "v1",
                "PersistentVolumeClaim",
                "",
                spec={
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "parity-none",
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            ),
            {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "n1"}}},
            status={"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}},
            after_creation=UNPROTECTED,
            skip=("follow",),
        ),
        Kind(
            "/api/v1/persistentvolumes",
            of(
                "v1",
                "PersistentVolume",
                "",
                spec={
                    "accessModes": ["ReadWriteOnce"],
                    "capacity": {"storage": "1Gi"},
                    "storageClassName": "parity-none",
                    "csi": {"driver": "parity.example.org", "volumeHandle": "v1"},
                },
            ),
            {
                "spec": {
                    "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "n", "name": "c"}
                }
            },
            status={"status": {"phase": "Bound"}},
            after_creation=UNPROTECTED,
            skip=("follow",),
        ),
        Kind(
            f"{STORAGE}/storageclasses",
            of("storage.k8s.io/v1", "StorageClass", "", provisioner="parity.example.org"),
            {"allowVolumeExpansion": True},
        ),
        Kind(
            f"{STORAGE}/csidrivers",
            of("storage.k8s.io/v1", "CSIDriver", "", spec={"attachRequired": False, "storageCapacity": True}),
            {"spec": {"storageCapacity": False}},
        ),
        Kind(
            f"{STORAGE}/csinodes",
            of(
                "storage.k8s.io/v1",
                "CSINode",
                "",
                spec={"drivers": [{"name": "a.example.org", "nodeID": "i", "allocatable": {"count": 3}}]},
            ),
            {
                "spec": {
                    "drivers": [
                        {"name": "a.example.org", "nodeID": "i", "allocatable": {"count": 3}},
                        {"name": "b.example.org", "nodeID": "i", "topologyKeys": ["zone"]},
                    ]
                }
            },
        ),
        Kind(
            f"{STORAGE}/namespaces/{{ns}}/csistoragecapacities",
            of("storage.k8s.io/v1", "CSIStorageCapacity", "", storageClassName="parity-none", capacity="1Gi"),
            {"capacity": "2Gi"},
        ),
        Kind(
            f"{STORAGE}/volumeattachments",
            of(
                "storage.k8s.io/v1",
                "VolumeAttachment",
                "",
                spec={"attacher": "a.example.org", "nodeName": "n1", "source": {"persistentVolumeName": "v"}},
            ),
            {"metadata": {"annotations": {"a": "b"}}},
            status={"status": {"attached": True}},
        ),
    ),
)
POLICY_LIVES = Script(
    "lives-policy",
    lives(
        Kind(
            "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
            of(
                "policy/v1",
                "PodDisruptionBudget",
                "",
                spec={"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}},
            ),
            {"spec": {"minAvailable": "50%"}},
            status={
                "status": {
                    "disruptionsAllowed": 1,
                    "currentHealthy": 2,
                    "desiredHealthy": 1,
                    "expectedPods": 2,
                    "observedGeneration": 2,
                    "conditions": [condition("DisruptionAllowed", reason="SufficientPods", message="")],
                }
            },
        ),
        Kind(
            "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
            of(
                "coordination.k8s.io/v1",
                "Lease",
                "",
                spec={
                    "holderIdentity": "me",
                    "leaseDurationSeconds": 15,
                    "acquireTime": "2026-01-15T08:00:00.000000Z",
                    "renewTime": "2026-01-15T08:00:00.000000Z",
                    "leaseTransitions": 0,
                },
            ),
            {"spec": {"holderIdentity": "you", "leaseTransitions": 1}},
        ),
        Kind(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            of("scheduling.k8s.io/v1", "PriorityClass", "", value=7),
            {"description": "Seven."},
        ),
        Kind(
            "/apis/events.k8s.io/v1/namespaces/{ns}/events",
            of(
                "events.k8s.io/v1",
                "Event",
                "",
                eventTime="2026-01-15T08:00:00.000000Z",
                reportingController="tutti.scheduler/scheduler",
                reportingInstance="s-1",
                action="Scheduling",
                reason="Waiting",
                note="No room.",
                type="Warning",
                regarding={"apiVersion": "v1", "kind": "Pod", "name": "one", "namespace": "{ns}"},
            ),
            {"series": {"count": 2, "lastObservedTime": "2026-01-15T08:01:00.000000Z"}},
        ),
    ),
)
ADMISSION_LIVES = Script(
    "lives-admission",
    lives(
        Kind(
            f"{HOOKS}/mutatingwebhookconfigurations",
            webhook("Mutating"),
            {"webhooks": webhook("Mutating", timeoutSeconds=3)["webhooks"]},
        ),
        Kind(
            f"{HOOKS}/validatingwebhookconfigurations",
            webhook("Validating"),
            {"webhooks": webhook("Validating", timeoutSeconds=3)["webhooks"]},
        ),
        Kind(
            f"{HOOKS}/validatingadmissionpolicies",
            of(
                "admissionregistration.k8s.io/v1",
                "ValidatingAdmissionPolicy",
                "",
                spec={
                    "matchConstraints": {
                        "resourceRules": [
                            {
                                "apiGroups": ["nothing.org"],
                                "apiVersions": ["v1"],
                                "operations": ["CREATE"],
                                "resources": ["things"],
                            }
                        ]
                    },
                    "validations": [{"expression": "true"}],
                },
            ),
            {"spec": {"failurePolicy": "Ignore"}},
            status={"status": {"observedGeneration": 1, "typeChecking": {}}},
        ),
        Kind(
            f"{HOOKS}/validatingadmissionpolicybindings",
            of(
                "admissionregistration.k8s.io/v1",
                "ValidatingAdmissionPolicyBinding",
                "",
                spec={"policyName": "parity-nothing", "validationActions": ["Deny"]},
            ),
            {"spec": {"validationActions": ["Warn"]}},
        ),
        Kind(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            definition,
            {"spec": {"names": {"shortNames": ["pon"]}}},
            names=("ones.parity.example.org", "twos.parity.example.org"),
            ready=("status.conditions.1.status", "True"),
            skip=("delete what is gone", "it is gone", "delete by label", "none is left", "follow"),
        ),
    ),
)
RIGHTS_LIVES = Script(
    "lives-rights",
    lives(
        Kind(f"{RBAC}/clusterroles", rights("ClusterRole", rules=RULES), {"rules": []}),
        Kind(f"{RBAC}/namespaces/{{ns}}/roles", rights("Role", rules=RULES), {"rules": []}),
        Kind(f"{RBAC}/clusterrolebindings", binding("ClusterRoleBinding", "ClusterRole"), {"subjects": []}),
        Kind(f"{RBAC}/namespaces/{{ns}}/rolebindings", binding("RoleBinding", "Role"), {"subjects": []}),
    ),
)

SCRIPTS = [STORAGE_LIVES, POLICY_LIVES, ADMISSION_LIVES, RIGHTS_LIVES]
