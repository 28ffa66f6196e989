"""What a person names, KIND/NAME, as items of the scheduler."""

from typing import Final

import msgspec

from api.constants import LWS_NAME
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
    """The items behind it: a Job has one group, a LeaderWorkerSet one for each replica, a pod that of its group."""
    if target.kind == "podgroup":
        members = state.entities.of_group(target.namespace, target.name)
        return [members.key] if members is not None else []
    found: dict[EntityKey, None] = {}
    for key in state.entities:
        members = state.item(key) if key.namespace == target.namespace else None
        if members is not None and _is_meant(members, target):
            found[key] = None
    return sorted(found)


def _is_meant(members: PodGroupState, target: Target) -> bool:
    group = members.group
    if target.kind == "job" and group is not None and (group.owner.kind, group.owner.name) == ("Job", target.name):
        return True
    return any(_is_pod_of(pod, target) for pod in members.pods())


def _is_pod_of(pod: PodRecord, target: Target) -> bool:
    match target.kind:
        case "pod":
            return pod.name == target.name
        case "job":
            return (pod.owner.kind, pod.owner.name) == ("Job", target.name)
        case _:
            return pod.labels.get(LWS_NAME) == target.name
