"""Whether a write is the business of a webhook or a policy: operations, resources, scope, namespace, labels.

Pure. Configurations are read as they are stored, with the defaults of the real server where a field is missing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.selectors import matches_labels

Object = dict[str, Any]

ADMISSION_GROUP: Final = "admissionregistration.k8s.io"
POLICY_KINDS: Final = frozenset({"validatingadmissionpolicies", "validatingadmissionpolicybindings"})
NAME_LABEL: Final = "kubernetes.io/metadata.name"


def matches_rules(rules: Sequence[Mapping[str, Any]], attributes: AdmissionAttributes) -> bool:
    """Whether one of the rules covers the operation and the resource."""
    return any(_covers(rule, attributes) for rule in rules)


def covers_resource(rules: Sequence[Mapping[str, Any]], attributes: AdmissionAttributes) -> bool:
    """Whether one of the rules covers the operation and the resource, whatever the object's name."""
    return any(_covers_resource(rule, attributes) for rule in rules)


def _covers(rule: Mapping[str, Any], attributes: AdmissionAttributes) -> bool:
    names = rule.get("resourceNames")
    return _covers_resource(rule, attributes) and (not names or attributes.name in names)


def _covers_resource(rule: Mapping[str, Any], attributes: AdmissionAttributes) -> bool:
    kind = attributes.kind
    return (
        _has(rule.get("operations"), attributes.verb)
        and _has(rule.get("apiGroups"), kind.group)
        and _has(rule.get("apiVersions"), kind.version)
        and any(_is_resource(each, attributes) for each in rule.get("resources") or ())
        and _in_scope(rule.get("scope") or "*", attributes)
    )


def _has(allowed: Sequence[str] | None, value: str) -> bool:
    return allowed is not None and ("*" in allowed or value in allowed)


def _is_resource(pattern: str, attributes: AdmissionAttributes) -> bool:
    plural, _, subresource = pattern.partition("/")
    return plural in {"*", attributes.kind.plural} and subresource in (
        {"*", attributes.subresource} if attributes.subresource or "/" in pattern else {""}
    )


def _in_scope(scope: str, attributes: AdmissionAttributes) -> bool:
    if scope == "*":
        return True
    return (scope == "Namespaced") == attributes.kind.namespaced


def matches_namespace(
    selector: Mapping[str, Any] | None, attributes: AdmissionAttributes, namespace: Object | None
) -> bool:
    """Whether the namespace of the object, or the object that is a namespace, has the labels. Other objects always match."""
    if not selector:
        return True
    if attributes.kind.resource == ("", "namespaces"):
        namespace = attributes.obj or attributes.old
    elif not attributes.kind.namespaced:
        return True
    return matches_labels(selector, namespace_labels(namespace))


def matches_object(selector: Mapping[str, Any] | None, attributes: AdmissionAttributes) -> bool:
    """Whether the object has the labels, or had them before the change."""
    if not selector:
        return True
    return any(
        each is not None and matches_labels(selector, _labels(each)) for each in (attributes.obj, attributes.old)
    )


def is_exempt(attributes: AdmissionAttributes) -> bool:
    """Whether no webhook is asked: the configuration of admission itself, so that a broken one can be repaired."""
    return attributes.kind.group == ADMISSION_GROUP


def is_exempt_from_policies(attributes: AdmissionAttributes) -> bool:
    """Whether no policy is asked: policies do not judge themselves, but they do judge configurations of webhooks."""
    return is_exempt(attributes) and attributes.kind.plural in POLICY_KINDS


def namespace_labels(namespace: Object | None) -> dict[str, str]:
    """The labels of a namespace, with the one of its name."""
    if namespace is None:
        return {}
    return {**_labels(namespace), NAME_LABEL: namespace["metadata"].get("name", "")}


def _labels(obj: Object) -> dict[str, str]:
    labels = (obj.get("metadata") or {}).get("labels")
    return labels if isinstance(labels, dict) else {}
