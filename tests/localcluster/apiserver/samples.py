"""Large bodies of the kinds that clients write, with a value in nearly every field that a rule looks at."""

from typing import Any

Object = dict[str, Any]

DEFAULT = "/api/v1/namespaces/default"
STAMP = "2026-01-01T00:00:00Z"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _metadata(name: str) -> Object:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u", "controller": True}
    return {
        "name": name,
        "labels": {"app": "a"},
        "annotations": {"x": "y"},
        "finalizers": ["example.com/f"],
        "ownerReferences": [owner],
    }


_CONTAINER: Object = {
    "name": "c",
    "image": "i:1",
    "command": ["x"],
    "env": [{"name": "A", "value": "b"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    "ports": [{"name": "http", "containerPort": 80, "protocol": "TCP", "hostPort": 80}],
    "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"cpu": 1, "memory": "2Gi"}},
    "volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": True}],
    "livenessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 5},
    "securityContext": {"runAsUser": 1, "capabilities": {"add": ["NET_ADMIN"]}},
}
_EXPRESSION: Object = {"key": "k", "operator": "In", "values": ["v"]}
_TERM: Object = {"labelSelector": {"matchExpressions": [_EXPRESSION]}, "topologyKey": "zone"}
_POD_SPEC: Object = {
    "containers": [_CONTAINER],
    "initContainers": [{"name": "i", "image": "i", "restartPolicy": "Always"}],
    "restartPolicy": "Never",
    "terminationGracePeriodSeconds": 30,
    "nodeSelector": {"a": "b"},
    "hostNetwork": False,
    "affinity": {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [_EXPRESSION]}]},
            PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [_EXPRESSION]}}],
        },
        "podAffinity": {REQUIRED: [_TERM]},
        "podAntiAffinity": {PREFERRED: [{"weight": 5, "podAffinityTerm": _TERM}]},
    },
    "schedulerName": "nobody",
    "tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute", "tolerationSeconds": 5}],
    "volumes": [
        {"name": "v", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "p", "persistentVolumeClaim": {"claimName": "c"}},
    ],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"a": "b"}},
        }
    ],
    "schedulingGates": [{"name": "example.com/g"}],
}
_TEMPLATE: Object = {"metadata": {"labels": {"app": "a"}}, "spec": {**_POD_SPEC, "affinity": None}}
_PLAIN_TEMPLATE: Object = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
_RULE: Object = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}
_WEBHOOK: Object = {
    "name": "a.example.com",
    "clientConfig": {"url": "https://127.0.0.1:1/x", "caBundle": "aGVsbG8="},
    "rules": [_RULE],
    "failurePolicy": "Ignore",
    "namespaceSelector": {"matchExpressions": [_EXPRESSION]},
    "objectSelector": {"matchLabels": {"no": "body"}},
    "sideEffects": "None",
    "timeoutSeconds": 1,
    "admissionReviewVersions": ["v1"],
    "matchConditions": [{"name": "m", "expression": "true"}],
}
_SCHEMA: Object = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "x-kubernetes-validations": [{"rule": "self.n > 0", "message": "m", "reason": "FieldValueInvalid"}],
            "properties": {
                "n": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
                "s": {"type": "string", "pattern": "^a", "enum": ["a", "b"], "maxLength": 5},
                "l": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
                },
                "m": {"type": "object", "additionalProperties": {"type": "string"}},
                "i": {"x-kubernetes-int-or-string": True},
            },
        }
    },
}


def _of(api_version: str, kind: str, name: str, **fields: object) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": _metadata(name), **fields}


