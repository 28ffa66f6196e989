"""What makes pods a gang: what must be there before any of them is tried, and how many start together (KEP-4671).

The rules of upstream's plugin GangScheduling. Upstream shows nothing of them to its users; here every held item says what it
waits for.
"""

from scheduler.cache.pod_group_state import PodGroupState
from scheduler.plugins.status import Code, Status

_GANG_SCHEDULING = "GangScheduling"
_SCHEDULING_GATES = "SchedulingGates"


def missing_count(members: PodGroupState) -> int:
    """Members that must get a place together now: what is missing to `need`, at least one."""
    return max(members.min_count - members.scheduled_count, 1)


def pre_enqueue(members: PodGroupState) -> Status | None:
    """Why the item must not be tried yet, None when it may (upstream: PreEnqueue).

    It needs its PodGroup, pods without scheduling gates, and minCount members.
    """
    if members.is_lone:
        pod = next(members.pods(), None)
        if pod is not None and pod.managed:
            return Status(Code.WAITING_FOR_POD_GROUP, "waiting for its pod group annotation", plugin=_GANG_SCHEDULING)
        if members.counts().gated:
            text = "waiting for its scheduling gates to be removed"
            return Status(Code.SCHEDULING_GATED, text, plugin=_SCHEDULING_GATES)
        return None
    if members.group is None:
        text = 'waiting for PodGroup "{}"'
        return Status(Code.WAITING_FOR_POD_GROUP, text, (members.key.name,), plugin=_GANG_SCHEDULING)
    counts = members.counts()
    if counts.gated:
        text = f"{{}} {'pod has' if counts.gated == 1 else 'pods have'} scheduling gates, which hold the whole group"
        return Status(Code.SCHEDULING_GATED, text, (counts.gated,), plugin=_SCHEDULING_GATES)
    if members.group.is_gang and counts.known < counts.min_count:
        return _missing(counts.min_count, counts.known, counts.barred)
    return None


def _missing(need: int, known: int, barred: int) -> Status:
    text, args = "waiting for minCount ({}) pods: {} of them exist", [need, known]
    if barred:
        text += "; {} more name this group but belong to another owner"
        args.append(barred)
    return Status(Code.WAITING_FOR_MEMBERS, text, tuple(args), plugin=_GANG_SCHEDULING)
