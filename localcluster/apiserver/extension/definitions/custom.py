"""The rules of a custom kind, as its CRD gives them, for one version."""

from collections.abc import Sequence
from typing import Any, Final

from localcluster.apiserver import fielderrors
from localcluster.apiserver.extension.cel.rules import check_rules, has_rules
from localcluster.apiserver.extension.schema.decode import prune
from localcluster.apiserver.extension.schema.defaults import apply_defaults
from localcluster.apiserver.extension.schema.lists import check_lists
from localcluster.apiserver.extension.schema.structural import MISSING, Schema, parse_schema
from localcluster.apiserver.extension.schema.values import check_value
from localcluster.apiserver.fielderrors import FieldError
from localcluster.apiserver.kinds.kind import Object, RequestContext, Scale
from localcluster.apiserver.kinds.plain import PlainStrategy, put_back

METADATA: Final = frozenset(
    {
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_NO_SCHEMA: Final = Schema()


class CustomStrategy(PlainStrategy):
    """Decoding, defaults, generation and validation of the objects of one version of a CRD.

    Args:
        version: an entry of `spec.versions`.
        deprecation: what users of this version are told; empty when it is not deprecated.
    """

    def __init__(self, version: Object, deprecation: str) -> None:
        subresources = version.get("subresources") or {}
        super().__init__(has_status="status" in subresources, counts_generations=True)
        self.schema = parse_schema((version.get("schema") or {}).get("openAPIV3Schema") or {})
        self._status_schema = self.schema.properties.get("status", _NO_SCHEMA)
        self._has_rules = has_rules(self.schema)
        self._scale = subresources.get("scale") or {}
        self._warning = deprecation

    def decode(self, obj: Object) -> list[str]:
        """Drops what the schema does not know."""
        unknown = prune(obj, self.schema)
        metadata = obj.get("metadata")
        if isinstance(metadata, dict):
            for name in [each for each in metadata if each not in METADATA]:
                del metadata[name]
                unknown.append(f"metadata.{name}")
        return [f'unknown field "{path}"' for path in sorted(unknown)]

    def default(self, obj: Object) -> None:
        """Fills in the defaults of the schema."""
        apply_defaults(obj, self.schema)

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """A change of the status changes nothing else, not even labels."""
        if subresource == "status":
            version = new["metadata"].get("resourceVersion")
            for name in {*new, *old} - {"status"}:
                put_back(new, old, name)
            new["metadata"] = {**old["metadata"], "resourceVersion": version}
            return
        super().prepare_update(new, old, subresource, context)

    def meaning_changed(self, new: Object, old: Object) -> bool:
        """Everything but metadata, and the status where it is apart, has a meaning."""
        apart = {"metadata", "status"} if self.has_status else {"metadata"}
        return any(new.get(name, MISSING) != old.get(name, MISSING) for name in {*new, *old} - apart)

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What is wrong by the schema, the uniqueness of list items, and the rules."""
        if subresource == "status" and self.has_status:
            was = MISSING if old is None else old.get("status", MISSING)
            found = []
            if "status" in new:
                found = check_value(new["status"], self._status_schema, old=was, base="status")
        else:
            found = check_value(new, self.schema, old=MISSING if old is None else old)
        found += self._scale_errors(new)
        repeated = check_lists(new, self.schema)
        if repeated and (old is None or not check_lists(old, self.schema)):
            found += repeated
        return check_rules(new, self.schema, old, found) if self._has_rules else found

    def warnings(self, new: Object, old: Object | None) -> list[str]:  # noqa: ARG002
        """Says that the version is deprecated."""
        return [self._warning] if self._warning else []

    def scale(self, obj: Object) -> Scale | None:
        """What the paths of the subresource `scale` lead to."""
        if not self._scale:
            return None
        return Scale(
            replicas=_number(_at(obj, self._scale.get("specReplicasPath", ""))),
            status_replicas=_number(_at(obj, self._scale.get("statusReplicasPath", ""))),
            selector=str(_at(obj, self._scale.get("labelSelectorPath") or "") or ""),
        )

    def set_scale(self, obj: Object, replicas: int) -> None:
        """Puts the number where the path leads."""
        *parents, last = _path(self._scale.get("specReplicasPath", ""))
        target = obj
        for name in parents:
            # The parts on the way may belong to the stored object: they are made anew.
            target[name] = dict(target.get(name) or {})
            target = target[name]
        target[last] = replicas

    def _scale_errors(self, obj: Object) -> list[FieldError]:
        if not self._scale:
            return []
        errors = []
        for key in ("specReplicasPath", "statusReplicasPath"):
            path = self._scale.get(key, "")
            value = _at(obj, path)
            if isinstance(value, int) and value < 0:
                errors.append(fielderrors.invalid_value(path, value, "should be a non-negative integer"))
        return errors


def _path(text: str) -> Sequence[str]:
    return text.lstrip(".").split(".")


def _at(obj: Object, path: str) -> Any:
    value: Any = obj
    for name in _path(path) if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    return value if path else None


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
