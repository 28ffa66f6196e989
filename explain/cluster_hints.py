"""Hints that change the cluster: what an administrator can do, and what only has to be waited for."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from api.requests import PODS
from explain.cluster_changes import healthy, is_healthy, nodes_like, with_nodes, without_pods
from explain.hint import Hint, HintKind
from explain.item_change import Change
from explain.names import item_name, pod_name
from explain.node_classes import NodeClass, node_classes
from explain.reasons import Reason
from explain.relaxations import Relaxation
from explain.trials import Trials, fewest_that_start
from scheduler.algorithm.node_fits import fits_of
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import MemberState
from scheduler.cache.records import EntityKey, PodRecord

MOST_NEW_NODES: Final = 512
MOST_CLASSES: Final = 4
"""Kinds of nodes of which more are tried."""
MOST_ENDS: Final = 16
"""Things that run whose end is tried."""
_SHOWN: Final = 3


# --- nodes ------------------------------------------------------------------------------------------------------------


def node_hints(trials: Trials) -> Iterator[Hint]:
    """So many more nodes like one that there is; of several kinds, the one of which the fewest are needed."""
    members = trials.members
    if members is None:
        return
    classes = [one for one in node_classes(trials.state, members) if _could_host(trials, one)]
    best: tuple[int, NodeClass] | None = None
    for one in sorted(classes, key=lambda each: (-len(each.slots), each.name))[:MOST_CLASSES]:
        most = MOST_NEW_NODES if best is None else best[0] - 1
        count = _new_nodes(trials, one, min(most, max(members.pending_count, 1)))
        if count is not None:
            best = (count, one)
        if best is not None and best[0] == 1:
            break
    if best is not None:
        count, one = best
        nodes = "1 more node" if count == 1 else f"{count} more nodes"
        yield Hint(HintKind.ADD_NODES, f"{nodes} like {one.model.name} would do", count=count, like=one.model.name)


def _new_nodes(trials: Trials, like: NodeClass, most: int) -> int | None:
    def starts(count: int) -> bool:
        with with_nodes(trials.state, nodes_like(like.model, count)):
            return trials.starts()

    return fewest_that_start(most, starts) if most > 0 and starts(most) else None


def _could_host(trials: Trials, one: NodeClass) -> bool:
    """Whether a new node of this class can take a pod of the item at all."""
    members, nodes = trials.members, trials.state.nodes
    for signature in members.pending if members is not None else ():
        demand = nodes.resolve(signature.demand)
        if not demand.missing and (nodes.allocatable[demand.rows, one.slots[0]] >= demand.amounts).all():
            return True
    return False


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
    row = next((_row(trials.state, one.resource) for one in reasons if one.reason is Reason.ROOM), None)
    units = _units(trials, row)
    is_ordered = any(one.reason is Reason.ROOM for one in reasons)
    if is_ordered:
        if not units or not _starts_without(trials, units[-1][1]):
            return
        low, high = 0, len(units) - 1
        while low < high:
            middle = (low + high) // 2
            if _starts_without(trials, units[middle][1]):
                high = middle
            else:
                low = middle + 1
        found = units[low]
    else:
        enough = (unit for unit in units[-MOST_ENDS:] if _starts_without(trials, unit[1]))
        one = next(enough, None)
        if one is None:
            return
        found = one
    name, pods = found
    yield Hint(HintKind.WAIT_FOR, f"starts when {name} ends", what=name, pods=tuple(pod.uid for pod in pods))


def _row(state: ClusterState, resource: str) -> int | None:
    return state.nodes.row_of.get(resource)


def _units(trials: Trials, row: int | None) -> list[tuple[str, list[PodRecord]]]:
    """What runs on nodes that accept the item, by what ends together: by how much it would free, the least first."""
    state, members = trials.state, trials.members
    if members is None:
        return []
    accepting = np.zeros(state.nodes.slots, dtype=np.bool_)
    for signature in members.pending:
        accepting |= fits_of(state).mask(signature.rules).codes == 0
    names = {state.nodes.names[slot] for slot in np.flatnonzero(accepting).tolist()}
    resource = PODS if row is None else state.nodes.resources[row]
    units: dict[str, list[PodRecord]] = {}
    freed: dict[str, int] = {}
    assigned = state.assigned_pods
    for pod in assigned.pods:
        if pod is None or pod.terminating or not pod.is_bound:
            continue
        unit = f"{pod.namespace}/{pod.group}" if pod.group else pod.uid
        units.setdefault(unit, []).append(pod)
        if pod.node_name in names:
            freed[unit] = freed.get(unit, 0) + pod.demand.amounts.get(resource, 0)
    return [
        (_unit_name(state, units[unit][0]), sorted(units[unit], key=lambda pod: (pod.name, pod.uid)))
        for unit in sorted(freed, key=lambda one: (freed[one], one))
        if freed[unit] and not _is_own(state, trials.key, units[unit][0]) and not _is_starting(state, units[unit][0])
    ]


def _unit_name(state: ClusterState, pod: PodRecord) -> str:
    if not pod.group:
        return pod_name(pod)
    members = state.entities.of_group(pod.namespace, pod.group)
    return item_name(members.key, members.group) if members is not None else pod_name(pod)


def _is_own(state: ClusterState, key: EntityKey, pod: PodRecord) -> bool:
    return state.item_of(pod.uid) == key


def _is_starting(state: ClusterState, pod: PodRecord) -> bool:
    members = state.entities.of_group(pod.namespace, pod.group) if pod.group else None
    return members is not None and bool(members.count(MemberState.ASSUMED))


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
