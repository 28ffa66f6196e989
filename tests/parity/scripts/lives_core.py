"""The ordinary lives of what runs and of what it runs with: core, apps and batch."""

from tests.parity.life import Kind, lives
from tests.parity.scripts.objects import Object, condition, job, node, of, pod
from tests.parity.steps import Script

CORE = "/api/v1/namespaces/{ns}"
APPS = "/apis/apps/v1/namespaces/{ns}"
BATCH = "/apis/batch/v1/namespaces/{ns}"
LABELS = {"app": "parity"}
CONTAINERS = [{"name": "main", "image": "none:1"}]
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS}}
PORTS = [{"name": "http", "port": 80}]


def owner(kind: str, **spec: object) -> Object:
    """A kind that has pods made."""
    pods = {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    return of("apps/v1", kind, "", spec={**pods, **spec})


CORE_LIVES = Script(
    "lives-core",
    lives(
        Kind(
            f"{CORE}/pods",
            pod(""),
            {"spec": {"activeDeadlineSeconds": 50}},
            status={"status": {"phase": "Running", "conditions": [condition("Ready")]}},
        ),
        Kind(
            "/api/v1/nodes",
            node(""),
            {"spec": {"unschedulable": True}},
            status={"status": {"capacity": {"cpu": "8"}, "conditions": [condition("Ready")]}},
        ),
        Kind(
            "/api/v1/namespaces",
            of("v1", "Namespace", ""),
            {"metadata": {"annotations": {"tutti.scheduler/provider": "embedded"}}},
            status={"status": {"phase": "Active"}},
        ),
        Kind(f"{CORE}/configmaps", of("v1", "ConfigMap", "", data={"a": "b"}), {"data": {"a": "c"}}),
        Kind(f"{CORE}/secrets", of("v1", "Secret", "", data={"a": "Yg=="}), {"data": {"a": "Yw=="}}),
        Kind(
            f"{CORE}/serviceaccounts",
            of("v1", "ServiceAccount", ""),
            {"automountServiceAccountToken": False},
        ),
        Kind(
            f"{CORE}/services",
            of("v1", "Service", "", spec={"clusterIP": "None", "selector": LABELS, "ports": PORTS}),
            {"spec": {"selector": {"app": "other"}}},
            status={"status": {"conditions": [condition("Ready", reason="Told", message="Told.")]}},
        ),
        Kind(
            f"{CORE}/replicationcontrollers",
            of("v1", "ReplicationController", "", spec={"replicas": 1, "selector": LABELS, "template": TEMPLATE}),
            {"spec": {"replicas": 3}},
            status={"status": {"replicas": 1}},
            replicas=True,
        ),
    ),
)
APPS_LIVES = Script(
    "lives-apps",
    lives(
        Kind(
            f"{APPS}/statefulsets",
            owner("StatefulSet", serviceName="parity"),
            {"spec": {"replicas": 3}},
            status={"status": {"replicas": 1, "readyReplicas": 1, "observedGeneration": 1}},
            replicas=True,
        ),
        Kind(
            f"{APPS}/replicasets",
            owner("ReplicaSet"),
            {"spec": {"replicas": 3}},
            status={"status": {"replicas": 1}},
            replicas=True,
        ),
        Kind(
            f"{APPS}/deployments",
            owner("Deployment"),
            {"spec": {"replicas": 3}},
            status={"status": {"replicas": 1}},
            replicas=True,
        ),
        Kind(
            f"{APPS}/controllerrevisions",
            of("apps/v1", "ControllerRevision", "", revision=1, data={"spec": {"replicas": 1}}),
            {"revision": 2},
        ),
    ),
)
BATCH_LIVES = Script(
    "lives-batch",
    lives(
        Kind(
            f"{BATCH}/jobs",
            job("", spec={"parallelism": 2, "completions": 2, "completionMode": "Indexed", "suspend": True}),
            {"spec": {"suspend": False, "template": {"metadata": {"annotations": {"tutti.scheduler/pod-group": "g"}}}}},
            status={"status": {"active": 2, "startTime": "2026-01-15T08:00:00Z"}},
        ),
        Kind(
            f"{BATCH}/cronjobs",
            of("batch/v1", "CronJob", "", spec={"schedule": "0 0 * * *", "jobTemplate": {"spec": job("")["spec"]}}),
            {"spec": {"suspend": True}},
            status={"status": {"lastScheduleTime": "2026-01-15T08:00:00Z"}},
        ),
    ),
)

SCRIPTS = [CORE_LIVES, APPS_LIVES, BATCH_LIVES]
