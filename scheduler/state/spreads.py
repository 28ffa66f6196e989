"""Topology spread constraints: how evenly pods that are alike are to be spread over the values of a node label."""

from typing import Annotated, Final

import msgspec

from api.constants import MAX_INT32
from scheduler.state.selectors import NOTHING, Labels, Query, RawSelector, Selector, parse_selector, with_own_labels

_Positive = Annotated[int, msgspec.Meta(ge=1, le=MAX_INT32)]


class Spread(msgspec.Struct, frozen=True, gc=False):
    """One constraint of one pod."""

    key: str
    query: Query
    """The pods that count."""
    selector: Selector
    """What the pod itself must match to count as well."""
    max_skew: int
    is_hard: bool
    """DoNotSchedule; otherwise it is a wish (ScheduleAnyway)."""
    min_domains: int = 1
    honours_affinity: bool = True
    """Only nodes that the pod's selector and affinity accept count."""
    honours_taints: bool = False
    """Only nodes whose taints the pod tolerates count."""


class _Constraint(msgspec.Struct, frozen=True, rename="camel"):
    max_skew: _Positive = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: RawSelector | None = None
    min_domains: _Positive | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


_decode: Final = msgspec.json.Decoder(tuple[_Constraint, ...] | None).decode


def parse_spreads(raw: msgspec.Raw, namespace: str, labels: Labels) -> tuple[Spread, ...]:
    """The constraints of a pod of this namespace with these labels.

    Raises:
        ValueError: they cannot be read (msgspec's errors are ValueErrors).
    """
    return tuple(_spread(constraint, namespace, labels) for constraint in _decode(raw) or ())


def counted(selector: Selector, namespace: str) -> Query:
    """The pods that a constraint with this selector counts; without requirements nobody, as in kube-scheduler."""
    return Query(selector if selector.requirements else NOTHING, (namespace,), skips_leaving=True)


def _spread(raw: _Constraint, namespace: str, labels: Labels) -> Spread:
    selector = with_own_labels(parse_selector(raw.label_selector), labels, raw.match_label_keys)
    return Spread(
        key=raw.topology_key,
        query=counted(selector, namespace),
        selector=selector,
        max_skew=raw.max_skew,
        is_hard=raw.when_unsatisfiable == "DoNotSchedule",
        min_domains=1 if raw.min_domains is None else raw.min_domains,
        honours_affinity=raw.node_affinity_policy != "Ignore",
        honours_taints=raw.node_taints_policy == "Honor",
    )
