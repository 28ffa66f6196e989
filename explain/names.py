"""How items and their owners are named to people: as `kubectl` takes them, KIND/NAME."""

from typing import Final

from scheduler.cache.records import EntityKey, GroupRecord, PodRecord

_SHORT: Final = {"Job": "job", "JobSet": "jobset", "LeaderWorkerSet": "lws"}


def item_name(key: EntityKey, group: GroupRecord | None) -> str:
    """The owner of a group or tree, or that itself, or the pod."""
    if key.kind == "pod":
        return f"pod/{key.name}"
    # The owner of an LWS replica's group is its leader pod, whose name says less than the group's.
    kind = _SHORT.get(group.owner.kind, "") if group is not None and group.owner.name else ""
    if group is not None and kind:
        return f"{kind}/{group.owner.name}"
    return f"{'compositepodgroup' if key.kind == 'composite' else 'podgroup'}/{key.name}"


def pod_name(pod: PodRecord) -> str:
    """A pod."""
    return f"pod/{pod.name}"
