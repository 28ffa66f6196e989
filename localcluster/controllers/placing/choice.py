"""Where one ordinary pod goes: the node that takes it and has the largest share of its cpu and memory left.

Pure. It knows cordons, taints, `nodeSelector` and resources; pods that ask for more than that (affinity, spreading, volumes)
get a place as if they had not asked, pods with device claims get none. That is enough for a stand-in: what is under test is our
own scheduler.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from api.errors import InvalidQuantity
from api.meta import Metadata
from api.node import Node, Taint
from api.pod import Pod
from api.requests import effective_requests, parse_amounts

HARD_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})
SCORED: Final = ("cpu", "memory")

NO_DEVICES: Final = "pods with resource claims are placed by Tutti's scheduler only (spec.schedulerName: tutti)"

Amounts = dict[str, int]


class Toleration(msgspec.Struct, frozen=True):
    """One toleration of a pod."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def covers(self, taint: Taint) -> bool:
        """Whether the pod may stay in spite of the taint."""
        if self.effect not in {"", taint.effect} or self.key not in {"", taint.key}:
            return False
        return self.operator == "Exists" or (bool(self.key) and self.value == taint.value)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a pod asks for. `problem` is why no node can have it: it cannot be read, or only others can give it; or None."""

    amounts: Amounts
    selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    problem: str | None = None


@dataclass(slots=True)
class Room:
    """One node: what it has in all, what is taken."""

    node: Node
    total: Amounts
    taken: Counter[str] = field(default_factory=Counter)

    def score(self, amounts: Amounts) -> float:
        """The share of cpu and memory that would be left, 0 to 1."""
        shares = [
            1 - (self.taken[name] + amounts.get(name, 0)) / self.total[name] for name in SCORED if self.total.get(name)
        ]
        return sum(shares) / len(shares) if shares else 0.0


@dataclass(frozen=True, slots=True)
class Choice:
    """The node's name, or why there is none."""

    node: str | None
    refusal: str = ""


def demand_of(pod: Pod) -> Demand:
    """What the pod asks for."""
    try:
        amounts = effective_requests(pod.spec)
    except InvalidQuantity as error:
        return Demand({}, problem=str(error))
    selector = msgspec.json.decode(pod.spec.node_selector, type=dict[str, str]) if pod.spec.node_selector else {}
    tolerations = msgspec.json.decode(pod.spec.tolerations, type=tuple[Toleration, ...]) if pod.spec.tolerations else ()
    return Demand(amounts, selector, tolerations, NO_DEVICES if pod.spec.resource_claims else None)


def room_of(node: Node) -> Room:
    """An empty node; amounts that cannot be read count as none."""
    try:
        return Room(node, parse_amounts(node.status.allocatable))
    except InvalidQuantity:
        return Room(node, {})


def choose(demand: Demand, rooms: Iterable[Room]) -> Choice:
    """The best node, or a count of the reasons against all of them."""
    best: tuple[float, str] | None = None
    refusals: Counter[str] = Counter()
    count = 0
    for room in rooms:
        count += 1
        reasons = objections(demand, room)
        refusals.update(reasons)
        if not reasons:
            candidate = (room.score(demand.amounts), room.node.metadata.name)
            best = candidate if best is None else max(best, candidate)
    if best is not None:
        return Choice(best[1])
    if count == 0:
        return Choice(None, "no nodes available to schedule pods")
    told = ", ".join(f"{number} {reason}" for reason, number in sorted(refusals.items()))
    return Choice(None, f"0/{count} nodes are available: {told}.")


def objections(demand: Demand, room: Room) -> list[str]:
    """Why the pod cannot go there; several when resources lack."""
    spec, meta = room.node.spec, room.node.metadata
    if demand.problem is not None:
        return [demand.problem]
    if spec.unschedulable:
        return ["node(s) were unschedulable"]
    if not _selected(demand.selector, meta):
        return ["node(s) didn't match Pod's node affinity/selector"]
    for taint in spec.taints:
        if taint.effect in HARD_EFFECTS and not any(each.covers(taint) for each in demand.tolerations):
            return ["node(s) had untolerated taint(s)"]
    return [
        "Too many pods" if name == "pods" else f"Insufficient {name}"
        for name, amount in demand.amounts.items()
        if room.taken[name] + amount > room.total.get(name, 0)
    ]


def _selected(selector: Mapping[str, str], meta: Metadata) -> bool:
    return all(meta.label(key) == value for key, value in selector.items())
