"""The other built-in kinds: defaults, rules, rows."""

from tests.parity.scripts.objects import of
from tests.parity.steps import Script, delete, get, patch, post, quiet, table

CORE = "/api/v1/namespaces/{ns}"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
BUDGETS = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
HOOKS = "/apis/admissionregistration.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"


LEASE = of(
    "coordination.k8s.io/v1",
    "Lease",
    "one",
    spec={
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "renewTime": "2026-01-15T08:00:00.000000Z",
        "acquireTime": "2026-01-15T08:00:00.000000Z",
    },
)
SMALL_KINDS = Script(
    "small-kinds",
    [
        post("create a lease", LEASES, LEASE),
        patch("renew it", f"{LEASES}/one", {"spec": {"renewTime": "2026-01-15T08:00:05.123456Z"}}),
        table("leases", LEASES),
        post(
            "a lease of no duration",
            LEASES,
            of("coordination.k8s.io/v1", "Lease", "bad", spec={"leaseDurationSeconds": 0}),
        ),
        post(
            "a lease with a time of seconds",
            LEASES,
            of("coordination.k8s.io/v1", "Lease", "bad", spec={"renewTime": "2026-01-15T08:00:00Z"}),
        ),
        post(
            "create a priority class",
            CLASSES,
            of("scheduling.k8s.io/v1", "PriorityClass", "parity-high", value=1000, description="For tests."),
        ),
        patch("change its value", f"{CLASSES}/parity-high", {"value": 5}),
        post(
            "a class beyond the limit",
            CLASSES,
            of("scheduling.k8s.io/v1", "PriorityClass", "parity-bad", value=2000000000),
        ),
        post(
            "a class of the system's name", CLASSES, of("scheduling.k8s.io/v1", "PriorityClass", "system-bad", value=1)
        ),
        table("priority classes", f"{CLASSES}/parity-high"),
        get("a built-in class", f"{CLASSES}/system-cluster-critical"),
        post(
            "a pod of the class",
            f"{CORE}/pods",
            {
                **of("v1", "Pod", "important"),
                "spec": {
                    "schedulerName": "nobody",
                    "priorityClassName": "parity-high",
                    "containers": [{"name": "a", "image": "b"}],
                },
            },
        ),
        delete("delete the class", f"{CLASSES}/parity-high"),
        post("create a secret", f"{CORE}/secrets", of("v1", "Secret", "one", stringData={"a": "b"})),
        get("read it", f"{CORE}/secrets/one"),
        patch("change its type", f"{CORE}/secrets/one", {"type": "other"}),
        table("secrets", f"{CORE}/secrets"),
        post("an immutable map", f"{CORE}/configmaps", of("v1", "ConfigMap", "fixed", data={"a": "b"}, immutable=True)),
        patch("change it", f"{CORE}/configmaps/fixed", {"data": {"a": "c"}}),
        table("config maps", f"{CORE}/configmaps/fixed"),
        post("a service account", f"{CORE}/serviceaccounts", of("v1", "ServiceAccount", "robot")),
        table("service accounts", f"{CORE}/serviceaccounts/robot"),
        post(
            "a token for it",
            f"{CORE}/serviceaccounts/robot/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"audiences": ["https://kubernetes.default.svc"], "expirationSeconds": 3600},
            },
            keep={"token": "status.token"},
        ),
        post(
            "a token for nobody",
            f"{CORE}/serviceaccounts/nobody/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
        ),
        post(
            "a token for a moment",
            f"{CORE}/serviceaccounts/robot/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 5}},
        ),
        post(
            "create a budget",
            BUDGETS,
            of(
                "policy/v1",
                "PodDisruptionBudget",
                "one",
                spec={"minAvailable": 1, "selector": {"matchLabels": {"guarded": "yes"}}},
            ),
        ),
        post(
            "a budget of both",
            BUDGETS,
            of(
                "policy/v1", "PodDisruptionBudget", "bad", spec={"minAvailable": 1, "maxUnavailable": 1, "selector": {}}
            ),
        ),
        table("budgets", BUDGETS),
        quiet(
            post(
                "a guarded pod",
                f"{CORE}/pods",
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": "guarded", "labels": {"guarded": "yes"}},
                    "spec": {"schedulerName": "nobody", "containers": [{"name": "a", "image": "b"}]},
                },
            )
        ),
        quiet(
            post(
                "bind it",
                f"{CORE}/pods/guarded/binding",
                {
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": {"name": "guarded"},
                    "target": {"kind": "Node", "name": "n"},
                },
            )
        ),
        quiet(
            patch(
                "start it",
                f"{CORE}/pods/guarded/status",
                {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
            )
        ),
        post("evicting it is refused", f"{CORE}/pods/guarded/eviction", of("policy/v1", "Eviction", "guarded")),
        post(
            "create a service",
            f"{CORE}/services",
            of("v1", "Service", "one", spec={"ports": [{"port": 80}], "selector": {"a": "b"}}),
        ),
        table("services", f"{CORE}/services/one"),
        post(
            "a stateful set",
            "/apis/apps/v1/namespaces/{ns}/statefulsets",
            of(
                "apps/v1",
                "StatefulSet",
                "one",
                spec={
                    "serviceName": "s",
                    "replicas": 2,
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {
                        "metadata": {"labels": {"a": "b"}},
                        "spec": {"containers": [{"name": "a", "image": "b"}]},
                    },
                },
            ),
        ),
        table("stateful sets", "/apis/apps/v1/namespaces/{ns}/statefulsets"),
        post(
            "a replica set",
            "/apis/apps/v1/namespaces/{ns}/replicasets",
            of(
                "apps/v1",
                "ReplicaSet",
                "one",
                spec={
                    "replicas": 2,
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {
                        "metadata": {"labels": {"a": "b"}},
                        "spec": {"containers": [{"name": "a", "image": "b"}]},
                    },
                },
            ),
        ),
        table("replica sets", "/apis/apps/v1/namespaces/{ns}/replicasets"),
        post(
            "a daemon set",
            "/apis/apps/v1/namespaces/{ns}/daemonsets",
            of(
                "apps/v1",
                "DaemonSet",
                "one",
                spec={
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {
                        "metadata": {"labels": {"a": "b"}},
                        "spec": {"nodeSelector": {"x": "y"}, "containers": [{"name": "a", "image": "b"}]},
                    },
                },
            ),
        ),
        table("daemon sets", "/apis/apps/v1/namespaces/{ns}/daemonsets"),
        post(
            "a quota",
            f"{CORE}/resourcequotas",
            of("v1", "ResourceQuota", "one", spec={"hard": {"count/secrets": "10"}}),
        ),
    ],
)

SCRIPTS = [SMALL_KINDS]
