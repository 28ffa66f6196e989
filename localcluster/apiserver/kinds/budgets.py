"""PodDisruptionBudgets: what they ask for, and a status that allows nothing until somebody has counted."""

import re

from localcluster.apiserver.fielderrors import FieldError, invalid_value, unsupported
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.labelselectors import validate_selector
from localcluster.apiserver.kinds.typed import TypedStrategy

_PERCENT = re.compile(r"[0-9]+%")
_NO_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)
_POLICIES = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


class BudgetStrategy(TypedStrategy):
    """The rules of PodDisruptionBudgets."""

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """Nothing has been counted yet."""
        super().prepare_create(obj, context)
        obj["status"] = dict.fromkeys(_COUNTS, 0)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """One of the two bounds, not both."""
        if subresource == "status":
            return [
                invalid_value(f"status.{key}", state[key], "must be greater than or equal to 0")
                for state in (new.get("status") or {},)
                for key in _COUNTS
                if (state.get(key) or 0) < 0
            ]
        spec = new.get("spec") or {}
        errors = _validate_bounds(spec) + validate_selector(spec.get("selector"), "spec.selector")
        policy = spec.get("unhealthyPodEvictionPolicy")
        if policy is not None and policy not in _POLICIES:
            errors.append(unsupported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES))
        return errors


def _validate_bounds(spec: Object) -> list[FieldError]:
    if None not in (spec.get("minAvailable"), spec.get("maxUnavailable")):
        printed = {
            "MinAvailable": spec["minAvailable"],
            "Selector": spec.get("selector"),
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        return [invalid_value("spec", printed, "minAvailable and maxUnavailable cannot be both set")]
    return [
        invalid_value(f"spec.{key}", spec[key], problem)
        for key in ("minAvailable", "maxUnavailable")
        if spec.get(key) is not None and (problem := _problem_of(spec[key]))
    ]


def _problem_of(bound: int | str) -> str:
    """What is wrong with a number of pods, or a share in percent."""
    if isinstance(bound, int):
        return "" if bound >= 0 else "must be greater than or equal to 0"
    if not _PERCENT.fullmatch(bound):
        return _NO_PERCENT
    return "" if int(bound[:-1]) <= 100 else "must not be greater than 100%"
