"""Everything of a cluster that views read, with the look-ups they need; filled once, or kept up to date by informers."""

from dataclasses import replace
from typing import Final

from api.compositepodgroup import CompositePodGroup
from api.meta import controller_of
from api.podgroup import PodGroup, Workload
from kube.cache.store import Store
from views.model.gang import Gang, gang_of
from views.model.queue import composite_order
from views.model.records import Machine, Member, Owner

BY_GROUP: Final = "group"
BY_NODE: Final = "node"
BY_OWNER: Final = "owner"
BY_PARENT: Final = "parent"


def groups_of_member(member: Member) -> tuple[tuple[str, str], ...]:
    """Index of pods: (namespace, name) of the PodGroup."""
    return ((member.metadata.namespace, member.group),) if member.group else ()


def nodes_of_member(member: Member) -> tuple[str, ...]:
    """Index of pods: the node that they hold room on."""
    return (member.node,) if member.node and not member.has_ended else ()


def owner_of_group(group: PodGroup) -> tuple[str, ...]:
    """Index of groups: the UID of its controller."""
    owner = controller_of(group.metadata)
    return (owner.uid,) if owner is not None else ()


def parent_of_group(group: PodGroup) -> tuple[tuple[str, str], ...]:
    """Index of groups: (namespace, name) of the CompositePodGroup that it is a child of."""
    return ((group.metadata.namespace, group.parent),) if group.parent else ()


def parent_of_composite(composite: CompositePodGroup) -> tuple[tuple[str, str], ...]:
    """Index of CompositePodGroups: (namespace, name) of the one that it is a child of."""
    return ((composite.metadata.namespace, composite.parent),) if composite.parent else ()


class Objects:
    """Stores of all kinds that views read.

    Attributes:
        unknown_composites: why CompositePodGroups are not known, for people; empty when they are.
    """

    def __init__(self) -> None:
        self.groups: Store[PodGroup] = Store({BY_OWNER: owner_of_group, BY_PARENT: parent_of_group})
        self.composites: Store[CompositePodGroup] = Store({BY_PARENT: parent_of_composite})
        self.unknown_composites = ""
        self.workloads: Store[Workload] = Store()
        self.members: Store[Member] = Store({BY_GROUP: groups_of_member, BY_NODE: nodes_of_member})
        self.jobs: Store[Owner] = Store()
        self.sets: Store[Owner] = Store()
        self.jobsets: Store[Owner] = Store()
        self.nodes: Store[Machine] = Store()

    def gang(self, group: PodGroup) -> Gang:
        """The row of a group; its place in the queue is not known here."""
        gang = gang_of(group, self.members_of(group), self.owner_of(group))
        if not group.parent:
            return gang
        root = self.tree_root(group)
        name = root.metadata.name if root is not None else self.root_of(group.metadata.namespace, group.parent)
        return replace(gang, tree=name, tree_order=composite_order(root) if root is not None else None)

    def gangs(self) -> list[Gang]:
        """The rows of all groups, by namespace and age."""
        rows = [self.gang(group) for group in self.groups]
        return sorted(rows, key=lambda gang: (gang.namespace, gang.created, gang.title))

    def members_of(self, group: PodGroup) -> list[Member]:
        """The pods that name a group."""
        return self.members.by_index(BY_GROUP, group.metadata.key)

    def groups_of_owner(self, uid: str) -> list[PodGroup]:
        """The groups that a Job controls."""
        return self.groups.by_index(BY_OWNER, uid)

    def owner_of(self, group: PodGroup) -> Owner | None:
        """The Job or JobSet that controls a group; None for a group of a replica, whose pods say all there is."""
        owner = controller_of(group.metadata)
        return (self.jobs.by_uid(owner.uid) or self.jobsets.by_uid(owner.uid)) if owner is not None else None

    # --- groups of groups --------------------------------------------------------------------------------------------

    def composites_below(self, namespace: str, name: str) -> list[CompositePodGroup]:
        """The CompositePodGroups that name this one as their parent."""
        return self.composites.by_index(BY_PARENT, (namespace, name))

    def groups_below(self, namespace: str, name: str) -> list[PodGroup]:
        """The PodGroups that name this CompositePodGroup as their parent."""
        return self.groups.by_index(BY_PARENT, (namespace, name))

    def tree_root(self, group: PodGroup) -> CompositePodGroup | None:
        """The root of the tree that a group is in; None when it is in none, or that does not exist."""
        if not group.parent:
            return None
        namespace = group.metadata.namespace
        return self.composites.get(namespace, self.root_of(namespace, group.parent))

    def root_of(self, namespace: str, name: str) -> str:
        """Where the way up from a CompositePodGroup ends, perhaps at a mere name; of a circle the first name in it."""
        way: list[str] = []
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            way.append(name)
            composite = self.composites.get(namespace, name)
            if composite is None or not composite.parent:
                return name
            name = composite.parent
        return min(way[way.index(name) :])
