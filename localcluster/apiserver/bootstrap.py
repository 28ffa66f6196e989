"""What is in a cluster from its first moment: namespaces, roles that everybody relies on, priority classes.

Objects that are there already, from an earlier life, are left as they are.
"""

from typing import Any

from localcluster.apiserver.core import Core
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.store.memory import Taken

_RBAC = "rbac.authorization.k8s.io"
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]
_DISCOVERY = [
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
]
_OF_USERS = ("view", "edit", "admin")
_PUBLIC = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_WORKLOADS: list[tuple[str, list[str]]] = [
    (
        "",
        [
            "pods",
            "pods/log",
            "pods/status",
            "services",
            "configmaps",
            "events",
            "persistentvolumeclaims",
            "serviceaccounts",
        ],
    ),
    ("batch", ["jobs", "jobs/status", "cronjobs", "cronjobs/status"]),
    (
        "apps",
        [
            "deployments",
            "deployments/scale",
            "statefulsets",
            "statefulsets/scale",
            "replicasets",
            "daemonsets",
            "controllerrevisions",
        ],
    ),
    ("policy", ["poddisruptionbudgets", "poddisruptionbudgets/status"]),
    ("events.k8s.io", ["events"]),
    ("resource.k8s.io", ["resourceclaims", "resourceclaimtemplates"]),
]


def bootstrap(core: Core) -> None:
    """Put in what is missing."""
    for name in NAMESPACES:
        _put(core, ("", "namespaces"), _object("v1", "Namespace", name, **_namespace(name)))
    for name, rules in _roles().items():
        _put(core, (_RBAC, "clusterroles"), _rbac("ClusterRole", name, rules=rules, **_joined(name)))
    for name, role, groups in _BINDINGS:
        _put(core, (_RBAC, "clusterrolebindings"), _rbac("ClusterRoleBinding", name, **_binding(role, groups)))
    for name, value in (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)):
        _put(core, ("scheduling.k8s.io", "priorityclasses"), _priority(name, value))


_BINDINGS = [
    ("cluster-admin", "cluster-admin", ["system:masters"]),
    ("system:basic-user", "system:basic-user", ["system:authenticated"]),
    ("system:discovery", "system:discovery", ["system:authenticated"]),
    ("system:public-info-viewer", "system:public-info-viewer", ["system:authenticated", "system:unauthenticated"]),
]


def _roles() -> dict[str, list[Object]]:
    reviews = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]
    view = [_rule(group, resources, _READ) for group, resources in _WORKLOADS]
    view.append(_rule("resource.k8s.io", ["resourceclaims/status"], _READ))
    edit = [_rule(group, resources, _READ + _WRITE) for group, resources in _WORKLOADS]
    roles = [_rule(_RBAC, ["roles", "rolebindings"], _READ + _WRITE)]
    everything: list[Object] = [_rule("*", ["*"], ["*"]), {"nonResourceURLs": ["*"], "verbs": ["*"]}]
    return {
        "cluster-admin": everything,
        "admin": [*edit, *roles, _rule("", ["secrets"], _READ + _WRITE)],
        "edit": [*edit, _rule("", ["secrets"], _READ + _WRITE)],
        "view": [*view, _rule("", ["namespaces"], _READ)],
        "system:basic-user": [
            _rule("authorization.k8s.io", reviews, ["create"]),
            _rule("authentication.k8s.io", ["selfsubjectreviews"], ["create"]),
        ],
        "system:discovery": [{"nonResourceURLs": _DISCOVERY, "verbs": ["get"]}],
        "system:public-info-viewer": [{"nonResourceURLs": _PUBLIC, "verbs": ["get"]}],
    }


def _joined(role: str) -> Object:
    """Whose rules join those of the roles of users: of every ClusterRole with the label."""
    if role not in _OF_USERS:
        return {}
    label = {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true"}
    return {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]}}


def _rule(group: str, resources: list[str], verbs: list[str]) -> Object:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _binding(role: str, groups: list[str]) -> Object:
    subjects = [{"kind": "Group", "apiGroup": _RBAC, "name": group} for group in groups]
    return {"roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role}, "subjects": subjects}


def _namespace(name: str) -> Object:
    return {
        "labels": {"kubernetes.io/metadata.name": name},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def _priority(name: str, value: int) -> Object:
    text = {
        "system-cluster-critical": "Used for system critical pods that must run in the cluster, but can be moved to another "
        "node if necessary.",
        "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
    }[name]
    return _object(
        "scheduling.k8s.io/v1",
        "PriorityClass",
        name,
        value=value,
        description=text,
        preemptionPolicy="PreemptLowerPriority",
        generation=1,
    )


def _rbac(kind: str, name: str, **fields: Any) -> Object:
    return _object(f"{_RBAC}/v1", kind, name, labels=_LABELS, **fields)


def _object(api_version: str, kind: str, name: str, **fields: Any) -> Object:
    metadata: Object = {"name": name}
    metadata |= {key: fields.pop(key) for key in ("labels", "generation") if key in fields}
    return {"kind": kind, "apiVersion": api_version, "metadata": metadata, **fields}


def _put(core: Core, resource: tuple[str, str], obj: Object) -> None:
    obj["metadata"] |= {"uid": core.new_uid(), "creationTimestamp": core.now()}
    try:
        core.store.put(resource, obj)
    except Taken:
        return
