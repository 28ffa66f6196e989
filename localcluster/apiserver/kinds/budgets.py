"""PodDisruptionBudgets: what they ask for, and a status that allows nothing until somebody has counted."""

from localcluster.apiserver.fielderrors import FieldError, invalid_value
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.typed import TypedStrategy

_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


class BudgetStrategy(TypedStrategy):
    """The rules of PodDisruptionBudgets."""

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """Nothing has been counted yet."""
        super().prepare_create(obj, context)
        obj["status"] = dict.fromkeys(_COUNTS, 0)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """One of the two bounds, not both."""
        spec = new.get("spec") or {}
        if subresource == "status" or None in (spec.get("minAvailable"), spec.get("maxUnavailable")):
            return []
        printed = {
            "MinAvailable": spec["minAvailable"],
            "Selector": spec.get("selector"),
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        return [invalid_value("spec", printed, "minAvailable and maxUnavailable cannot be both set")]
