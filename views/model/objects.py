"""Everything of a cluster that views read, with the look-ups they need; filled once, or kept up to date by informers."""

from typing import Final

from api.meta import controller_of
from api.podgroup import PodGroup, Workload
from kube.cache.store import Store
from views.model.gang import Gang, gang_of
from views.model.records import Machine, Member, Owner

BY_GROUP: Final = "group"
BY_NODE: Final = "node"
BY_OWNER: Final = "owner"


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


class Objects:
    """Stores of all kinds that views read."""

    def __init__(self) -> None:
        self.groups: Store[PodGroup] = Store({BY_OWNER: owner_of_group})
        self.workloads: Store[Workload] = Store()
        self.members: Store[Member] = Store({BY_GROUP: groups_of_member, BY_NODE: nodes_of_member})
        self.jobs: Store[Owner] = Store()
        self.sets: Store[Owner] = Store()
        self.nodes: Store[Machine] = Store()

    def gang(self, group: PodGroup) -> Gang:
        """The row of a group; its place in the queue is not known here."""
        return gang_of(group, self.members_of(group), self.owner_of(group))

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
        """The Job that controls a group; None for a group of a replica, whose pods say all there is."""
        owner = controller_of(group.metadata)
        return self.jobs.by_uid(owner.uid) if owner is not None else None
