"""Leases and admission registrations: kinds that are read as they were written."""

from localcluster.apiserver.fielderrors import FieldError, invalid_value
from localcluster.apiserver.kinds.kind import Object, RequestContext
from localcluster.apiserver.kinds.typed import TypedStrategy


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
