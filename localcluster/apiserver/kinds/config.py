"""ConfigMaps, Secrets, Leases, roles and admission registrations: kinds that are read as they were written."""

import base64
import binascii
from typing import Any

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value, too_long, unsupported
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.typed import TypedStrategy

MOST_BYTES = 1024 * 1024
_IMMUTABLE = "field is immutable when `immutable` is set"
_RBAC_GROUP = "rbac.authorization.k8s.io"


class DataStrategy(TypedStrategy):
    """ConfigMaps and Secrets: bounded in size, closed when they say so."""

    def default(self, obj: Object) -> None:
        """Secrets are opaque unless they say otherwise; plain strings become data."""
        if self.type_name != "Secret":
            return
        obj["type"] = obj.get("type") or "Opaque"
        plain = obj.pop("stringData", None)
        if plain:
            encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Size, and what may not change."""
        size = sum(len(str(value)) for key in ("data", "binaryData") for value in (new.get(key) or {}).values())
        errors = [too_long("data" if self.type_name == "Secret" else "[]", MOST_BYTES)] if size > MOST_BYTES else []
        if self.type_name == "Secret":
            errors += [
                invalid_value(f"data[{key}]", "", "must be base64")
                for key, value in (new.get("data") or {}).items()
                if not _is_base64(value)
            ]
        if old is not None and old.get("immutable"):
            if not new.get("immutable"):
                errors.append(forbidden_field("immutable", _IMMUTABLE))
            errors += [
                forbidden_field(key, _IMMUTABLE) for key in ("data", "binaryData") if new.get(key) != old.get(key)
            ]
        if old is not None and new.get("type") != old.get("type"):
            errors.append(invalid_value("type", new.get("type"), "field is immutable"))
        return errors


def _is_base64(value: Any) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError):
        return False
    return True


class LeaseStrategy(TypedStrategy):
    """Leases: who holds what, for how long."""

    def default(self, obj: Object) -> None:
        """A spec is always there."""
        if not isinstance(obj.get("spec"), dict):
            obj["spec"] = {}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Durations and counts."""
        spec = new["spec"]
        errors: list[FieldError] = []
        seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
        if seconds is not None and seconds <= 0:
            errors.append(invalid_value("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
        if transitions is not None and transitions < 0:
            text = "must be greater than or equal to 0"
            errors.append(invalid_value("spec.leaseTransitions", transitions, text))
        return errors


class BindingStrategy(TypedStrategy):
    """Role bindings: to what they bind never changes."""

    def default(self, obj: Object) -> None:
        """Groups of subjects and roles are filled in."""
        reference = obj.get("roleRef")
        if isinstance(reference, dict) and not reference.get("apiGroup"):
            reference["apiGroup"] = _RBAC_GROUP
        for subject in obj.get("subjects") or []:
            if isinstance(subject, dict) and subject.get("kind") in {"User", "Group"}:
                subject.setdefault("apiGroup", _RBAC_GROUP)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """The role."""
        reference = new.get("roleRef") or {}
        errors: list[FieldError] = []
        kinds = ("ClusterRole",) if self.type_name == "ClusterRoleBinding" else ("Role", "ClusterRole")
        if reference.get("kind") not in kinds:
            errors.append(unsupported("roleRef.kind", reference.get("kind") or "", kinds))
        if old is not None and reference != old.get("roleRef"):
            errors.append(invalid_value("roleRef", _go_reference(reference), "field is immutable"))
        return errors


def _go_reference(reference: Object) -> Object:
    """A role reference as the real server prints one."""
    return {"APIGroup": reference.get("apiGroup"), "Kind": reference.get("kind"), "Name": reference.get("name")}


class WebhookStrategy(TypedStrategy):
    """Webhook configurations: defaults that every reader relies on."""

    _DEFAULTS = (("failurePolicy", "Fail"), ("matchPolicy", "Equivalent"), ("timeoutSeconds", 10))

    def default(self, obj: Object) -> None:
        """What a webhook does when it does not say."""
        for webhook in obj.get("webhooks") or []:
            for key, value in self._DEFAULTS:
                webhook.setdefault(key, value)
            for key in ("namespaceSelector", "objectSelector"):
                if webhook.get(key) is None:
                    webhook[key] = {}
            if self.type_name == "MutatingWebhookConfiguration":
                webhook.setdefault("reinvocationPolicy", "Never")
            service = (webhook.get("clientConfig") or {}).get("service")
            if isinstance(service, dict):
                service.setdefault("port", 443)
            for rule in webhook.get("rules") or []:
                rule.setdefault("scope", "*")

    def meaning_changed(self, new: Object, old: Object) -> bool:
        """The webhooks are what counts."""
        return new.get("webhooks") != old.get("webhooks")


class PolicyStrategy(TypedStrategy):
    """Admission policies and their bindings: defaults that every reader relies on."""

    def default(self, obj: Object) -> None:
        """What a policy does when it does not say."""
        spec = obj.get("spec")
        if not isinstance(spec, dict):
            return
        if self.type_name == "ValidatingAdmissionPolicy":
            spec.setdefault("failurePolicy", "Fail")
        for key in ("matchConstraints", "matchResources"):
            if isinstance(spec.get(key), dict):
                _default_match(spec[key])

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new policy has not been looked at."""
        super().prepare_create(obj, context)
        if self.has_status:
            obj["status"] = {}


def _default_match(match: Object) -> None:
    match.setdefault("matchPolicy", "Equivalent")
    for key in ("namespaceSelector", "objectSelector"):
        if match.get(key) is None:
            match[key] = {}
    for rule in [*(match.get("resourceRules") or []), *(match.get("excludeResourceRules") or [])]:
        rule.setdefault("scope", "*")
