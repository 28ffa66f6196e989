"""Deployments, StatefulSets and their like: stored, with the defaults that readers rely on."""

from collections.abc import Mapping

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required
from localcluster.apiserver.kinds.kind import Object, RequestContext, Scale
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

    def meaning_changed(self, new: Object, old: Object) -> bool:
        """The annotations of a Deployment mean something too."""
        if self.type_name == "Deployment" and _annotations(new) != _annotations(old):
            return True
        return super().meaning_changed(new, old)

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """Nothing has been made yet."""
        super().prepare_create(obj, context)
        obj["status"] = dict(_FIRST_STATUS.get(self.type_name, {}))

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """The selector fits the template and never changes."""
        if subresource == "status":
            return []
        spec = new["spec"]
        errors = _check_replicas(spec)
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


def _check_replicas(spec: Object) -> list[FieldError]:
    if (spec.get("replicas") or 0) >= 0:
        return []
    return [invalid_value("spec.replicas", spec["replicas"], "must be greater than or equal to 0")]


def _annotations(obj: Object) -> Object:
    return obj["metadata"].get("annotations") or {}


class ReplicationControllerStrategy(TypedStrategy):
    """The oldest kind that makes pods: its selector is a plain map, and follows from the template if it is not told."""

    def default(self, obj: Object) -> None:
        """One pod, the labels of the template, and what the template lacks."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("replicas", 1)
        if not isinstance(spec.get("template"), dict):
            return
        default_template(spec["template"])
        labels = spec["template"]["metadata"].get("labels")
        if labels and not spec.get("selector"):
            spec["selector"] = dict(labels)
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """Nothing has been made yet."""
        super().prepare_create(obj, context)
        obj["status"] = {"replicas": 0}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """The selector fits the template."""
        if subresource == "status":
            return []
        spec = new["spec"]
        errors = _check_replicas(spec)
        if not spec.get("selector"):
            errors.append(required("spec.selector"))
        template = spec.get("template")
        if template is None:
            return [*errors, required("spec.template")]
        labels = template["metadata"].get("labels") or {}
        if not (spec.get("selector") or {}).items() <= labels.items():
            errors.append(invalid_value("spec.template.metadata.labels", labels, _UNMATCHED))
        return errors + validate_template(template, "spec.template")

    def scale(self, obj: Object) -> Scale | None:
        """Its selector as a text is its own."""
        spec, state = obj.get("spec") or {}, obj.get("status") or {}
        return Scale(spec.get("replicas", 0), state.get("replicas", 0), _pairs(spec.get("selector") or {}))


def _pairs(selector: Object) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))


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
