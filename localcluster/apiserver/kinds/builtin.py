"""The built-in kinds: names, scopes, and which rules are theirs."""

from typing import Any

from localcluster.apiserver.kinds.access import access_kinds
from localcluster.apiserver.kinds.budgets import BudgetStrategy
from localcluster.apiserver.kinds.cluster import NamespaceStrategy, NodeStrategy, PriorityClassStrategy
from localcluster.apiserver.kinds.config import LeaseStrategy
from localcluster.apiserver.kinds.data import ConfigMapStrategy, SecretStrategy
from localcluster.apiserver.kinds.devices.kinds import device_kinds
from localcluster.apiserver.kinds.jobs.strategy import CronJobStrategy, JobStrategy
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.kinds.names import label_1035_problems, label_problems
from localcluster.apiserver.kinds.plain import PlainStrategy
from localcluster.apiserver.kinds.pods.strategy import PodStrategy
from localcluster.apiserver.kinds.registry import Registry
from localcluster.apiserver.kinds.statefulsets import RevisionStrategy, StatefulSetStrategy, set_name_problems
from localcluster.apiserver.kinds.storage import storage_kinds
from localcluster.apiserver.kinds.typed import plain_strategy
from localcluster.apiserver.kinds.volumes import volume_kinds
from localcluster.apiserver.kinds.workloads import ReplicationControllerStrategy, ServiceStrategy, WorkloadStrategy

STATUS = frozenset({"status"})
SCALED = frozenset({"status", "scale"})
ALL = ("all",)


def register_builtin(registry: Registry) -> None:
    """Serve all built-in kinds. Events and CRDs come with those who know their rules."""
    storage = [*volume_kinds(), *storage_kinds()]
    for kind in [*_core(), *_pods(), *storage, *_workloads(), *_cluster(), *access_kinds(), *device_kinds()]:
        registry.add(kind)


def _path(*keys: str) -> Any:
    def read(obj: Object) -> str:
        value: Any = obj
        for key in keys:
            value = (value or {}).get(key)
        if isinstance(value, bool):
            return str(value).lower()
        return "" if value is None else str(value)

    return read


_POD_FIELDS = {
    "spec.nodeName": _path("spec", "nodeName"),
    "spec.restartPolicy": _path("spec", "restartPolicy"),
    "spec.schedulerName": _path("spec", "schedulerName"),
    "spec.serviceAccountName": _path("spec", "serviceAccountName"),
    "spec.hostNetwork": lambda obj: "true" if obj["spec"].get("hostNetwork") else "false",
    "status.phase": _path("status", "phase"),
    "status.podIP": _path("status", "podIP"),
    "status.nominatedNodeName": _path("status", "nominatedNodeName"),
}


def _v1(kind: str, plural: str, strategy: PlainStrategy, *short: str, **settings: Any) -> KindInfo:
    return KindInfo("", "v1", kind, plural, strategy, short_names=short, **settings)


def _core() -> list[KindInfo]:
    namespace = NamespaceStrategy("Namespace", has_status=True, name_check=label_problems)
    quota = plain_strategy("ResourceQuota", has_status=True)
    account = plain_strategy("ServiceAccount")
    tokens = frozenset({"token"})
    return [
        _v1("ConfigMap", "configmaps", ConfigMapStrategy("ConfigMap"), "cm"),
        _v1("LimitRange", "limitranges", plain_strategy("LimitRange"), "limits"),
        _v1(
            "Namespace",
            "namespaces",
            namespace,
            "ns",
            namespaced=False,
            subresources=frozenset({"status", "finalize"}),
            verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
            returns_deleted=True,
            fields={"status.phase": _path("status", "phase")},
        ),
        _v1(
            "Node",
            "nodes",
            NodeStrategy("Node", has_status=True),
            "no",
            namespaced=False,
            subresources=STATUS,
            fields={"spec.unschedulable": lambda obj: "true" if obj["spec"].get("unschedulable") else "false"},
        ),
        _v1("ResourceQuota", "resourcequotas", quota, "quota", subresources=STATUS, returns_deleted=True),
        _v1("Secret", "secrets", SecretStrategy("Secret"), fields={"type": _path("type")}),
        _v1("ServiceAccount", "serviceaccounts", account, "sa", subresources=tokens, returns_deleted=True),
    ]


