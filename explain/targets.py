"""What a person names, KIND/NAME, as items of the scheduler."""

from collections.abc import Iterator
from typing import Final

import msgspec

from api.constants import JOBSET_NAME, LWS_NAME
from api.errors import ConfigurationError
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import EntityKey, PodRecord

KINDS: Final = {
    "job": "job",
    "jobs": "job",
    "lws": "lws",
    "leaderworkerset": "lws",
    "leaderworkersets": "lws",
    "jobset": "jobset",
    "jobsets": "jobset",
    "compositepodgroup": "compositepodgroup",
    "compositepodgroups": "compositepodgroup",
    "gangtree": "compositepodgroup",
    "podgroup": "podgroup",
    "podgroups": "podgroup",
    "gang": "podgroup",
    "pod": "pod",
    "pods": "pod",
    "po": "pod",
}
"""What may be written for each kind, as `kubectl` takes it."""


class Target(msgspec.Struct, frozen=True):
    """What is asked about; `kind` is one of the values of `KINDS`."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


def parse_target(text: str, namespace: str) -> Target:
    """What a person wrote.

    Raises:
        ConfigurationError: it is not KIND/NAME of a kind that is scheduled.
    """
    kind, slash, name = text.partition("/")
    found = KINDS.get(kind.lower())
    if not slash or not name or found is None:
        kinds = ", ".join(f"{one}/NAME" for one in dict.fromkeys(KINDS.values()))
        raise ConfigurationError(f"{text[:253]!r} is not one of {kinds}")
    return Target(found, namespace, name)


def items_of(state: ClusterState, target: Target) -> list[EntityKey]:
    """The items behind it: a Job has one group, a LeaderWorkerSet one for each replica or one tree, a pod that of its group.

    Who is in a tree is answered for by the tree, which is scheduled as one.
    """
    if target.kind == "compositepodgroup":
        below = state.entities.forest.leaves_below((target.namespace, target.name))
        return [tree.key for tree in state.entities.forest.trees_of(below)]
    if target.kind == "podgroup":
        named = state.entities.of_group(target.namespace, target.name)
        return [_queued(state, named)] if named is not None else []
    found: dict[EntityKey, None] = {}
    for key in state.entities:
        members = state.item(key) if key.namespace == target.namespace else None
        if members is not None and _is_meant(members, target):
            found[_queued(state, members)] = None
    return sorted(found)


def queued_items(state: ClusterState) -> Iterator[EntityKey]:
    """All that is scheduled as one: groups, pods without one, and in the place of their groups trees."""
    members = (state.item(key) for key in state.entities)
    yield from dict.fromkeys(_queued(state, one) for one in members if one is not None)


def queued_item(state: ClusterState, key: EntityKey) -> EntityKey:
    """What is scheduled for an item: itself, or the tree that it is in."""
    members = state.item(key)
    return _queued(state, members) if members is not None else key


def _queued(state: ClusterState, members: PodGroupState) -> EntityKey:
    for tree in state.entities.forest.trees_of((members,)):
        return tree.key
    return members.key


def _is_meant(members: PodGroupState, target: Target) -> bool:
    group = members.group
    owner_kind = _OWNERS.get(target.kind)
    if owner_kind and group is not None and (group.owner.kind, group.owner.name) == (owner_kind, target.name):
        return True
    return any(_is_pod_of(pod, target) for pod in members.pods())


_OWNERS: Final = {"job": "Job", "jobset": "JobSet"}
"""Those that own the groups of their pods themselves."""


def _is_pod_of(pod: PodRecord, target: Target) -> bool:
    match target.kind:
        case "pod":
            return pod.name == target.name
        case "job":
            return (pod.owner.kind, pod.owner.name) == ("Job", target.name)
        case "jobset":
            return pod.labels.get(JOBSET_NAME) == target.name
        case _:
            return pod.labels.get(LWS_NAME) == target.name
