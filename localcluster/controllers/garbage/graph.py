"""Who owns whom, by UID, among everything the garbage collector follows.

Pure bookkeeping and pure judgement. An owner that is not in the graph may exist nevertheless (its kind may not be followed
yet), so it counts as unknown until the server says that it is gone or we saw it go.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from api.meta import Metadata, OwnerReference
from kube.client.resources import Resource

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
MOST_GONE: Final = 20_000


@dataclass(frozen=True, slots=True)
class Node:
    """One object: its kind and its metadata."""

    resource: Resource
    metadata: Metadata

    @property
    def uid(self) -> str:
        """Its identity."""
        return self.metadata.uid

    @property
    def owners(self) -> tuple[OwnerReference, ...]:
        """Its owners."""
        return self.metadata.owner_references or ()

    def has(self, finalizer: str) -> bool:
        """Whether it is being deleted and held by this finalizer."""
        return self.metadata.is_terminating and finalizer in (self.metadata.finalizers or ())


class Owner(Enum):
    """What is known of an owner."""

    SOLID = "solid"
    DYING = "dying"
    """It is being deleted and waits for its dependents."""
    GONE = "gone"
    UNKNOWN = "unknown"


class Graph:
    """All objects, and for each UID those that name it as an owner."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._dependents: dict[str, set[str]] = {}
        self._gone: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._nodes)

    def get(self, uid: str) -> Node | None:
        """The object, or None."""
        return self._nodes.get(uid)

    def put(self, node: Node) -> None:
        """Keep this version of the object."""
        self._unlink(node.uid)
        self._nodes[node.uid] = node
        for owner in node.owners:
            self._dependents.setdefault(owner.uid, set()).add(node.uid)

    def remove(self, uid: str) -> None:
        """The object is gone for good: UIDs do not come back."""
        self._unlink(uid)
        self._nodes.pop(uid, None)
        self.mark_gone(uid)

    def forget(self, uid: str) -> None:
        """The object is not followed any more; it may or may not exist."""
        self._unlink(uid)
        self._nodes.pop(uid, None)

    def mark_gone(self, uid: str) -> None:
        """Nothing of this UID exists; remembered for a while."""
        self._gone[uid] = None
        while len(self._gone) > MOST_GONE:
            self._gone.popitem(last=False)

    def dependents(self, uid: str) -> list[Node]:
        """The objects that name this one as an owner."""
        return [self._nodes[each] for each in self._dependents.get(uid, ()) if each in self._nodes]

    def judge(self, node: Node, owner: OwnerReference) -> Owner:
        """What is known of an owner of the object; one in another namespace is none."""
        found = self._nodes.get(owner.uid)
        if found is None:
            return Owner.GONE if owner.uid in self._gone else Owner.UNKNOWN
        if found.metadata.namespace not in {"", node.metadata.namespace}:
            return Owner.GONE
        return Owner.DYING if found.has(FOREGROUND) else Owner.SOLID

    def blockers(self, uid: str) -> list[Node]:
        """The dependents that hold a foreground deletion up."""
        return [node for node in self.dependents(uid) if any(_blocks(each, uid) for each in node.owners)]

    def _unlink(self, uid: str) -> None:
        old = self._nodes.get(uid)
        for owner in old.owners if old is not None else ():
            dependents = self._dependents.get(owner.uid)
            if dependents is not None:
                dependents.discard(uid)
                if not dependents:
                    del self._dependents[owner.uid]


class Step(Enum):
    """What to do with one object."""

    NOTHING = "nothing"
    DELETE = "delete"
    DELETE_FOREGROUND = "delete, its dependents first"
    DROP_OWNERS = "take the owners away that are gone or wait for it"
    FINISH_FOREGROUND = "nothing holds it any more: let it go"
    PRESS_DEPENDENTS = "its dependents have to go first"
    ORPHAN = "take it away from its dependents' owners, then let it go"


def next_step(graph: Graph, node: Node, verdicts: Iterable[tuple[OwnerReference, Owner]]) -> Step:
    """What to do with an object, given what is known of each of its owners (none of them UNKNOWN)."""
    if node.has(ORPHAN):
        return Step.ORPHAN
    if node.has(FOREGROUND):
        return Step.PRESS_DEPENDENTS if graph.blockers(node.uid) else Step.FINISH_FOREGROUND
    owners = [verdict for _, verdict in verdicts]
    if node.metadata.is_terminating or not owners:
        return Step.NOTHING
    if Owner.SOLID in owners:
        return Step.DROP_OWNERS if len(set(owners)) > 1 else Step.NOTHING
    if Owner.DYING in owners and graph.dependents(node.uid):
        return Step.DELETE_FOREGROUND
    return Step.DELETE


def remaining_owners(verdicts: Iterable[tuple[OwnerReference, Owner]]) -> list[OwnerReference]:
    """The owners that stay."""
    return [owner for owner, verdict in verdicts if verdict is Owner.SOLID]


def _blocks(owner: OwnerReference, uid: str) -> bool:
    return owner.uid == uid and owner.block_owner_deletion is True
