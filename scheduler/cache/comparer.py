"""The self-check: what the node table says against a plain sum over a fresh list of pods.

Events may be on their way while the list is taken, so a difference counts as drift only when it is seen twice in a row; that
is the caller's part.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from scheduler.cache.nodes import NodeTable
from scheduler.cache.records import Assumption, PodRecord


class NodeDrift(msgspec.Struct, frozen=True):
    """One amount that is not what it should be; both are amounts taken, in the unit of the resource."""

    node: str
    resource: str
    cached: int
    counted: int


class Drift(msgspec.Struct, frozen=True):
    """All differences; falsy when there are none."""

    nodes: tuple[NodeDrift, ...] = ()
    missing: tuple[str, ...] = ()
    """UIDs that are in the list and not here."""
    extra: tuple[str, ...] = ()
    """UIDs that are here and not in the list."""

    def __bool__(self) -> bool:
        return bool(self.nodes or self.missing or self.extra)


def compare(
    table: NodeTable, known: Mapping[str, PodRecord], assumed: Mapping[str, Assumption], pods: Iterable[PodRecord]
) -> Drift:
    """The differences between what is kept and a fresh list.

    Args:
        table: the node table.
        known: the pods that are kept, by UID.
        assumed: assumptions by pod UID; assumed pods count where they are assumed.
        pods: the fresh list.
    """
    taken: dict[str, Counter[str]] = {name: Counter() for name in table.slot_of}
    listed = {pod.uid: pod for pod in pods}
    for pod in listed.values():
        assumption = assumed.get(pod.uid)
        node = pod.node_name or (assumption.node_name if assumption else "")
        if node in taken and not pod.is_terminal:
            taken[node].update(pod.demand.amounts)
    return Drift(
        nodes=tuple(_differences(table, taken)),
        missing=tuple(uid for uid in listed if uid not in known),
        extra=tuple(uid for uid in known if uid not in listed),
    )


def _differences(table: NodeTable, taken: Mapping[str, Counter[str]]) -> Iterable[NodeDrift]:
    for node, slot in table.slot_of.items():
        cached = (table.offered(slot) - table.free[:, slot]).tolist()
        for resource, amount in zip(table.resources, cached, strict=True):
            if amount != taken[node][resource]:
                yield NodeDrift(node, resource, amount, taken[node][resource])
