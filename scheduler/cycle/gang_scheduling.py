"""What makes pods a gang: what must be there before any of them is tried, and how many start together (KEP-4671).

The rules of upstream's plugin GangScheduling. Upstream shows nothing of them to its users; here every held item says what it
waits for.
"""

from api.constants import REASON_SCHEDULING_GATED, REASON_WAITING_FOR_MEMBERS, REASON_WAITING_FOR_POD_GROUP
from scheduler.queue.held import Held
from scheduler.state.members import Members


def wanted(members: Members) -> int:
    """Members that must get a place together now: what is missing to `need`, at least one."""
    return max(members.need - members.satisfied, 1)


def gate(members: Members) -> Held | None:
    """Why the item must not be tried yet, None when it may (upstream: PreEnqueue).

    It needs its PodGroup, pods without scheduling gates, and minCount members.
    """
    if members.is_lone:
        pod = next(members.pods(), None)
        if pod is not None and pod.managed:
            return Held(REASON_WAITING_FOR_POD_GROUP, "waiting for its pod group annotation")
        if members.counts().gated:
            return Held(REASON_SCHEDULING_GATED, "waiting for its scheduling gates to be removed")
        return None
    if members.group is None:
        return Held(REASON_WAITING_FOR_POD_GROUP, f'waiting for PodGroup "{members.key.name}"')
    counts = members.counts()
    if counts.gated:
        pods = "pod has" if counts.gated == 1 else "pods have"
        return Held(REASON_SCHEDULING_GATED, f"{counts.gated} {pods} scheduling gates, which hold the whole group")
    if members.group.is_gang and counts.known < counts.need:
        return Held(REASON_WAITING_FOR_MEMBERS, _missing(counts.need, counts.known, counts.barred))
    return None


def _missing(need: int, known: int, barred: int) -> str:
    message = f"waiting for minCount ({need}) pods: {known} of them exist"
    if barred:
        message += f"; {barred} more name this group but belong to another owner"
    return message
