"""The members of an item that are to be placed, told apart as far as rules about other pods tell them apart.

Most items have no such rules, and nothing that runs has one about them: then the shapes of the members are all there is to
know. Otherwise pods of one shape whose labels look different to some rule become shapes of their own.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from scheduler.placement.relations import Party, Relations
from scheduler.state.cluster import ClusterState
from scheduler.state.members import Members
from scheduler.state.neighbours import pairs
from scheduler.state.rules import NodeRules
from scheduler.state.shapes import Shape


class Muster:
    """UIDs of the pods by shape, in the order of their names, and what they and other pods mean to each other."""

    __slots__ = ("parts", "relations")

    def __init__(self, parts: Mapping[Shape, Sequence[str]], relations: Relations | None = None) -> None:
        self.parts: Final = parts
        self.relations: Final = relations
        """None when only nodes matter."""

    @property
    def pending(self) -> dict[Shape, int]:
        """How many pods of each shape there are."""
        return {shape: len(uids) for shape, uids in self.parts.items()}


def minds_others(state: ClusterState, members: Members) -> bool:
    """Whether rules about other pods can matter to the item; cheap, and true a little too often."""
    return state.neighbours.is_held(members.key.namespace) or any(
        shape.rules.looks_at_pods for shape in members.pending
    )


def muster(state: ClusterState, members: Members) -> Muster:
    """The pending members of an item."""
    if not minds_others(state, members):
        return Muster({shape: waiting.uids for shape, waiting in members.pending.items()})
    for shape in members.pending:
        state.neighbours.learn(_keys(shape.rules))
    parts: dict[Shape, list[str]] = {}
    parties: dict[Shape, Party] = {}
    for shape, waiting in members.pending.items():
        looks: dict[tuple[str, ...], list[str]] = {}
        for uid in waiting.uids:
            pod = state.pod(uid)
            looks.setdefault(state.neighbours.visible(pod) if pod else (), []).append(uid)
        for labels, uids in looks.items():
            part = shape if len(looks) == 1 else shape.variant()
            parts[part] = uids
            parties[part] = Party(members.key.namespace, pairs(labels))
    if not any(shape.rules.looks_at_pods for shape in parts) and not any(
        state.neighbours.holds_on(*party) for party in set_of(parties)
    ):
        return Muster({shape: waiting.uids for shape, waiting in members.pending.items()})
    return Muster(parts, Relations(state.nodes, state.neighbours, parties))


def set_of(parties: Mapping[Shape, Party]) -> list[Party]:
    """The parties, each once."""
    found = {tuple(party.labels.items()): party for party in parties.values()}
    return list(found.values())


def _keys(rules: NodeRules) -> set[str]:
    keys: set[str] = set()
    for tie in rules.bonds.ties if rules.bonds else ():
        keys |= tie.query.keys()
    for spread in rules.spreads:
        keys |= spread.selector.keys()
    return keys
