"""The rules that most kinds share, and that kinds with more of them build on.

Pure. With a status, the object itself and its status are two things: each is changed through its own path only.
"""

from localcluster.apiserver.fielderrors import FieldError
from localcluster.apiserver.kinds.kind import Object, RequestContext, Scale
from localcluster.apiserver.kinds.names import NameCheck, subdomain_problems
from localcluster.apiserver.selectors import selector_text


class PlainStrategy:
    """A kind without rules of its own.

    Attributes:
        has_status: `status` belongs to the subresource.
        counts_generations: `metadata.generation` goes up with every change of `spec`.
        name_check: what is wrong with a name.
    """

    has_status = False
    counts_generations = False

    def __init__(
        self,
        *,
        has_status: bool = False,
        counts_generations: bool = False,
        name_check: NameCheck = subdomain_problems,
    ) -> None:
        self.has_status = has_status
        self.counts_generations = counts_generations
        self.name_check = name_check

    def decode(self, obj: Object) -> list[str]:  # noqa: ARG002 (kinds override it)
        """Everything is known."""
        return []

    def default(self, obj: Object) -> None:
        """Nothing has a default."""

    def prepare_create(self, obj: Object, context: RequestContext) -> None:  # noqa: ARG002 (kinds override it)
        """A new object starts without status, at generation 1."""
        if self.has_status:
            obj.pop("status", None)
        if self.counts_generations:
            obj["metadata"]["generation"] = 1
        else:
            obj["metadata"].pop("generation", None)

    def prepare_update(
        self,
        new: Object,
        old: Object,
        subresource: str,
        context: RequestContext,  # noqa: ARG002 (kinds override it)
    ) -> None:
        """The status changes through its own path only, everything else only through the other."""
        if subresource == "status":
            restore_all_but_status(new, old)
        elif self.has_status:
            put_back(new, old, "status")
        if self.counts_generations and subresource != "status" and self.meaning_changed(new, old):
            new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1

    def meaning_changed(self, new: Object, old: Object) -> bool:
        """Whether the change is one that controllers have to act on."""
        return new.get("spec") != old.get("spec")

    def validate(self, new: Object, old: Object | None, subresource: str) -> list[FieldError]:  # noqa: ARG002
        """Everything is valid."""
        return []

    def warnings(self, new: Object, old: Object | None) -> list[str]:  # noqa: ARG002 (kinds override it)
        """Nothing is worth a warning."""
        return []

    def scale(self, obj: Object) -> Scale | None:
        """`spec.replicas`, as the kinds of apps/v1 have it."""
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        selector = selector_text(spec.get("selector") or {})
        return Scale(spec.get("replicas", 0), status.get("replicas", 0), selector)

    def set_scale(self, obj: Object, replicas: int) -> None:
        """Put the number into `spec.replicas`."""
        obj.setdefault("spec", {})["replicas"] = replicas


def put_back(new: Object, old: Object, key: str) -> None:
    """Undo a change of one top-level field."""
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)


def restore_all_but_status(new: Object, old: Object) -> None:
    """Undo every change but that of `status`; labels and annotations may change with it, as upstream allows."""
    for key in {*new, *old} - {"status", "metadata"}:
        put_back(new, old, key)
    put_back(new["metadata"], old["metadata"], "ownerReferences")
