"""The kinds of resource.k8s.io/v1, and when which of their rules holds."""

from collections.abc import Callable
from typing import Any, Final

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value
from localcluster.apiserver.kinds.devices.claim_status import drop_reports_of_released, status_errors
from localcluster.apiserver.kinds.devices.claims import MAX_ENTRIES, claim_errors, default_claim
from localcluster.apiserver.kinds.devices.names import driver_errors, each_of, label_errors, pool_errors
from localcluster.apiserver.kinds.devices.parameters import configuration_errors
from localcluster.apiserver.kinds.devices.selectors import selectors_errors
from localcluster.apiserver.kinds.devices.slices import slice_errors
from localcluster.apiserver.kinds.devices.tolerations import date_taint, taint_errors
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.kinds.metadata import validate_annotations, validate_labels
from localcluster.apiserver.kinds.names import qualified_name_problems
from localcluster.apiserver.kinds.typed import TypedStrategy

GROUP: Final = "resource.k8s.io"
CLAIMS: Final = (GROUP, "resourceclaims")
_OF_THE_SYSTEM: Final = "kubernetes.io"
_NO_NAMES: Final = ("name", "namespace", "generateName")
"""What the metadata of a template's claims may not say."""


class ClassStrategy(TypedStrategy):
    """The rules of DeviceClasses. Selectors that were there before are not compiled again."""

    def default(self, obj: Object) -> None:
        """A class has a spec, if an empty one."""
        obj.setdefault("spec", {})

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """What selects its devices, and parameters for their drivers."""
        spec, before = new["spec"], (old or {}).get("spec") or {}
        selectors, config = spec.get("selectors") or [], spec.get("config") or []
        errors = [] if selectors == before.get("selectors") else selectors_errors(selectors, "spec.selectors")
        if config != before.get("config"):
            errors += each_of(config, "spec.config", MAX_ENTRIES, configuration_errors)
        name = spec.get("extendedResourceName")
        return errors + (_extended_resource(name) if name is not None else [])


def _extended_resource(name: str) -> list[FieldError]:
    field = "spec.extendedResourceName"
    errors = []
    if "/" not in name:
        text = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"
        errors.append(invalid_value(field, name, text))
    domain = name.partition("/")[0]
    if domain == _OF_THE_SYSTEM or domain.endswith("." + _OF_THE_SYSTEM):
        errors.append(invalid_value(field, name, 'must not have "kubernetes.io/" domain'))
    problems = [each for each in qualified_name_problems(name) if each != "name part must be non-empty"]
    return errors + [invalid_value(field, name, each) for each in problems]


class SliceStrategy(TypedStrategy):
    """The rules of ResourceSlices."""

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """Taints are of now, unless they say since when."""
        super().prepare_create(obj, context)
        self._date(obj, context)

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """The same for taints that come later."""
        self._date(new, context)
        super().prepare_update(new, old, subresource, context)

    def _date(self, obj: Object, context: RequestContext) -> None:
        for device in (obj.get("spec") or {}).get("devices") or ():
            for taint in device.get("taints") or ():
                date_taint(taint, context.now)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """What it offers, and where."""
        return slice_errors(new.get("spec") or {}, (old.get("spec") or {}) if old is not None else None, "spec")


