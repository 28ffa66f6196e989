"""How items and their owners are named to people: as `kubectl` takes them, KIND/NAME."""

from typing import Final

from scheduler.cache.records import EntityKey, GroupRecord, PodRecord

_SHORT: Final = {"Job": "job", "LeaderWorkerSet": "lws", "Pod": "pod"}


def item_name(key: EntityKey, group: GroupRecord | None) -> str:
    """The owner of a group, or the group itself, or the pod."""
    if key.kind == "pod":
        return f"pod/{key.name}"
    kind = _SHORT.get(group.owner.kind, "") if group is not None and group.owner.name else ""
    # The owner of an LWS replica's group is its leader pod, whose name says less than the group's.
    return f"{kind}/{group.owner.name}" if group is not None and kind == "job" else f"podgroup/{key.name}"


def pod_name(pod: PodRecord) -> str:
    """A pod."""
    return f"pod/{pod.name}"
