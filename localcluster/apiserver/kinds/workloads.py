"""Deployments, StatefulSets and their like: stored, with the defaults that readers rely on."""

from collections.abc import Mapping

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.labelselectors import validate_selector
from localcluster.apiserver.kinds.pods.defaults import default_template
from localcluster.apiserver.kinds.pods.spec import validate_template
from localcluster.apiserver.kinds.typed import TypedStrategy
from localcluster.apiserver.selectors import matches_labels

_UNMATCHED = "`selector` does not match template `labels`"
_FIRST_STATUS: Mapping[str, Object] = {
    "DaemonSet": dict.fromkeys(
        ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"), 0
    ),
    "ReplicaSet": {"replicas": 0},
    "StatefulSet": {"replicas": 0, "availableReplicas": 0},
}
_REPLICATED = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})


class WorkloadStrategy(TypedStrategy):
    """The kinds of apps/v1 that make pods from a template."""

    def default(self, obj: Object) -> None:
        """Replicas, update strategy, history, and those of the template."""
        spec = obj.setdefault("spec", {})
        if not isinstance(spec.get("template"), dict):
            spec["template"] = {}
        default_template(spec["template"])
        if self.type_name in _REPLICATED:
            spec.setdefault("replicas", 1)
        if self.type_name == "Deployment":
            strategy = spec.setdefault("strategy", {})
            if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
                strategy.setdefault("rollingUpdate", {"maxUnavailable": "25%", "maxSurge": "25%"})
            spec.setdefault("progressDeadlineSeconds", 600)
        if self.type_name == "StatefulSet":
            spec.setdefault("podManagementPolicy", "OrderedReady")
            update = spec.setdefault("updateStrategy", {})
            if update.setdefault("type", "RollingUpdate") == "RollingUpdate":
                update.setdefault("rollingUpdate", {})
            keep = {"whenDeleted": "Retain", "whenScaled": "Retain"}
            spec.setdefault("persistentVolumeClaimRetentionPolicy", keep)
        if self.type_name == "DaemonSet":
            update = spec.setdefault("updateStrategy", {})
            if update.setdefault("type", "RollingUpdate") == "RollingUpdate":
                update.setdefault("rollingUpdate", {"maxUnavailable": 1, "maxSurge": 0})
        if self.type_name != "ReplicaSet":
            spec.setdefault("revisionHistoryLimit", 10)

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """Nothing has been made yet."""
        super().prepare_create(obj, context)
        obj["status"] = dict(_FIRST_STATUS.get(self.type_name, {}))

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """The selector fits the template and never changes."""
        if subresource == "status":
            return []
        spec = new["spec"]
        errors: list[FieldError] = []
        if (spec.get("replicas") or 0) < 0:
            errors.append(invalid_value("spec.replicas", spec["replicas"], "must be greater than or equal to 0"))
        selector = spec.get("selector")
        labels = spec["template"]["metadata"].get("labels") or {}
        if not selector:
            errors.append(required("spec.selector"))
        elif problems := validate_selector(selector, "spec.selector"):
            errors += problems
        elif not matches_labels(selector, labels):
            errors.append(invalid_value("spec.template.metadata.labels", labels, _UNMATCHED))
        if old is not None and selector != old["spec"].get("selector"):
            errors.append(invalid_value("spec.selector", selector, "field is immutable"))
        return errors + validate_template(spec["template"], "spec.template")


class ServiceStrategy(TypedStrategy):
    """Services; nobody gives them an address."""

    def default(self, obj: Object) -> None:
        """Type, affinity, ports."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("type", "ClusterIP")
        spec.setdefault("sessionAffinity", "None")
        if spec.get("clusterIP") == "None":
            spec.setdefault("clusterIPs", ["None"])
            spec.setdefault("ipFamilies", ["IPv4"])
            spec.setdefault("ipFamilyPolicy", "SingleStack")
        if spec["type"] != "ExternalName":
            spec.setdefault("internalTrafficPolicy", "Cluster")
        for port in spec.get("ports") or []:
            port.setdefault("protocol", "TCP")
            port.setdefault("targetPort", port.get("port"))

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """No balancer yet."""
        super().prepare_create(obj, context)
        obj["status"] = {"loadBalancer": {}}
