"""What webhook configurations, policies and bindings must be to be taken, in the words of the real server. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from localcluster.apiserver import fielderrors
from localcluster.apiserver.extension.admission.addresses import address_errors
from localcluster.apiserver.extension.admission.conditions import DECLARED
from localcluster.apiserver.extension.cel.program import CompileError, compile_expression
from localcluster.apiserver.fielderrors import FieldError
from localcluster.apiserver.kinds.labelselectors import validate_selector
from localcluster.apiserver.kinds.names import qualified_name_problems, subdomain_problems

Object = Mapping[str, Any]

OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_PLURALS: Final = {
    "operations": "operations",
    "apiGroups": "API groups",
    "apiVersions": "API versions",
    "resources": "resources without subresources",
}
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*\Z")
_PLAIN: Final = (
    (re.compile(r"-?\d+"), "int"),
    (re.compile(r"'[^'\\]*'|\"[^\"\\]*\""), "string"),
    (re.compile(r"(object|oldObject|params)(\.[A-Za-z_]\w*)*"), "dyn"),
)
_SOMETHING: Final = "validations or auditAnnotations must contain at least one item"


def webhook_errors(configuration: Object) -> Iterator[FieldError]:
    """What is wrong with a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration."""
    names = set()
    for index, hook in enumerate(configuration.get("webhooks") or ()):
        at, name = f"webhooks[{index}]", hook.get("name") or ""
        yield from _hook_name(name, f"{at}.name")
        if name and name in names:
            yield fielderrors.duplicate(f"{at}.name", name)
        names.add(name)
        yield from _review_versions(hook.get("admissionReviewVersions") or (), at)
        yield from _rules(hook.get("rules") or (), f"{at}.rules")
        yield from _one_of(hook.get("failurePolicy"), ("Fail", "Ignore"), f"{at}.failurePolicy")
        yield from _one_of(hook.get("matchPolicy"), ("Equivalent", "Exact"), f"{at}.matchPolicy")
        if not hook.get("sideEffects"):
            yield fielderrors.required(f"{at}.sideEffects", "must specify one of None, NoneOnDryRun")
        yield from _one_of(hook.get("sideEffects"), ("None", "NoneOnDryRun"), f"{at}.sideEffects")
        yield from _one_of(hook.get("reinvocationPolicy"), ("IfNeeded", "Never"), f"{at}.reinvocationPolicy")
        seconds = hook.get("timeoutSeconds")
        if seconds is not None and not 1 <= seconds <= 30:
            told = "the timeout value must be between 1 and 30 seconds"
            yield fielderrors.invalid_value(f"{at}.timeoutSeconds", seconds, told)
        yield from _selectors(hook, at)
        yield from address_errors(hook.get("clientConfig") or {}, f"{at}.clientConfig")
        yield from _conditions(hook.get("matchConditions") or (), f"{at}.matchConditions", DECLARED)


def policy_errors(policy: Object) -> Iterator[FieldError]:
    """What is wrong with a ValidatingAdmissionPolicy."""
    spec = policy.get("spec") or {}
    yield from _one_of(spec.get("failurePolicy"), ("Fail", "Ignore"), "spec.failurePolicy")
    kind = spec.get("paramKind")
    if kind is not None:
        missing = [key for key in ("apiVersion", "kind") if not kind.get(key)]
        yield from (fielderrors.required(f"spec.paramKind.{key}") for key in missing)
    constraints = spec.get("matchConstraints")
    if constraints is None:
        yield fielderrors.required("spec.matchConstraints")
    else:
        if not constraints.get("resourceRules"):
            yield fielderrors.required("spec.matchConstraints.resourceRules")
        yield from _rules(constraints.get("resourceRules") or (), "spec.matchConstraints.resourceRules")
        yield from _selectors(constraints, "spec.matchConstraints")
    known = DECLARED | {"params"} if spec.get("paramKind") else DECLARED
    yield from _conditions(spec.get("matchConditions") or (), "spec.matchConditions", known)
    yield from _variables(spec.get("variables") or (), known)
    if spec.get("variables"):
        known |= {"variables"}
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        yield fielderrors.required("spec.validations", _SOMETHING)
        yield fielderrors.required("spec.auditAnnotations", _SOMETHING)
    for index, validation in enumerate(spec.get("validations") or ()):
        yield from _validation(validation, f"spec.validations[{index}]", known)


def binding_errors(binding: Object) -> Iterator[FieldError]:
    """What is wrong with a ValidatingAdmissionPolicyBinding."""
    spec = binding.get("spec") or {}
    if not spec.get("policyName"):
        yield fielderrors.required("spec.policyName")
    actions = spec.get("validationActions") or []
    if not actions:
        yield fielderrors.required("spec.validationActions")
    for index, action in enumerate(actions):
        at = f"spec.validationActions[{index}]"
        yield from _one_of(action, ("Audit", "Deny", "Warn"), at)
        if action in actions[:index]:
            yield fielderrors.duplicate(at, action)
    yield from _parameters(spec.get("paramRef"), "spec.paramRef")
    yield from _selectors(spec.get("matchResources") or {}, "spec.matchResources")
    if {"Deny", "Warn"} <= set(actions):
        told = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the API response"
        )
        yield fielderrors.invalid_value("spec.validationActions", actions, f"{told} and headers serves no purpose)")


def _parameters(reference: Object | None, at: str) -> Iterator[FieldError]:
    if reference is None:
        return
    named, selected = bool(reference.get("name")), reference.get("selector") is not None
    if named == selected:
        told = "name and selector are mutually exclusive" if named else "one of name or selector must be specified"
        for field in ("name", "selector"):
            at_field = f"{at}.{field}"
            yield fielderrors.forbidden_field(at_field, told) if named else fielderrors.required(at_field, told)
    if not reference.get("parameterNotFoundAction"):
        yield fielderrors.required(f"{at}.parameterNotFoundAction")


def _hook_name(name: str, at: str) -> Iterator[FieldError]:
    if not name:
        yield fielderrors.required(at)
        return
    yield from (fielderrors.invalid_value(at, name, each) for each in subdomain_problems(name))
    if name.count(".") < 2:
        told = "should be a domain with at least three segments separated by dots"
        yield fielderrors.invalid_value(at, name, told)


def _review_versions(versions: Sequence[str], at: str) -> Iterator[FieldError]:
    at = f"{at}.admissionReviewVersions"
    if not versions:
        yield fielderrors.required(at, "must specify one of v1, v1beta1")
    elif not {"v1", "v1beta1"} & set(versions):
        yield fielderrors.invalid_value(at, list(versions), "must include at least one of v1, v1beta1")


def _rules(rules: Sequence[Object], at: str) -> Iterator[FieldError]:
    for index, rule in enumerate(rules):
        for field in _PLURALS:
            values, here = rule.get(field) or [], f"{at}[{index}].{field}"
            if not values:
                yield fielderrors.required(here)
            yield from _all_or_some(field, values, here)
            if field == "operations":
                for number, each in enumerate(values):
                    yield from _one_of(each, OPERATIONS, f"{here}[{number}]")
        yield from _one_of(rule.get("scope"), ("*", "Cluster", "Namespaced"), f"{at}[{index}].scope")


def _all_or_some(field: str, values: list[str], at: str) -> Iterator[FieldError]:
    """`*` stands alone; among resources it may stand beside subresources, and `*/*` stands alone."""
    if len(values) < 2:
        return
    if field == "resources" and "*/*" in values:
        yield fielderrors.invalid_value(at, values, "if '*/*' is present, must not specify other resources")
    elif "*" in values and any(each != "*" and (field != "resources" or "/" not in each) for each in values):
        yield fielderrors.invalid_value(at, values, f"if '*' is present, must not specify other {_PLURALS[field]}")


def _selectors(holder: Object, at: str) -> Iterator[FieldError]:
    for name in ("namespaceSelector", "objectSelector"):
        yield from validate_selector(holder.get(name), f"{at}.{name}")


def _conditions(conditions: Sequence[Object], at: str, known: frozenset[str]) -> Iterator[FieldError]:
    names = set()
    for index, each in enumerate(conditions):
        name, here = each.get("name") or "", f"{at}[{index}]"
        yield from _expression(each.get("expression") or "", f"{here}.expression", known, gives="bool")
        if not name:
            yield fielderrors.required(f"{here}.name")
        elif name in names:
            yield fielderrors.duplicate(f"{here}.name", name)
        else:
            yield from (fielderrors.invalid_value(f"{here}.name", name, told) for told in qualified_name_problems(name))
        names.add(name)


def _variables(variables: Sequence[Object], known: frozenset[str]) -> Iterator[FieldError]:
    for index, each in enumerate(variables):
        name, here = each.get("name") or "", f"spec.variables[{index}]"
        if not name:
            yield fielderrors.required(f"{here}.name", "name is not specified")
        elif not _IDENTIFIER.match(name):
            yield fielderrors.invalid_value(f"{here}.name", name, "must be a valid CEL identifier")
        told = "expression is not specified"
        # A variable may use those before it.
        usable = known | {"variables"} if index else known
        yield from _expression(each.get("expression") or "", f"{here}.expression", usable, told)


def _validation(validation: Object, at: str, known: frozenset[str]) -> Iterator[FieldError]:
    expression, message = (validation.get("expression") or "").strip(), validation.get("message")
    yield from _expression(expression, f"{at}.expression", known, "expression is not specified", gives="bool")
    if message is not None and message != "" and not message.strip():
        yield fielderrors.invalid_value(f"{at}.message", message, "must be non-empty if specified")
    elif message and "\n" in message.strip():
        yield fielderrors.invalid_value(f"{at}.message", message, "must not contain line breaks")
    elif not message and "\n" in expression:
        told = "message must be specified if expression contains line breaks"
        yield fielderrors.required(f"{at}.message", told)
    if validation.get("messageExpression"):
        yield from _expression(validation["messageExpression"], f"{at}.messageExpression", known, gives="string")
    yield from _one_of(validation.get("reason"), ("Forbidden", "Invalid", "RequestEntityTooLarge"), f"{at}.reason")


def _expression(
    source: str, at: str, known: frozenset[str], missing: str = "", *, gives: str = ""
) -> Iterator[FieldError]:
    if not source.strip():
        yield fielderrors.required(at, missing)
        return
    try:
        compile_expression(source, known)
    except CompileError as error:
        yield fielderrors.invalid_value(at, source, str(error))
    else:
        found = plain_type(source)
        if gives and found not in {"", gives}:
            yield fielderrors.invalid_value(at, source, f"must evaluate to {gives} but got {found}")


def plain_type(source: str) -> str:
    """The type of an expression that is only a literal or a field of an object, whose fields have none; else ""."""
    return next((name for pattern, name in _PLAIN if pattern.fullmatch(source.strip())), "")


def _one_of(value: Any, allowed: Sequence[str], at: str) -> Iterator[FieldError]:
    if value is not None and value not in allowed:
        yield fielderrors.unsupported(at, value, allowed)