def _pods() -> list[KindInfo]:
    parts = frozenset({"status", "binding", "eviction", "log"})
    pod = PodStrategy("Pod", has_status=True, counts_generations=True)
    return [
        _v1("Binding", "bindings", PlainStrategy(), verbs=("create",)),
        _v1("Pod", "pods", pod, "po", categories=ALL, subresources=parts, fields=_POD_FIELDS, returns_deleted=True),
        _v1("PodTemplate", "podtemplates", plain_strategy("PodTemplate"), returns_deleted=True),
        _v1(
            "ReplicationController",
            "replicationcontrollers",
            ReplicationControllerStrategy("ReplicationController", has_status=True, counts_generations=True),
            "rc",
            categories=ALL,
            subresources=SCALED,
            orphans_by_default=True,
        ),
        _v1(
            "Service",
            "services",
            ServiceStrategy("Service", has_status=True, name_check=label_1035_problems),
            "svc",
            categories=ALL,
            subresources=STATUS,
            returns_deleted=True,
            create_on_update=True,
        ),
    ]


def _workloads() -> list[KindInfo]:
    def apps(
        kind: str, plural: str, short: str, parts: frozenset[str], strategy: PlainStrategy | None = None
    ) -> KindInfo:
        strategy = strategy or WorkloadStrategy(kind, has_status=True, counts_generations=True)
        return KindInfo("apps", "v1", kind, plural, strategy, short_names=(short,), categories=ALL, subresources=parts)

    budget = BudgetStrategy("PodDisruptionBudget", has_status=True, counts_generations=True)
    stateful = StatefulSetStrategy(
        "StatefulSet", has_status=True, counts_generations=True, name_check=set_name_problems
    )
    return [
        KindInfo("apps", "v1", "ControllerRevision", "controllerrevisions", RevisionStrategy("ControllerRevision")),
        apps("DaemonSet", "daemonsets", "ds", STATUS),
        apps("Deployment", "deployments", "deploy", SCALED),
        apps("ReplicaSet", "replicasets", "rs", SCALED),
        apps("StatefulSet", "statefulsets", "sts", SCALED, stateful),
        KindInfo(
            "batch",
            "v1",
            "CronJob",
            "cronjobs",
            CronJobStrategy("CronJob", has_status=True, counts_generations=True),
            short_names=("cj",),
            categories=ALL,
            subresources=STATUS,
        ),
        KindInfo(
            "batch",
            "v1",
            "Job",
            "jobs",
            JobStrategy("Job", has_status=True, counts_generations=True),
            categories=ALL,
            subresources=STATUS,
            orphans_by_default=True,
            fields={"status.successful": lambda obj: str((obj.get("status") or {}).get("succeeded") or 0)},
        ),
        KindInfo(
            "policy",
            "v1",
            "PodDisruptionBudget",
            "poddisruptionbudgets",
            budget,
            short_names=("pdb",),
            subresources=STATUS,
            unconditional_update=False,
        ),
    ]


def _cluster() -> list[KindInfo]:
    lease = LeaseStrategy("Lease")
    priority = PriorityClassStrategy("PriorityClass", counts_generations=True)
    return [
        KindInfo(
            "coordination.k8s.io", "v1", "Lease", "leases", lease, create_on_update=True, unconditional_update=False
        ),
        KindInfo(
            "scheduling.k8s.io",
            "v1",
            "PriorityClass",
            "priorityclasses",
            priority,
            short_names=("pc",),
            namespaced=False,
        ),
    ]