_JOB_SPEC: Object = {
    "parallelism": 2,
    "completions": 2,
    "completionMode": "Indexed",
    "backoffLimit": 3,
    "suspend": True,
    "podReplacementPolicy": "Failed",
    "podFailurePolicy": {
        "rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            {"action": "FailJob", "onExitCodes": {"containerName": "c", "operator": "In", "values": [1, 2]}},
        ]
    },
    "successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]},
    "template": _TEMPLATE,
}
_DEFINITION: Object = {
    "group": "example.com",
    "names": {"plural": "things", "singular": "thing", "kind": "Thing", "shortNames": ["th"]},
    "scope": "Namespaced",
    "versions": [
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": _SCHEMA},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.c"}},
            "additionalPrinterColumns": [{"name": "N", "type": "integer", "jsonPath": ".spec.n"}],
        }
    ],
}
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_APPS = "/apis/apps/v1/namespaces/default"
SAMPLES: dict[str, tuple[str, Object]] = {
    "Pod": (f"{DEFAULT}/pods", _of("v1", "Pod", "p", spec=_POD_SPEC)),
    "Job": ("/apis/batch/v1/namespaces/default/jobs", _of("batch/v1", "Job", "j", spec=_JOB_SPEC)),
    "CronJob": (
        "/apis/batch/v1/namespaces/default/cronjobs",
        _of("batch/v1", "CronJob", "c", spec={"schedule": "* * * * *", "jobTemplate": {"spec": _JOB_SPEC}}),
    ),
    "Node": (
        "/api/v1/nodes",
        _of(
            "v1",
            "Node",
            "n",
            spec={"unschedulable": True, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
            status={"capacity": {"cpu": "8"}, "conditions": [{"type": "Ready", "status": "True"}]},
        ),
    ),
    "Deployment": (
        f"{_APPS}/deployments",
        _of(
            "apps/v1",
            "Deployment",
            "d",
            spec={
                "replicas": 1,
                "selector": {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "app", "operator": "Exists"}]},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
                "template": _PLAIN_TEMPLATE,
            },
        ),
    ),
    "StatefulSet": (
        f"{_APPS}/statefulsets",
        _of(
            "apps/v1",
            "StatefulSet",
            "s",
            spec={
                "replicas": 1,
                "serviceName": "s",
                "selector": {"matchLabels": {"app": "a"}},
                "template": _PLAIN_TEMPLATE,
                "volumeClaimTemplates": [
                    {
                        "metadata": {"name": "v"},
                        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                    }
                ],
            },
        ),
    ),
    "Service": (
        f"{DEFAULT}/services",
        _of("v1", "Service", "s", spec={"selector": {"a": "b"}, "ports": [{"name": "p", "port": 80}]}),
    ),
    "PodDisruptionBudget": (
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        _of("policy/v1", "PodDisruptionBudget", "b", spec={"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}),
    ),
    "Lease": (
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        _of(
            "coordination.k8s.io/v1",
            "Lease",
            "l",
            spec={"holderIdentity": "h", "leaseDurationSeconds": 5, "renewTime": "2026-01-01T00:00:00.000000Z"},
        ),
    ),
    "Event": (
        "/apis/events.k8s.io/v1/namespaces/default/events",
        _of(
            "events.k8s.io/v1",
            "Event",
            "e",
            regarding={"apiVersion": "v1", "kind": "Pod", "name": "x", "namespace": "default"},
            reason="r",
            note="n",
            type="Normal",
            action="a",
            reportingController="example.com/c",
            reportingInstance="i",
            eventTime="2026-01-01T00:00:00.000000Z",
        ),
    ),
    "RoleBinding": (
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
        _of(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            "r",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "x"},
            subjects=[{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}],
        ),
    ),
    "CustomResourceDefinition": (
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        _of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.example.com", spec=_DEFINITION),
    ),
    "MutatingWebhookConfiguration": (
        f"{_ADMISSION}/mutatingwebhookconfigurations",
        _of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "m", webhooks=[_WEBHOOK]),
    ),
    "ValidatingAdmissionPolicy": (
        f"{_ADMISSION}/validatingadmissionpolicies",
        _of(
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicy",
            "v",
            spec={
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [_RULE]},
                "matchConditions": [{"name": "m", "expression": "true"}],
                "validations": [{"expression": "object.spec.parallelism > 0", "message": "m"}],
                "variables": [{"name": "v", "expression": "1"}],
            },
        ),
    ),
}
