"""Roles and their bindings: which rights they can give, and to whom."""

from typing import Final

from localcluster.apiserver.fielderrors import FieldError, invalid_value, required, unsupported
from localcluster.apiserver.kinds.kind import Object
from localcluster.apiserver.kinds.typed import TypedStrategy

_GROUP: Final = "rbac.authorization.k8s.io"
_ACCOUNT: Final = "ServiceAccount"
_SUBJECTS: Final = (_ACCOUNT, "User", "Group")


class RoleStrategy(TypedStrategy):
    """The rules of Roles and ClusterRoles."""

    def default(self, obj: Object) -> None:
        """No rules are null, as a real server writes them."""
        obj["rules"] = obj.get("rules") or None

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """What each rule is about."""
        rules = enumerate(new.get("rules") or [])
        return [error for number, rule in rules for error in self._rule(rule, f"rules[{number}]")]

    def _rule(self, rule: Object, at: str) -> list[FieldError]:
        errors = [] if rule.get("verbs") else [required(f"{at}.verbs")]
        urls = rule.get("nonResourceURLs")
        if urls:
            field = f"{at}.nonResourceURLs"
            if self.type_name == "Role":
                errors.append(invalid_value(field, urls, "namespaced rules cannot apply to non-resource URLs"))
            if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                text = "rules cannot apply to both regular resources and non-resource URLs"
                errors.append(invalid_value(field, urls, text))
            return errors
        if not rule.get("apiGroups"):
            errors.append(required(f"{at}.apiGroups", "resource rules must supply at least one api group"))
        if not rule.get("resources"):
            errors.append(required(f"{at}.resources", "resource rules must supply at least one resource"))
        return errors


class BindingStrategy(TypedStrategy):
    """Role bindings: to what they bind never changes."""

    def default(self, obj: Object) -> None:
        """Groups of subjects and roles are filled in."""
        reference = obj.get("roleRef")
        if isinstance(reference, dict) and not reference.get("apiGroup"):
            reference["apiGroup"] = _GROUP
        for subject in obj.get("subjects") or []:
            if isinstance(subject, dict) and subject.get("kind") in {"User", "Group"}:
                subject.setdefault("apiGroup", _GROUP)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """The role."""
        reference = new.get("roleRef") or {}
        errors: list[FieldError] = []
        kinds = ("ClusterRole",) if self.type_name == "ClusterRoleBinding" else ("Role", "ClusterRole")
        if reference.get("apiGroup") != _GROUP:
            errors.append(unsupported("roleRef.apiGroup", reference.get("apiGroup") or "", (_GROUP,)))
        if reference.get("kind") not in kinds:
            errors.append(unsupported("roleRef.kind", reference.get("kind") or "", kinds))
        if not reference.get("name"):
            errors.append(required("roleRef.name"))
        for number, subject in enumerate(new.get("subjects") or []):
            errors += _subject(subject, f"subjects[{number}]")
        if old is not None and reference != old.get("roleRef"):
            errors.append(invalid_value("roleRef", _go_reference(reference), "field is immutable"))
        return errors


def _go_reference(reference: Object) -> Object:
    """A role reference as the real server prints one."""
    return {"APIGroup": reference.get("apiGroup"), "Kind": reference.get("kind"), "Name": reference.get("name")}


def _subject(subject: Object, at: str) -> list[FieldError]:
    kind, group = subject.get("kind") or "", subject.get("apiGroup") or ""
    errors = [] if subject.get("name") else [required(f"{at}.name")]
    if kind not in _SUBJECTS:
        errors.append(unsupported(f"{at}.kind", kind, _SUBJECTS))
    elif group != (wanted := "" if kind == _ACCOUNT else _GROUP):
        errors.append(unsupported(f"{at}.apiGroup", group, (wanted,)))
    return errors
