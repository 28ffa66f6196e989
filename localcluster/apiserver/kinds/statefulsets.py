"""StatefulSets and ControllerRevisions: defaults of claims, what may be wrong, what an update may change.

Pure. Where the real server names a strategy by the fields of its own types, so do we.
"""

import copy
import re
from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value, required, unsupported
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.labelselectors import validate_selector
from localcluster.apiserver.kinds.names import LONGEST_LABEL, subdomain_problems
from localcluster.apiserver.kinds.pods.spec import validate_template
from localcluster.apiserver.kinds.typed import TypedStrategy
from localcluster.apiserver.kinds.workloads import WorkloadStrategy
from localcluster.apiserver.selectors import matches_labels

_COUNTS: Final = ("availableReplicas", "currentReplicas", "readyReplicas", "updatedReplicas")
_FROZEN: Final = ("podManagementPolicy", "selector", "serviceName", "volumeClaimTemplates")
_IMMUTABLE: Final = "field is immutable"
_NOT_NEGATIVE: Final = "must be greater than or equal to 0"
_PERCENT: Final = re.compile(r"[0-9]+%")
_BAD_PERCENT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
_POLICIES: Final = ("OrderedReady", "Parallel")
_RETENTION: Final = ("Retain", "Delete")
_STRATEGIES: Final = ("RollingUpdate", "OnDelete")
_UNMATCHED: Final = "`selector` does not match template `labels`"
_ROLLING: Final = "spec.updateStrategy.rollingUpdate"


def set_name_problems(name: str) -> list[str]:
    """For names of StatefulSets: part of a host name."""
    if "." in name:
        return ["must not contain dots"]
    if len(name) > LONGEST_LABEL:
        return [f"must be no more than {LONGEST_LABEL} characters"]
    return subdomain_problems(name)


