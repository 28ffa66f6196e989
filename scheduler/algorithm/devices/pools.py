"""The pools that a node sees: which slices count for it, and whether it is safe to take devices of them.

A pool is incomplete while its driver has not written all slices of its newest generation, and invalid when names are not unique
or counters are missing. Nothing is taken of either.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from scheduler.cache.devices.records import Amounts, DeviceRecord, PoolId, SliceRecord
from scheduler.cache.node_rules import NodeTerm
from scheduler.cache.nodes import NodeFacts
from scheduler.cache.selectors import matches

Counters = Mapping[str, Amounts]
"""Amounts by counter, by set."""


class Pool:
    """A pool as one node sees it.

    Attributes:
        slices: those the node reaches, by name of the object.
        others: the rest of the pool, whose allocated devices use the same counters.
        counters: what there is of each counter.
        is_incomplete: slices are missing.
        problem: why it is invalid, empty when it is not.
    """

    __slots__ = ("counters", "has_conditions", "id", "is_incomplete", "others", "problem", "slices")

    def __init__(
        self,
        pool: PoolId,
        slices: Sequence[SliceRecord],
        others: Sequence[SliceRecord] = (),
        *,
        is_incomplete: bool = False,
    ) -> None:
        self.id: Final = pool
        self.is_incomplete: Final = is_incomplete
        self.slices: Final = [] if is_incomplete else sorted((one for one in slices if not one.counter_sets), key=_name)
        self.others: Final = [] if is_incomplete else [one for one in others if not one.counter_sets]
        sets = [] if is_incomplete else [entry for one in (*slices, *others) for entry in one.counter_sets]
        self.counters: Final[Counters] = dict(sets)
        self.problem: Final = "" if is_incomplete else self._problem([name for name, _ in sets])
        self.has_conditions: Final = any(device.device.binding_conditions for device in self.devices)

    @property
    def devices(self) -> Iterable[DeviceRecord]:
        """The devices of the slices that the node reaches, in their order."""
        return (device for one in self.slices for device in one.devices)

    @property
    def is_usable(self) -> bool:
        """Whether devices can be taken of it."""
        return not self.is_incomplete and not self.problem

    def _problem(self, set_names: Sequence[str]) -> str:
        names = [device.id.device for device in self.devices]
        if len(set(names)) != len(names):
            return f"duplicate device name {_twice(names)}"
        if len(set(set_names)) != len(set_names):
            return f"duplicate counter set name {_twice(set_names)}"
        for one in (*self.slices, *self.others):
            for device in one.devices:
                for consumption in device.device.consumes_counters or ():
                    known = self.counters.get(consumption.counter_set)
                    if known is None:
                        return f"counter set {consumption.counter_set} not found"
                    missing = next((name for name in consumption.counters or () if name not in known), None)
                    if missing is not None:
                        return f"counter {missing} not found in counter set {consumption.counter_set}"
        return ""


def node_matches(terms: Iterable[NodeTerm], node: NodeFacts) -> bool:
    """Whether one of the terms of a node selector is true of the node; an empty one never is."""
    return any(term and all(matches(one, node.label(one.key)) for one in term) for term in terms)


def reaches(node: NodeFacts, slice_or_device: SliceRecord | DeviceRecord) -> bool:
    """Whether the node reaches what a slice, or a device that says it itself, offers."""
    if isinstance(slice_or_device, DeviceRecord):
        device = slice_or_device.device
        if device.node_name:
            return device.node_name == node.name
        return bool(device.all_nodes) or _meets(slice_or_device.terms, node)
    if slice_or_device.node_name:
        return slice_or_device.node_name == node.name
    return slice_or_device.is_everywhere or _meets(slice_or_device.terms, node)


def gather_pools(
    slices: Iterable[SliceRecord], node: NodeFacts, slices_of_pool: Mapping[PoolId, Sequence[SliceRecord]]
) -> list[Pool]:
    """The pools of a node, in the order in which devices are taken: those with binding conditions last.

    Args:
        slices: which the node may reach.
        node: the node.
        slices_of_pool: all slices of the cluster.
    """
    newest: dict[PoolId, list[SliceRecord]] = {}
    for one in slices:
        if one.alpha_field or not _is_relevant(one, node):
            continue
        known = newest.get(one.pool)
        if known is None or one.generation > known[0].generation:
            newest[one.pool] = [one]
        elif one.generation == known[0].generation:
            known.append(one)
    pools = [pool for pool_id, found in newest.items() if (pool := _pool(pool_id, found, slices_of_pool)) is not None]
    return sorted(pools, key=lambda pool: (pool.has_conditions, pool.id))


def _pool(
    pool_id: PoolId, found: list[SliceRecord], slices_of_pool: Mapping[PoolId, Sequence[SliceRecord]]
) -> Pool | None:
    """The pool; None when a newer generation replaces it that does not reach the node."""
    wanted = found[0].slices_in_pool
    if len(found) == wanted:
        return Pool(pool_id, found)
    everything = slices_of_pool.get(pool_id, ())
    generation = found[0].generation
    if any(one.generation > generation for one in everything):
        return None
    whole = [one for one in everything if one.generation == generation and not one.alpha_field]
    if len(whole) != wanted:
        return Pool(pool_id, (), is_incomplete=True)
    here = set(found)
    return Pool(pool_id, found, [one for one in whole if one not in here])


def _is_relevant(one: SliceRecord, node: NodeFacts) -> bool:
    if one.is_per_device:
        return any(reaches(node, device) for device in one.devices)
    return reaches(node, one)


def _meets(terms: tuple[NodeTerm, ...] | None, node: NodeFacts) -> bool:
    return terms is not None and node_matches(terms, node)


def _name(one: SliceRecord) -> str:
    return one.name


def _twice(names: Sequence[str]) -> str:
    return next(name for index, name in enumerate(names) if name in names[:index])
