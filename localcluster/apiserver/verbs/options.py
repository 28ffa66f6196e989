"""The options that come with a request, from its query or its body, checked as the real server checks them.

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from localcluster.apiserver import status
from localcluster.apiserver.fielderrors import FieldError, invalid_value, unsupported
from localcluster.apiserver.kinds.kind import KindInfo, Object

VALIDATIONS = ("", "Ignore", "Strict", "Warn")
POLICIES = ("Foreground", "Background", "Orphan")
_OPTIONS = KindInfo("meta.k8s.io", "v1", "", "", strategy=None)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of create, update and patch.

    Attributes:
        kind: CreateOptions, UpdateOptions or PatchOptions.
        field_validation: what to do about unknown fields: Ignore, Warn or Strict.
    """

    kind: str = "CreateOptions"
    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Warn"

    def as_object(self) -> Object:
        """As admission sees them."""
        obj: Object = {"kind": self.kind, "apiVersion": "meta.k8s.io/v1"}
        if self.dry_run:
            obj["dryRun"] = ["All"]
        if self.field_manager:
            obj["fieldManager"] = self.field_manager
        if self.field_validation != "Warn":
            obj["fieldValidation"] = self.field_validation
        return obj


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Options of a deletion.

    Attributes:
        grace_seconds: None: what the object itself says.
        policy: Foreground, Background, Orphan; "": what the kind and the object's finalizers say.
        uid: delete only the object with this UID; "": whatever has the name.
        version: delete only this resourceVersion.
        legacy_orphan: the older `orphanDependents` was used.
    """

    dry_run: bool = False
    grace_seconds: int | None = None
    policy: str = ""
    uid: str = ""
    version: str = ""
    legacy_orphan: bool | None = None
    raw: Object = field(default_factory=dict)

    def as_object(self) -> Object:
        """As admission sees them."""
        return {**self.raw, "kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}


def write_options(kind: str, query: Mapping[str, str]) -> WriteOptions:
    """Options of a write, from its query.

    Raises:
        StatusError: an option has a value it cannot have.
    """
    validation = query.get("fieldValidation", "")
    dry_run = query.get("dryRun", "")
    errors: list[FieldError] = []
    if dry_run not in {"", "All"}:
        errors.append(unsupported("dryRun", [dry_run], ["All"]))
    if validation not in VALIDATIONS:
        errors.append(unsupported("fieldValidation", validation, VALIDATIONS))
    _require(kind, errors)
    return WriteOptions(kind, bool(dry_run), query.get("fieldManager", ""), validation or "Warn")


def delete_options(query: Mapping[str, str], body: Object | None) -> DeleteOptions:
    """Options of a deletion, from its body, or from its query when it has none.

    Raises:
        StatusError: they make no sense.
    """
    raw = dict(body) if body is not None else _from_query(query)
    kind = raw.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        version = raw.get("apiVersion") or "meta.k8s.io/v1"
        text = f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
        raise status.bad_request(text)
    preconditions = raw.get("preconditions") or {}
    dry_run = raw.get("dryRun") or []
    policy, orphan = raw.get("propagationPolicy") or "", raw.get("orphanDependents")
    _require("DeleteOptions", _delete_errors(policy, orphan, dry_run))
    return DeleteOptions(
        dry_run=bool(dry_run),
        grace_seconds=_whole(raw.get("gracePeriodSeconds")),
        policy=policy,
        uid=preconditions.get("uid") or "",
        version=preconditions.get("resourceVersion") or "",
        legacy_orphan=orphan,
        raw=raw,
    )


def _from_query(query: Mapping[str, str]) -> Object:
    raw: Object = {}
    if query.get("dryRun"):
        raw["dryRun"] = [query["dryRun"]]
    if query.get("gracePeriodSeconds"):
        raw["gracePeriodSeconds"] = _whole(query["gracePeriodSeconds"])
    if query.get("propagationPolicy"):
        raw["propagationPolicy"] = query["propagationPolicy"]
    if query.get("orphanDependents"):
        raw["orphanDependents"] = query["orphanDependents"] == "true"
    return raw


def _delete_errors(policy: str, orphan: bool | None, dry_run: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    if policy and orphan is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid_value("propagationPolicy", policy, text))
    if policy and policy not in POLICIES:
        errors.append(unsupported("propagationPolicy", policy, [*POLICIES, "nil"]))
    if dry_run not in ([], ["All"]):
        errors.append(unsupported("dryRun", dry_run, ["All"]))
    return errors


def _require(kind: str, errors: list[FieldError]) -> None:
    if errors:
        options = KindInfo(_OPTIONS.group, "v1", kind, "", strategy=_OPTIONS.strategy)
        raise status.invalid(options, "", errors)


def _whole(value: Any) -> int | None:
    if value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        found = "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
        text = f"json: cannot unmarshal {found} into Go struct field DeleteOptions.gracePeriodSeconds of type int64"
        raise status.bad_request(text) from error