class ClaimStrategy(TypedStrategy):
    """The rules of ResourceClaims: what they ask for never changes."""

    def default(self, obj: Object) -> None:
        """One device of each request; a status, if an empty one."""
        default_claim(obj.setdefault("spec", {}))
        obj.setdefault("status", {})

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """Nothing is allocated yet."""
        super().prepare_create(obj, context)
        obj["status"] = {}

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """By the status path the status alone changes, not even labels do."""
        super().prepare_update(new, old, subresource, context)
        if subresource == "status":
            new["metadata"] = {**old["metadata"], "resourceVersion": new["metadata"].get("resourceVersion")}
            drop_reports_of_released(new["status"], old.get("status") or {})

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What it asks for; later, what it has got."""
        if old is None:
            return claim_errors(new["spec"], "spec")
        if subresource == "status":
            return status_errors(new, old, "status")
        return [] if new["spec"] == old["spec"] else [invalid_value("spec", None, "field is immutable")]


class TemplateStrategy(TypedStrategy):
    """The rules of ResourceClaimTemplates: they never change."""

    def default(self, obj: Object) -> None:
        """As for the claims that are made from it."""
        spec = obj.setdefault("spec", {})
        spec.setdefault("metadata", {})
        default_claim(spec.setdefault("spec", {}))

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """What its claims ask for, and what is written on them."""
        spec = new["spec"]
        if old is not None:
            return [] if spec == old["spec"] else [invalid_value("spec", spec, "field is immutable")]
        metadata = spec["metadata"]
        errors = validate_annotations(metadata.get("annotations") or {}, "spec.metadata.annotations")
        errors += validate_labels(metadata.get("labels") or {}, "spec.metadata.labels")
        errors += [forbidden_field(f"spec.metadata.{key}", "cannot be set") for key in _NO_NAMES if metadata.get(key)]
        return errors + claim_errors(spec["spec"], "spec.spec")


class RuleStrategy(TypedStrategy):
    """The rules of DeviceTaintRules."""

    def default(self, obj: Object) -> None:
        """A rule has a taint and a status, if empty ones."""
        obj.setdefault("spec", {}).setdefault("taint", {})
        obj.setdefault("status", {})

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """The taint is of now, unless it says since when."""
        super().prepare_create(obj, context)
        obj["status"] = {}
        date_taint(obj["spec"]["taint"], context.now)

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """The same when it changes; its effect is of a new time then."""
        if subresource != "status":
            self._date(new, old, context)
        super().prepare_update(new, old, subresource, context)

    def _date(self, new: Object, old: Object, context: RequestContext) -> None:
        taint, before = new["spec"]["taint"], old["spec"]["taint"]
        if taint.get("effect") != before.get("effect") and taint.get("timeAdded") == before.get("timeAdded"):
            new["spec"] = {**new["spec"], "taint": {**taint, "timeAdded": context.now}}
        date_taint(new["spec"]["taint"], context.now)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Which devices, and the taint."""
        if subresource == "status":
            return []
        selector, field = new["spec"].get("deviceSelector") or {}, "spec.deviceSelector"
        errors = []
        for key, check in (("driver", driver_errors), ("pool", pool_errors), ("device", label_errors)):
            if selector.get(key) is not None:
                errors += check(selector[key], f"{field}.{key}")
        return errors + taint_errors(new["spec"]["taint"], "spec.taint")


def _of_spec(*keys: str) -> Callable[[Object], str]:
    def read(obj: Object) -> str:
        found: Any = obj.get("spec")
        for key in keys:
            found = (found or {}).get(key)
        return str(found or "")

    return read


def device_kinds() -> list[KindInfo]:
    """All of them."""
    status = frozenset({"status"})

    def kind(name: str, plural: str, strategy: TypedStrategy, *, namespaced: bool = False, **more: Any) -> KindInfo:
        return KindInfo(GROUP, "v1", name, plural, strategy, namespaced=namespaced, **{"returns_deleted": True} | more)

    claim = ClaimStrategy("ResourceClaim", has_status=True)
    rule = RuleStrategy("DeviceTaintRule", has_status=True, counts_generations=True)
    template = TemplateStrategy("ResourceClaimTemplate")
    return [
        kind("DeviceClass", "deviceclasses", ClassStrategy("DeviceClass", counts_generations=True)),
        kind(
            "DeviceTaintRule",
            "devicetaintrules",
            rule,
            subresources=status,
            unconditional_update=False,
            returns_deleted=False,
        ),
        kind("ResourceClaim", "resourceclaims", claim, namespaced=True, subresources=status),
        kind("ResourceClaimTemplate", "resourceclaimtemplates", template, namespaced=True),
        kind(
            "ResourceSlice",
            "resourceslices",
            SliceStrategy("ResourceSlice", counts_generations=True),
            fields={
                "spec.driver": _of_spec("driver"),
                "spec.nodeName": _of_spec("nodeName"),
                "spec.pool.name": _of_spec("pool", "name"),
            },
        ),
    ]
