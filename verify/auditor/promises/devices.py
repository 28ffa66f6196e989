"""Devices (part of I1 and I2): no device in two claims, and none held for a gang that does not start.

Sees: allocations in claims and for whom they are reserved. Devices that may be shared (for administration, or by shares) are left
out. A claim that our scheduler allocated while none of its consumers has a node, or while their gang has not started, is told
after `devices_seconds`. Does not see: capacity of shared devices, counters, slices, whether a selector was met.
"""

from collections.abc import Iterator
from typing import Any

from verify.auditor.changes import Change, ClaimWritten
from verify.auditor.history import History
from verify.auditor.identities import SCHEDULER_USER
from verify.auditor.model import Claim
from verify.auditor.promises.promise import Promise


class Devices(Promise):
    """Each device once, and for those who start."""

    number = "I2"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._told: set[str] = set()

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Looks for other holders when a claim has got devices."""
        if not isinstance(change, ClaimWritten) or change.claim.held_since != change.record.completed:
            return
        for other in history.claims.values():
            for device in other.devices & change.claim.devices if other.uid != change.claim.uid else ():
                shown = "/".join(device)
                yield f"device {shown} is in two claims, {other.key} and {change.claim.key}: {change.record}"

    def close(self, now: float, history: History) -> Iterator[str]:
        """Devices that are held for nobody who runs."""
        for claim in history.claims.values():
            is_old = claim.held_since > 0.0 and now - claim.held_since > self.windows.devices_seconds
            if is_old and claim.allocated_by == SCHEDULER_USER and claim.uid not in self._told:
                problem = _unused(claim, history)
                if problem:
                    self._told.add(claim.uid)
                    yield f"claim {claim.key} has had devices for {now - claim.held_since:.0f} s, and {problem}"


def _unused(claim: Claim, history: History) -> str:
    pods = [history.by_uid[uid] for uid in claim.consumers if uid in history.by_uid]
    waiting = [pod for pod in pods if not pod.ended]
    if not waiting or len(pods) < len(claim.consumers):
        return ""  # its controller frees it, or it is reserved for a group
    if not any(pod.node for pod in waiting):
        return "none of its pods has a node"
    groups = [history.groups[pod.group] for pod in waiting if pod.group in history.groups]
    short = [group.key for group in groups if not group.satisfied]
    return f"the gang {short[0]} has not started" if short else ""