class StatefulSetStrategy(WorkloadStrategy):
    """The rules of StatefulSets."""

    def default(self, obj: Object) -> None:
        """Those of all kinds with a template, and those of the claims."""
        super().default(obj)
        spec = obj["spec"]
        retention = spec["persistentVolumeClaimRetentionPolicy"]
        for key in ("whenDeleted", "whenScaled"):
            retention.setdefault(key, _RETENTION[0])
        rolling = spec["updateStrategy"].get("rollingUpdate")
        if rolling is not None:
            rolling.setdefault("partition", 0)
            if spec["updateStrategy"]["type"] == _STRATEGIES[0]:
                rolling.setdefault("maxUnavailable", 1)
        for claim in spec.get("volumeClaimTemplates") or []:
            claim |= {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "status": {"phase": "Pending"}}
            claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What is wrong with the set, its status, or the change of either."""
        if subresource == "status":
            return _validate_status(new.get("status") or {})
        spec = new["spec"]
        errors = _validate_counts(spec) + _validate_selector(spec) + _validate_strategy(spec)
        retention = spec["persistentVolumeClaimRetentionPolicy"]
        errors += [
            unsupported(f"spec.persistentVolumeClaimRetentionPolicy.{key}", retention.get(key), _RETENTION)
            for key in ("whenDeleted", "whenScaled")
            if retention.get(key) not in _RETENTION
        ]
        errors += _validate_pods(spec)
        if old is not None:
            errors += [
                invalid_value(f"spec.{key}", spec.get(key, []), _IMMUTABLE)
                for key in _FROZEN
                if spec.get(key) != old["spec"].get(key)
            ]
        return errors


class RevisionStrategy(TypedStrategy):
    """The rules of ControllerRevisions: what one holds never changes."""

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A number is always there."""
        super().prepare_create(obj, context)
        obj.setdefault("revision", 0)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Something is held, and only its number changes."""
        errors: list[FieldError] = []
        if new.get("data") is None:
            errors.append(required("data", "data is mandatory"))
        if (new.get("revision") or 0) < 0:
            errors.append(invalid_value("revision", new["revision"], _NOT_NEGATIVE))
        if old is not None and new.get("data") != old.get("data"):
            errors.append(invalid_value("data", new.get("data"), _IMMUTABLE))
        return errors


def _validate_counts(spec: Object) -> list[FieldError]:
    start = (spec.get("ordinals") or {}).get("start") or 0
    amounts = {
        "replicas": spec.get("replicas"),
        "minReadySeconds": spec.get("minReadySeconds"),
        "ordinals.start": start,
    }
    errors = [invalid_value(f"spec.{key}", value, _NOT_NEGATIVE) for key, value in amounts.items() if (value or 0) < 0]
    policy = spec.get("podManagementPolicy")
    if policy not in _POLICIES:
        errors.append(invalid_value("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"))
    return errors


def _validate_selector(spec: Object) -> list[FieldError]:
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels") or {}
    if selector is None:
        return [required("spec.selector"), invalid_value("spec.template.metadata.labels", labels, _UNMATCHED)]
    if not selector:
        return [invalid_value("spec.selector", selector, "empty selector is invalid for statefulset")]
    if problems := validate_selector(selector, "spec.selector"):
        return problems
    if not matches_labels(selector, labels):
        return [invalid_value("spec.template.metadata.labels", labels, _UNMATCHED)]
    return []


def _validate_strategy(spec: Object) -> list[FieldError]:
    strategy = spec["updateStrategy"]
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    shown = None
    if rolling is not None:
        shown = {"Partition": rolling.get("partition"), "MaxUnavailable": rolling.get("maxUnavailable")}
    if kind not in _STRATEGIES:
        text = "must be 'RollingUpdate' or 'OnDelete'"
        return [invalid_value("spec.updateStrategy", {"Type": kind, "RollingUpdate": shown}, text)]
    if rolling is None:
        return []
    if kind != _STRATEGIES[0]:
        return [invalid_value(_ROLLING, shown, "only allowed for updateStrategy 'RollingUpdate'")]
    errors = _validate_unavailable(rolling.get("maxUnavailable", 1), f"{_ROLLING}.maxUnavailable")
    if (rolling.get("partition") or 0) < 0:
        errors.append(invalid_value(f"{_ROLLING}.partition", rolling["partition"], _NOT_NEGATIVE))
    return errors


def _validate_unavailable(value: Any, field: str) -> list[FieldError]:
    if isinstance(value, int):
        problems = [_NOT_NEGATIVE] if value < 0 else ["cannot be 0"] if value == 0 else []
    elif not _PERCENT.fullmatch(str(value)):
        problems = [_BAD_PERCENT, "cannot be 0"]
    elif int(str(value)[:-1]) == 0:
        problems = ["cannot be 0"]
    else:
        problems = ["must not be greater than 100%"] if int(str(value)[:-1]) > 100 else []
    return [invalid_value(field, value, each) for each in problems]


def _validate_pods(spec: Object) -> list[FieldError]:
    """What is wrong with the template; each claim counts as a volume."""
    pods, field = spec["template"]["spec"], "spec.template.spec"
    if not pods.get("containers"):
        return [required(f"{field}.containers")]
    template = copy.deepcopy(spec["template"])
    templates = spec.get("volumeClaimTemplates") or []
    claims = [{"name": (each.get("metadata") or {}).get("name", ""), "emptyDir": {}} for each in templates]
    names = {each["name"] for each in claims}
    own = [each for each in pods.get("volumes") or [] if each.get("name") not in names]
    template["spec"]["volumes"] = [*own, *claims]
    errors = validate_template(template, "spec.template")
    if pods.get("restartPolicy") != "Always":
        errors.append(unsupported(f"{field}.restartPolicy", pods.get("restartPolicy"), ("Always",)))
    if pods.get("activeDeadlineSeconds") is not None:
        text = "activeDeadlineSeconds in StatefulSet is not Supported"
        errors.append(forbidden_field(f"{field}.activeDeadlineSeconds", text))
    return errors


def _validate_status(status: Object) -> list[FieldError]:
    replicas = status.get("replicas") or 0
    errors = [
        invalid_value(f"status.{key}", status.get(key) or 0, "cannot be greater than status.replicas")
        for key in _COUNTS
        if (status.get(key) or 0) > replicas
    ]
    return errors + [
        invalid_value(f"status.{key}", status[key], _NOT_NEGATIVE)
        for key in ("replicas", *_COUNTS)
        if (status.get(key) or 0) < 0
    ]
