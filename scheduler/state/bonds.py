"""Pod affinity and anti-affinity: what ties a pod to others, and others to it for as long as it runs."""

from typing import Annotated, Final, Literal

import msgspec

from scheduler.state.selectors import Labels, Query, RawSelector, parse_selector, with_own_labels

Weight = Annotated[int, msgspec.Meta(ge=1, le=100)]
"""Of a preferred term, in the bounds of the Kubernetes API. What is announced in an annotation has met no API server."""

TieKind = Literal["needs", "repels", "likes"]
"""Required affinity, required anti-affinity, preferred affinity (or, with a negative weight, anti-affinity)."""


class Tie(msgspec.Struct, frozen=True, gc=False):
    """One term: the pods it speaks of, and the node label within one value of which it holds."""

    kind: TieKind
    query: Query
    key: str
    weight: int = 0
    """Of a preferred term, signed; 0 for required ones."""


class Bonds:
    """All terms of a pod, shared by the pods that write the same; compared by identity."""

    __slots__ = ("__weakref__", "likes", "needs", "pod_label_keys", "repels", "together")

    def __init__(self, ties: tuple[Tie, ...]) -> None:
        self.needs: Final = tuple(tie for tie in ties if tie.kind == "needs")
        self.repels: Final = tuple(tie for tie in ties if tie.kind == "repels")
        self.likes: Final = tuple(tie for tie in ties if tie.kind == "likes")
        self.together: Final = self._together()
        """The pods that all required affinity terms speak of: only these satisfy any of the terms."""
        self.pod_label_keys: Final = frozenset().union(*(tie.query.keys() for tie in ties))
        """The labels of pods that its terms look at."""

    @property
    def ties(self) -> tuple[Tie, ...]:
        """All terms."""
        return (*self.needs, *self.repels, *self.likes)

    def _together(self) -> Query | None:
        if not self.needs:
            return None
        first, *others = (tie.query for tie in self.needs)
        return msgspec.structs.replace(first, others=tuple(others)) if others else first


class _Term(msgspec.Struct, frozen=True, rename="camel"):
    topology_key: str = ""
    label_selector: RawSelector | None = None
    namespaces: tuple[str, ...] | None = None
    namespace_selector: RawSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class _Weighted(msgspec.Struct, frozen=True, rename="camel"):
    pod_affinity_term: _Term
    weight: Weight


class _Terms(msgspec.Struct, frozen=True):
    required: tuple[_Term, ...] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[_Weighted, ...] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class _Affinity(msgspec.Struct, frozen=True, rename="camel"):
    pod_affinity: _Terms | None = None
    pod_anti_affinity: _Terms | None = None


_NO_TERMS: Final = _Terms()
_decode: Final = msgspec.json.Decoder(_Affinity | None).decode


def parse_bonds(affinity: msgspec.Raw, namespace: str, labels: Labels) -> Bonds | None:
    """The bonds of a pod of this namespace with these labels, None when it has none.

    Raises:
        ValueError: it cannot be read (msgspec's errors are ValueErrors).
    """
    decoded = _decode(affinity)
    if decoded is None:
        return None
    near, far = decoded.pod_affinity or _NO_TERMS, decoded.pod_anti_affinity or _NO_TERMS

    def tie(kind: TieKind, term: _Term, weight: int = 0) -> Tie:
        return Tie(kind, _query(term, namespace, labels), term.topology_key, weight)

    ties = (
        *(tie("needs", term) for term in near.required or ()),
        *(tie("repels", term) for term in far.required or ()),
        *(tie("likes", one.pod_affinity_term, one.weight) for one in near.preferred or ()),
        *(tie("likes", one.pod_affinity_term, -one.weight) for one in far.preferred or ()),
    )
    return Bonds(ties) if ties else None


def _query(term: _Term, namespace: str, labels: Labels) -> Query:
    selector = parse_selector(term.label_selector)
    named = {name for name in term.namespaces or () if name}
    return Query(
        selector=with_own_labels(selector, labels, term.match_label_keys, term.mismatch_label_keys),
        namespaces=tuple(sorted(named)) if named or term.namespace_selector is not None else (namespace,),
        namespace_selector=parse_selector(term.namespace_selector) if term.namespace_selector is not None else None,
    )
