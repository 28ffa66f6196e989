"""ValidatingAdmissionPolicy: policies and their bindings as values, and what they say about a write.

Pure. A policy acts where a binding names it. The first refusal is the one that is told; warnings come from all of them.
Parameters are not supported: a policy that asks for some refuses (or, with `Ignore`, says nothing).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.extension.admission.conditions import DECLARED, ConditionError, conditions_hold
from localcluster.apiserver.extension.admission.matching import (
    matches_namespace,
    matches_object,
    matches_rules,
    namespace_labels,
)
from localcluster.apiserver.extension.admission.question import refusal_name, variables
from localcluster.apiserver.extension.cel.authorizer import AuthorizerVariable
from localcluster.apiserver.extension.cel.program import CompileError, EvaluationError, compile_expression
from localcluster.apiserver.status import StatusError, forbidden

Object = dict[str, Any]

POLICY_DECLARED: Final = DECLARED | {"variables", "params"}
_CODES: Final = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}


@dataclass(frozen=True, slots=True)
class Bound:
    """A policy with one of its bindings."""

    name: str
    binding: str
    spec: Object
    binding_spec: Object


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a policy finds wrong with a write."""

    bound: Bound
    message: str
    reason: str

    def refusal(self, attributes: AdmissionAttributes) -> StatusError:
        """The complaint as the refusal of the write."""
        text = (
            f"ValidatingAdmissionPolicy '{self.bound.name}' with binding '{self.bound.binding}' denied request: "
            f"{self.message}"
        )
        refused = forbidden(attributes.kind, refusal_name(attributes), text)
        details = {**refused.details, "causes": [{"message": text}]}
        return StatusError(_CODES.get(self.reason, 422), self.reason, refused.message, details)

    def warning(self) -> str:
        """The complaint as a warning."""
        return (
            f"Validation failed for ValidatingAdmissionPolicy '{self.bound.name}' with binding "
            f"'{self.bound.binding}': {self.message}"
        )


def bound_policies(policies: Iterable[Object], bindings: Iterable[Object]) -> tuple[Bound, ...]:
    """Every policy with each of its bindings, by name."""
    known = {policy["metadata"]["name"]: policy["spec"] for policy in policies}
    found = [
        Bound(
            binding["spec"]["policyName"],
            binding["metadata"]["name"],
            known[binding["spec"]["policyName"]],
            binding["spec"],
        )
        for binding in bindings
        if binding["spec"].get("policyName") in known
    ]
    return tuple(sorted(found, key=lambda bound: (bound.name, bound.binding)))


def check_policies(
    bounds: Iterable[Bound], attributes: AdmissionAttributes, namespace: Object | None, authorizer: AuthorizerVariable
) -> None:
    """Warns the sender as policies say so.

    Raises:
        StatusError: a policy refuses the write.
    """
    refused: Complaint | None = None
    for bound in bounds:
        if not _concerns(bound, attributes, namespace):
            continue
        actions = bound.binding_spec.get("validationActions") or ()
        for complaint in _complaints(bound, attributes, namespace, authorizer):
            if "Warn" in actions:
                attributes.warnings.append(complaint.warning())
            if "Deny" in actions and refused is None:
                refused = complaint
    if refused is not None:
        raise refused.refusal(attributes)


def _concerns(bound: Bound, attributes: AdmissionAttributes, namespace: Object | None) -> bool:
    constraints = bound.spec.get("matchConstraints") or {}
    narrowed = bound.binding_spec.get("matchResources")
    if not constraints.get("resourceRules") or not _matches(constraints, attributes, namespace):
        return False
    return not narrowed or _matches(narrowed, attributes, namespace)


def _matches(constraints: Mapping[str, Any], attributes: AdmissionAttributes, namespace: Object | None) -> bool:
    rules = constraints.get("resourceRules")
    return (
        (not rules or matches_rules(rules, attributes))
        and not matches_rules(constraints.get("excludeResourceRules") or (), attributes)
        and matches_namespace(constraints.get("namespaceSelector"), attributes, namespace)
        and matches_object(constraints.get("objectSelector"), attributes)
    )


def _complaints(
    bound: Bound, attributes: AdmissionAttributes, namespace: Object | None, authorizer: AuthorizerVariable
) -> Iterator[Complaint]:
    fails = bound.spec.get("failurePolicy") != "Ignore"
    if bound.spec.get("paramKind"):
        if fails:
            yield Complaint(bound, "failed to configure policy: paramKind is not supported by this server", "Invalid")
        return
    given = variables(attributes, authorizer) | {"namespaceObject": _namespace_object(namespace), "params": None}
    policy = "Fail" if fails else "Ignore"
    conditions = bound.spec.get("matchConditions") or ()
    try:
        if not conditions_hold(conditions, given, failure_policy=policy, declared=POLICY_DECLARED):
            return
    except ConditionError as error:
        yield Complaint(bound, str(error), "Invalid")
        return
    scope = _Scope(bound.spec.get("variables") or (), given)
    for validation in bound.spec.get("validations") or ():
        expression = validation.get("expression", "").strip()
        try:
            if scope.value(expression) is True:
                continue
        except (CompileError, EvaluationError) as error:
            if fails:
                yield Complaint(bound, f"expression '{expression}' resulted in error: {error}", "Invalid")
            continue
        yield Complaint(bound, _message(validation, expression, scope), validation.get("reason") or "Invalid")


def _message(validation: Mapping[str, Any], expression: str, scope: "_Scope") -> str:
    if validation.get("messageExpression"):
        try:
            text = scope.value(validation["messageExpression"])
        except (CompileError, EvaluationError):
            text = ""
        if isinstance(text, str) and text.strip() and "\n" not in text.strip():
            return text.strip()
    return str(validation.get("message") or "").strip() or f"failed expression: {expression}"


class _Scope:
    """Values of expressions over the variables of a policy, each of which is computed when it is first needed."""

    def __init__(self, definitions: Iterable[Mapping[str, str]], given: Object) -> None:
        self._definitions = {each["name"]: each["expression"] for each in definitions}
        self._given = given
        self._known: Object = {}

    def value(self, expression: str) -> Any:
        program = compile_expression(expression, POLICY_DECLARED)
        if "variables" in program.uses:
            for name in program.fields_of("variables"):
                self._compute(name)
        return program.evaluate({**self._given, "variables": self._known})

    def _compute(self, name: str) -> None:
        if name in self._known or name not in self._definitions:
            return
        try:
            self._known[name] = self.value(self._definitions[name])
        except EvaluationError as error:
            raise EvaluationError(f'composited variable "{name}" fails to evaluate: {error}') from error


def _namespace_object(namespace: Object | None) -> Object | None:
    if namespace is None:
        return None
    return {**namespace, "metadata": {**namespace["metadata"], "labels": namespace_labels(namespace)}}
