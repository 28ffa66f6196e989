"""Nodes by what distinguishes them for one item: instance type or amounts, taints, and the labels that its rules look at."""

from collections.abc import Hashable
from typing import Final

import msgspec
import numpy as np

from api.requests import CPU, PODS, format_amount
from api.topology import ANYWHERE
from explain.device_room import most_device_room
from scheduler.algorithm.devices.counts import UNLIMITED
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import Slots
from scheduler.cache.nodes import NodeFacts, NodeTable
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.selectors import FIELD_PREFIX
from scheduler.plugins.interface import IntArray

INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
_UNTOLD: Final = frozenset({"kubernetes.io/hostname"})
"""Labels by which every node would be a class of its own."""
_NAMED: Final = (CPU, "memory")
MOST_VALUES: Final = 9
"""A label with more values, absence included, does not make classes: there would be one for each rack."""


class NodeClass(msgspec.Struct, frozen=True):
    """Nodes that are alike.

    Attributes:
        name: for people.
        model: one of them.
        slots: all of them.
        device_room: for how many pods each has devices when nobody has any; None when the pods need none.
    """

    name: str
    model: NodeFacts
    slots: Slots
    device_room: int | None = None


def node_classes(state: ClusterState, members: PodGroupState) -> list[NodeClass]:
    """The nodes of the cluster, the largest class first."""
    nodes = state.nodes
    wanted = {key for key in _label_keys(members) - _UNTOLD if len(nodes.label_column(key).values) <= MOST_VALUES}
    keys = sorted(wanted)
    asked = sorted({name for signature in members.pending for name in signature.demand.amounts} - {PODS})
    rooms = most_device_room(state, members)
    found: dict[Hashable, list[int]] = {}
    for slot in nodes.live_slots().tolist():
        facts = nodes.facts[slot]
        if facts is not None:
            labels = tuple(facts.labels.get(key) for key in keys)
            room = int(rooms[slot]) if rooms is not None else None
            kind = (facts.labels.get(INSTANCE_TYPE), nodes.allocatable[:, slot].tobytes(), room)
            found.setdefault((kind, labels, facts.taints, facts.unschedulable), []).append(slot)
    classes = [_class(nodes, slots, keys, asked or list(_NAMED), rooms) for slots in found.values()]
    return sorted(classes, key=lambda one: (-len(one.slots), one.name, one.model.name))


def _class(nodes: NodeTable, slots: list[int], keys: list[str], asked: list[str], rooms: IntArray | None) -> NodeClass:
    known = [facts for slot in slots if (facts := nodes.facts[slot]) is not None]
    model = min(known, key=lambda facts: facts.name)
    told = [f"{key}={model.labels[key]}" for key in keys if key in model.labels and key != INSTANCE_TYPE]
    taints = [f"tainted {taint.key}" for taint in model.taints]
    room = int(rooms[slots[0]]) if rooms is not None else None
    # Where the pods need no devices, or as many may use one as like, there is nothing to tell.
    devices = []
    if room is not None and room < UNLIMITED:
        devices = [f"devices for {count_of_pods(room)}" if room else "no devices"]
    cordoned = ["cordoned"] if model.unschedulable else []
    name = ", ".join([_shape(model, nodes, asked), *devices, *told, *taints, *cordoned])
    return NodeClass(name, model, np.array(slots, dtype=np.intp), room)


def count_of_pods(count: int) -> str:
    """So many pods."""
    return "1 pod" if count == 1 else f"{count} pods"


def _shape(model: NodeFacts, nodes: NodeTable, asked: list[str]) -> str:
    stated = model.labels.get(INSTANCE_TYPE)
    if stated:
        return stated
    slot = nodes.slot_of[model.name]
    amounts = {name: int(nodes.allocatable[nodes.row_of[name], slot]) for name in asked if name in nodes.row_of}
    return " ".join(f"{name}={format_amount(name, amount)}" for name, amount in amounts.items()) or "others"


def _label_keys(members: PodGroupState) -> set[str]:
    topology = members.group.topology if members.group is not None else ANYWHERE
    keys = {topology.slice_key, *(level.key for level in topology.levels)}
    for signature in members.pending:
        rules = signature.rules
        keys |= {one.key for one in rules.selector}
        keys |= {one.key for term in rules.terms or () for one in term if not one.key.startswith(FIELD_PREFIX)}
        keys |= {spread.key for spread in rules.spread_constraints}
        keys |= {term.key for term in rules.affinity_terms.terms} if rules.affinity_terms is not None else set()
    return {key for key in keys if key}
