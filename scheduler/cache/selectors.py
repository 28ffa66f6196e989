"""Requirements on labels, the selectors made of them, and queries: which pods of which namespaces a rule selects.

A query is a value: two pods that ask for the same pods share what is counted for them.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal

import msgspec

from scheduler.cache.steps import ONE_BY_ONE

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]

FIELD_PREFIX: Final = "\x00"
"""Marks the key of a requirement on a field (`metadata.name`) rather than on a label; no label starts like that."""

NAME_FIELD: Final = "metadata.name"


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One comparison with a label, or with a field of the node when the key starts with `FIELD_PREFIX`."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()


def matches(requirement: Requirement, value: str | None) -> bool:
    """Whether an object whose label (or field) has this value, None when it lacks it, meets the requirement."""
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    number, bound = whole_number(value), whole_number(requirement.values[0])
    if number is None or bound is None:
        return False
    return number > bound if requirement.operator == "Gt" else number < bound


def whole_number(text: str | None) -> int | None:
    """The number a label spells, None when it spells none."""
    if text is None or len(text) > 20:
        return None
    try:
        return int(text) if text.lstrip("+-").isdecimal() else None
    except ValueError:
        return None


_REQUIREMENT: Final = 200
_VALUE: Final = 25
"""Steps of comparing a label with a requirement, and with each of its values."""

Labels = Mapping[str, str]
LabelsOf = Callable[[str], Labels]
"""The labels of a namespace, empty when it is not known."""


class Selector(msgspec.Struct, frozen=True, gc=False):
    """All requirements must hold; None matches nothing, no requirements match everything."""

    requirements: tuple[Requirement, ...] | None = None

    def matches(self, labels: Labels) -> bool:
        """Whether an object with these labels is meant."""
        if self.requirements is None:
            return False
        return all(matches(requirement, labels.get(requirement.key)) for requirement in self.requirements)

    def keys(self) -> set[str]:
        """The labels it looks at."""
        return {requirement.key for requirement in self.requirements or ()}

    @property
    def steps(self) -> int:
        """What comparing it with labels costs."""
        return sum(_REQUIREMENT + _VALUE * len(requirement.values) for requirement in self.requirements or ())


NOTHING: Final = Selector()


class Query(msgspec.Struct, frozen=True, gc=False):
    """Pods by namespace and labels; `others` must match as well."""

    selector: Selector
    namespaces: tuple[str, ...]
    """Sorted names."""
    namespace_selector: Selector | None = None
    """Further namespaces, by their labels."""
    skips_leaving: bool = False
    """Pods that are being deleted do not count."""
    others: tuple["Query", ...] = ()

    def meets(self, namespace: str, labels: Labels, labels_of: LabelsOf) -> bool:
        """Whether a pod of this namespace with these labels is meant."""
        return (
            self.selector.matches(labels)
            and (
                namespace in self.namespaces
                or (self.namespace_selector is not None and self.namespace_selector.matches(labels_of(namespace)))
            )
            and all(other.meets(namespace, labels, labels_of) for other in self.others)
        )

    def keys(self) -> set[str]:
        """The pod labels it looks at."""
        keys = self.selector.keys()
        return keys.union(*(other.keys() for other in self.others)) if self.others else keys

    @property
    def steps(self) -> int:
        """What comparing it with a pod costs (`scheduler.cache.steps`)."""
        further = self.namespace_selector.steps if self.namespace_selector is not None else 0
        return ONE_BY_ONE + self.selector.steps + further + sum(other.steps for other in self.others)

    @property
    def looks_at_namespaces(self) -> bool:
        """True when the labels of namespaces decide."""
        return self.namespace_selector is not None or any(other.looks_at_namespaces for other in self.others)


class RawRequirement(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of `matchExpressions` as it is written."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None


class RawSelector(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A label selector as it is written."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[RawRequirement, ...] | None = None


def parse_selector(raw: RawSelector | None) -> Selector:
    """The selector; one that is absent matches nothing.

    Raises:
        ValueError: an operator that label selectors do not have.
    """
    if raw is None:
        return NOTHING
    found = [Requirement(key, "In", (value,)) for key, value in (raw.match_labels or {}).items()]
    found += map(_requirement, raw.match_expressions or ())
    return selector_of(found)


def selector_of(requirements: list[Requirement]) -> Selector:
    """The selector with these requirements, in one order, so that equal ones are equal."""
    return Selector(tuple(sorted(requirements, key=lambda one: (one.key, one.operator, one.values))))


def _requirement(raw: RawRequirement) -> Requirement:
    match raw.operator:
        case "In" | "NotIn" | "Exists" | "DoesNotExist":
            return Requirement(raw.key, raw.operator, tuple(sorted(set(raw.values or ()))))
    raise ValueError(f"label selectors have no operator {raw.operator!r}")


def with_own_labels(
    selector: Selector, own: Labels, keys: tuple[str, ...] | None, other_keys: tuple[str, ...] | None = None
) -> Selector:
    """The selector narrowed to pods that have the same values for `keys`, and other ones for `other_keys`.

    Args:
        selector: as it is written.
        own: the labels of the pod itself.
        keys: `matchLabelKeys`.
        other_keys: `mismatchLabelKeys`.

    The API server writes the same requirements into the selector of a new pod (`matchLabelKeys`, KEP-3633, KEP-3243); where
    it has done so there is nothing to add. Keys that the pod itself lacks are ignored.
    """
    if selector.requirements is None:
        return selector
    told = {(one.key, one.operator) for one in selector.requirements if len(one.values) == 1}
    more = [Requirement(key, "In", (own[key],)) for key in keys or () if key in own and (key, "In") not in told]
    more += [
        Requirement(key, "NotIn", (own[key],)) for key in other_keys or () if key in own and (key, "NotIn") not in told
    ]
    return selector_of([*selector.requirements, *more]) if more else selector
