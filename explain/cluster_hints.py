"""Hints that change the cluster: what an administrator can do, and what only has to be waited for."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from api.requests import PODS
from explain.cluster_changes import healthy, is_healthy, with_nodes, with_nodes_like, without_pods
from explain.hint import Hint, HintKind
from explain.item_change import Change
from explain.names import item_name, pod_name
from explain.node_classes import NodeClass
from explain.reasons import Reason
from explain.relaxations import Relaxation
from explain.trials import Trials, fewest_that_start
from scheduler.algorithm.node_fits import fits_of
from scheduler.cache.cluster import ClusterState
from scheduler.cache.node_columns import NO_SLOTS, Slots
from scheduler.cache.pod_group_state import MemberState
from scheduler.cache.records import EntityKey, PodRecord
from scheduler.plugins.gang_scheduling import missing_count
from scheduler.plugins.node_resources_fit import pods_that_fit

MOST_NEW_NODES: Final = 2048
MOST_CLASSES: Final = 4
"""Kinds of nodes of which more are tried."""
MOST_ENDS: Final = 16
"""Things that run whose end is tried."""
_SHOWN: Final = 3


# --- nodes ------------------------------------------------------------------------------------------------------------


def node_hints(trials: Trials, placed: int) -> Iterator[Hint]:
    """So many more nodes like one that there is; of several kinds, the one of which the fewest are needed.

    `placed` is how many of its pods have room now.
    """
    members = trials.members
    if members is None:
        return
    classes = [one for one in trials.classes if _hosted(trials, one)]
    best: tuple[int, NodeClass] | None = None
    for one in sorted(classes, key=lambda each: (-len(each.slots), each.name))[:MOST_CLASSES]:
        most = MOST_NEW_NODES if best is None else best[0] - 1
        count = _new_nodes(trials, one, min(most, max(members.pending_count, 1)), placed)
        if count is not None:
            best = (count, one)
        if best is not None and best[0] == 1:
            break
    if best is not None:
        count, one = best
        nodes = "1 more node" if count == 1 else f"{count} more nodes"
        yield Hint(HintKind.ADD_NODES, f"{nodes} like {one.model.name} would do", count=count, like=one.model.name)


def _new_nodes(trials: Trials, like: NodeClass, most: int, placed: int) -> int | None:
    def starts(count: int) -> bool:
        with with_nodes_like(trials.state, like.model, count):
            return trials.starts()

    members = trials.members
    if most <= 0 or members is None:
        return None
    missing = max(missing_count(members) - placed, 1)
    return fewest_that_start(most, starts, math.ceil(missing / _hosted(trials, like)))


def _hosted(trials: Trials, one: NodeClass) -> int:
    """How many pods of the item a new node of this class could take by its amounts and devices, at most."""
    members, nodes = trials.members, trials.state.nodes
    offered, most = nodes.offered(one.slots[:1]), 0
    for signature in members.pending if members is not None else ():
        most = max(most, int(pods_that_fit(offered, nodes.resolve(signature.demand), slice(None))[0]))
    return most if one.device_room is None else min(most, one.device_room)


def restore_hints(trials: Trials) -> Iterator[Hint]:
    """Nodes that are cordoned or not well: the fewest that are enough."""
    known = [facts for facts in trials.state.nodes.facts if facts is not None and not is_healthy(facts)]
    known.sort(key=lambda facts: facts.name)

    def starts(count: int) -> bool:
        with with_nodes(trials.state, [healthy(facts) for facts in known[:count]]):
            return trials.starts()

    count = fewest_that_start(len(known), starts) if known and starts(len(known)) else None
    if count is not None:
        names = tuple(facts.name for facts in known[:count])
        shown = ", ".join(names[:_SHOWN]) + (f" and {count - _SHOWN} more" if count > _SHOWN else "")
        message = f"uncordon or repair {shown}" if count > 1 else f"uncordon or repair node {shown}"
        yield Hint(HintKind.RESTORE_NODES, message, nodes=names)


# --- what runs --------------------------------------------------------------------------------------------------------


def leaving_hint(trials: Trials) -> Iterator[Hint]:
    """Pods that are being deleted: their room may be enough."""
    assigned = trials.state.assigned_pods
    pods = [pod for row in assigned.terminating().tolist() if (pod := assigned.pods[row]) is not None]
    if pods and _starts_without(trials, pods):
        yield Hint(
            HintKind.WAIT_FOR,
            f"starts when {_pods(len(pods))} that {'is' if len(pods) == 1 else 'are'} being deleted "
            f"{'has' if len(pods) == 1 else 'have'} gone",
            what="deletion",
            pods=tuple(pod.uid for pod in pods),
        )


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"


def ending_hints(trials: Trials, reasons: Sequence[Relaxation]) -> Iterator[Hint]:
    """The smallest of what runs whose end is enough."""
    resource = next((one.resource for one in reasons if one.reason is Reason.ROOM), "")
    units = _Units(trials, resource or PODS)
    found = _smallest(trials, units) if resource else _any(trials, units)
    if found is not None:
        pods = units.pods(found)
        name = _unit_name(trials.state, pods[0])
        yield Hint(HintKind.WAIT_FOR, f"starts when {name} ends", what=name, pods=tuple(pod.uid for pod in pods))


def _smallest(trials: Trials, units: "_Units") -> int | None:
    """Where room is short, more room is better: the first unit from which on it starts."""
    if not len(units) or not _starts_without(trials, units.pods(len(units) - 1)):
        return None
    low, high = 0, len(units) - 1
    while low < high:
        middle = (low + high) // 2
        if _starts_without(trials, units.pods(middle)):
            high = middle
        else:
            low = middle + 1
    return low


def _any(trials: Trials, units: "_Units") -> int | None:
    numbers = range(len(units) - 1, max(len(units) - 1 - MOST_ENDS, -1), -1)
    return next((number for number in numbers if _starts_without(trials, units.pods(number))), None)


class _Units:
    """What runs on nodes that accept the item, by what ends together: groups, and pods without one.

    Numbered by how much of a resource would be free on such nodes, the least first; what would free nothing is left out.
    """

    def __init__(self, trials: Trials, resource: str) -> None:
        state, members = trials.state, trials.members
        assigned, row = state.assigned_pods, state.nodes.row_of.get(resource)
        assigned.catch_up()
        self._assigned: Final = assigned
        self._groups: list[list[int]] = []
        self._alone: Slots = NO_SLOTS
        self._order: Slots = NO_SLOTS
        if members is None or row is None:
            return
        accepting = np.zeros(state.nodes.slots + 1, dtype=np.bool_)
        for signature in members.pending:
            accepting[:-1] |= fits_of(state).mask(signature.rules).codes == 0
        # The last entry stands for nodes that are not known.
        frees = assigned.amounts[row] * accepting[assigned.slots]
        groups: dict[tuple[str, str], list[int]] = {}
        lone = frees > 0
        for number, pod in enumerate(assigned.pods):
            if pod is None or pod.terminating:
                lone[number] = False
            elif pod.group:
                lone[number] = False
                groups.setdefault((pod.namespace, pod.group), []).append(number)
        alone = np.flatnonzero(lone)
        kept = [rows for rows in groups.values() if _may_end(state, trials.key, assigned.pods[rows[0]])]
        self._groups = [rows for rows in kept if frees[rows].sum() > 0]
        freed = np.concatenate([frees[alone], np.array([frees[rows].sum() for rows in self._groups], dtype=np.int64)])
        self._alone = alone
        self._order = np.argsort(freed, kind="stable")

    def __len__(self) -> int:
        return len(self._order)

    def pods(self, number: int) -> list[PodRecord]:
        """The pods of one unit, by name."""
        at = int(self._order[number])
        rows = [int(self._alone[at])] if at < len(self._alone) else self._groups[at - len(self._alone)]
        found = [pod for row in rows if (pod := self._assigned.pods[row]) is not None]
        return sorted(found, key=lambda pod: (pod.name, pod.uid))


def _unit_name(state: ClusterState, pod: PodRecord) -> str:
    members = state.entities.of_group(pod.namespace, pod.group) if pod.group else None
    return item_name(members.key, members.group) if members is not None else pod_name(pod)


def _may_end(state: ClusterState, key: EntityKey, pod: PodRecord | None) -> bool:
    """Whether it is another item than this one, and all of it that has a place runs."""
    members = state.entities.of_group(pod.namespace, pod.group) if pod is not None else None
    return members is not None and members.key != key and not members.count(MemberState.ASSUMED)


def _starts_without(trials: Trials, pods: Sequence[PodRecord]) -> bool:
    with without_pods(trials.state, pods):
        return trials.starts()


# --- room that is kept ------------------------------------------------------------------------------------------------


def holder_hints(trials: Trials) -> Iterator[Hint]:
    """Room is kept for one other item alone, and without that it would start."""
    state, members = trials.state, trials.members
    if members is None:
        return
    holders = {one.key: None for one in state.nominator if one.priority >= members.priority}
    holders |= {one.key: None for one in state.reservations if one.priority >= members.priority}
    holders |= {one.key: None for one in state.future_reservations if one.priority >= members.priority}
    others = [key for key in holders if key != trials.key]
    if len(others) == 1 and trials.starts(Change(ignores_held=True)):
        name = item_name(others[0], state.group(others[0]))
        message = f"starts when {name}, for which room is kept, has started elsewhere or is gone"
        yield Hint(HintKind.HOLDER_GONE, message, what=name)
