"""The kinds that configure admission, with what is wrong in them told before they are stored."""

import dataclasses

from localcluster.apiserver.extension.admission.chain import BINDINGS, MUTATING, POLICIES, VALIDATING
from localcluster.apiserver.extension.admission.correctness import binding_errors, policy_errors, webhook_errors
from localcluster.apiserver.fielderrors import FieldError
from localcluster.apiserver.kinds.config import PolicyStrategy, WebhookStrategy
from localcluster.apiserver.kinds.kind import Object, Strategy
from localcluster.apiserver.kinds.registry import Registry

NAMES = {
    MUTATING: "MutatingWebhookConfiguration",
    VALIDATING: "ValidatingWebhookConfiguration",
    POLICIES: "ValidatingAdmissionPolicy",
    BINDINGS: "ValidatingAdmissionPolicyBinding",
}


class CheckedWebhooks(WebhookStrategy):
    """Webhook configurations."""

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """What is wrong with the webhooks."""
        return list(webhook_errors(new))


class CheckedPolicies(PolicyStrategy):
    """Policies and bindings."""

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """What is wrong with the spec."""
        if subresource:
            return []
        return list(policy_errors(new) if self.type_name == NAMES[POLICIES] else binding_errors(new))


def check_configurations(registry: Registry) -> None:
    """From now on the kinds that configure admission are checked."""
    for (group, plural), name in NAMES.items():
        kind = registry.find(group, "v1", plural)
        if kind is not None:
            registry.add(dataclasses.replace(kind, strategy=_strategy(name)))


def _strategy(name: str) -> Strategy:
    if name.endswith("WebhookConfiguration"):
        return CheckedWebhooks(name, counts_generations=True)
    return CheckedPolicies(name, has_status=name == NAMES[POLICIES], counts_generations=True)
