"""I4: victims are 1-minimal on the places that were chosen, and a group with disruption mode `all` leaves whole.

Sees: where the preemptor's members were nominated to, who was on those nodes then, who left. A victim is one too many when all
its pods would have fitted beside the nominated members with everybody else gone. Judged by amounts alone, so plans are left out
in which somebody has rules about other pods, ports, volumes, claims or a topology, and those that cannot be told from another.
Does not see: budgets, and whether other places would have cost fewer victims.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from verify.auditor.amounts import Amounts, pod_amounts, total
from verify.auditor.changes import Change, PodLeaves
from verify.auditor.history import History
from verify.auditor.identities import SCHEDULER_USER
from verify.auditor.model import Group, Pod
from verify.auditor.preemptions import Concluded, Plan, Preemptions, group_of
from verify.auditor.promises.promise import Promise
from verify.auditor.windows import Windows


class MinimalVictims(Promise):
    """Nobody leaves who need not, nobody stays whose group left."""

    number = "I4"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._preemptions = Preemptions(self.windows)
        self._leaving: dict[str, tuple[float, list[Pod]]] = {}

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Judges a plan when it is over."""
        if isinstance(change, PodLeaves) and change.record.user == SCHEDULER_USER:
            group = group_of(change.pod, history)
            if group is not None and group.whole:
                members = [each for each in history.members(group.key) if each.node]
                self._leaving.setdefault(group.uid, (change.record.received, members))
        for found in self._preemptions.see(change, history):
            if isinstance(found, Concluded) and found.is_started:
                yield from _too_many(found.plan, history, self.windows)

    def close(self, now: float, history: History) -> Iterator[str]:
        """Groups of which some left long ago and some are still there."""
        for uid, (when, members) in list(self._leaving.items()):
            if now - when <= self.windows.whole_seconds:
                continue
            del self._leaving[uid]
            stay = ["/".join(pod.key) for pod in members if not pod.leaves]
            if stay:
                yield f"of a group that leaves whole {len(members) - len(stay)} pods were evicted, these were not: {stay}"


def _too_many(plan: Plan, history: History, windows: Windows) -> Iterator[str]:
    nominees = [history.by_uid[uid] for uid in plan.places if uid in history.by_uid]
    victims = plan.left(history)
    if plan.is_shared or not victims or (plan.group is not None and plan.group.has_topology):
        return
    if any(_has_rules(pod) for pod in (*nominees, *victims)):
        return
    for unit in _units(victims, history):
        uids = {pod.uid for pod in unit}
        rooms = [_room_beside(node, plan, victims, history, windows) for node in {pod.node for pod in unit}]
        asked = [total(pod_amounts(pod.spec) for pod in unit if pod.node == node) for node in {p.node for p in unit}]
        if all(room is not None and _fits(need, room) for need, room in zip(asked, rooms, strict=True)):
            names = sorted("/".join(pod.key) for pod in unit)
            others = len(victims) - len(uids)
            yield f"{names} need not have left: they fit beside the preemptor once {others} other victims are gone"


def _units(victims: list[Pod], history: History) -> list[list[Pod]]:
    units: dict[str, list[Pod]] = defaultdict(list)
    for pod in victims:
        group: Group | None = group_of(pod, history)
        units[group.uid if group is not None and group.whole else pod.uid].append(pod)
    return list(units.values())


def _room_beside(node: str, plan: Plan, victims: list[Pod], history: History, windows: Windows) -> Amounts | None:
    """What is left of a node with all victims gone and the preemptor there; None when it cannot be told.

    Who ended a moment before the plan still counts: the scheduler may not have known. Pods that were leaving already count too,
    and whom our scheduler bound soon after the plan began: it may have decided on them before, and their binds were under way.
    """
    if node not in history.nodes:
        return None
    gone, comers = {pod.uid for pod in victims}, [uid for uid, place in plan.places.items() if place == node]
    others = [
        pod
        for pod in history.on_node(node)
        if pod.uid not in gone
        and pod.uid not in comers
        and pod.bound_at <= plan.began + (windows.bind_seconds if pod.bound_by == SCHEDULER_USER else 0)
        and (not pod.ended or pod.ended_at > plan.began - windows.foreign_race_seconds)
    ]
    held = [
        pod for pod in history.by_uid.values() if pod.nominated == node and pod.uid not in plan.places and not pod.node
    ]
    coming = [history.by_uid[uid] for uid in comers if uid in history.by_uid]
    taken = total(pod_amounts(pod.spec) for pod in (*others, *held, *coming))
    return {name: room - taken.get(name, 0) for name, room in history.nodes[node].items()}


def _fits(need: Amounts, room: Amounts) -> bool:
    return all(much <= room.get(name, 0) for name, much in need.items())


def _has_rules(pod: Pod) -> bool:
    spec = pod.spec
    affinity = spec.get("affinity") or {}
    volumes = spec.get("volumes") or []
    ports = [port for each in spec.get("containers", []) for port in each.get("ports") or [] if port.get("hostPort")]
    return bool(
        affinity.get("podAffinity")
        or affinity.get("podAntiAffinity")
        or spec.get("topologySpreadConstraints")
        or spec.get("resourceClaims")
        or ports
        or any("persistentVolumeClaim" in each or "ephemeral" in each for each in volumes)
    )
