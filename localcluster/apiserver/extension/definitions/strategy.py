"""The rules of the kind CustomResourceDefinition itself: defaults, status, and what may change.

A deletion leaves a finalizer behind that only the lifecycle removes, once the objects of the kind are gone.
"""

from typing import Any, Final

from localcluster.apiserver.extension.definitions.correctness import definition_errors, update_errors
from localcluster.apiserver.extension.definitions.decode import drop_unknown
from localcluster.apiserver.extension.definitions.document import FINALIZER, GROUP, storage_version, with_condition
from localcluster.apiserver.fielderrors import FieldError
from localcluster.apiserver.kinds.kind import KindInfo, RequestContext
from localcluster.apiserver.kinds.plain import PlainStrategy

Object = dict[str, Any]

PENDING: Final = {
    "type": "Terminating",
    "status": "True",
    "reason": "InstanceDeletionPending",
    "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
}


class DefinitionStrategy(PlainStrategy):
    """CRDs as objects."""

    precondition_failed = "precondition failed"

    def __init__(self) -> None:
        super().__init__(has_status=True, counts_generations=True)

    def decode(self, obj: Object) -> list[str]:
        """Drops what is no field of a CRD."""
        return [f'unknown field "{path}"' for path in drop_unknown(obj)]

    def default(self, obj: Object) -> None:
        """Names that follow from others, and the conversion that is none."""
        spec = obj.get("spec")
        if not isinstance(spec, dict):
            return
        names = spec.setdefault("names", {})
        kind = names.get("kind") or ""
        if kind:
            names.setdefault("singular", kind.lower())
            names.setdefault("listKind", f"{kind}List")
        if not spec.get("conversion"):
            spec["conversion"] = {"strategy": "None"}
        spec.pop("preserveUnknownFields", None)

    def prepare_create(self, obj: Object, context: RequestContext) -> None:
        """A new CRD has no names yet."""
        super().prepare_create(obj, context)
        storage = storage_version(obj)
        obj["status"] = {
            "conditions": None,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": [storage] if storage else None,
        }

    def prepare_update(self, new: Object, old: Object, subresource: str, context: RequestContext) -> None:
        """Another storage version joins those in which objects are kept."""
        super().prepare_update(new, old, subresource, context)
        storage = storage_version(new)
        if subresource or not storage:
            return
        kept = (new.get("status") or {}).get("storedVersions") or []
        if storage not in kept:
            new["status"] = {**(new.get("status") or {}), "storedVersions": [*kept, storage]}

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:
        """What is wrong with the definition or the change."""
        if subresource:
            return []
        return definition_errors(new) + (update_errors(new, old) if old is not None else [])

    def grace_seconds(self, obj: Object, asked: int | None) -> int:  # noqa: ARG002
        """A CRD goes by its finalizer."""
        return 0

    def mark_deleted(self, obj: Object, context: RequestContext) -> None:
        """The objects of the kind go first."""
        metadata = obj["metadata"]
        if FINALIZER not in (metadata.get("finalizers") or []):
            metadata["finalizers"] = [*(metadata.get("finalizers") or []), FINALIZER]
            # The mark of a CRD knows no grace period, and is no new generation.
            metadata.pop("deletionGracePeriodSeconds", None)
            metadata["generation"] = max(1, metadata.get("generation", 1) - 1)
            obj["status"] = with_condition(obj.get("status") or {}, PENDING, context.now)


def definition_kind() -> KindInfo:
    """The kind CustomResourceDefinition."""
    return KindInfo(
        GROUP,
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        DefinitionStrategy(),
        singular="customresourcedefinition",
        short_names=("crd", "crds"),
        categories=("api-extensions",),
        namespaced=False,
        subresources=frozenset({"status"}),
        returns_deleted=True,
        unconditional_update=False,
    )
