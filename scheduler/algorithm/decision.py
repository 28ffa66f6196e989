"""What a cycle decides."""

from typing import Final, Literal

import msgspec

from scheduler.algorithm.devices.binder import DeviceAllocation
from scheduler.cache.records import EntityKey
from scheduler.cache.volume_records import ClaimKey
from scheduler.plugins.messages import member_message, message
from scheduler.plugins.status import Code, Status

Result = Literal["scheduled", "unschedulable", "error", "nothing"]
"""The label of the metrics; `nothing` means that there was nothing to place."""

_RESULTS: Final[dict[Code, Result]] = {
    Code.SUCCESS: "scheduled",
    Code.UNSCHEDULABLE: "unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "unschedulable",
    Code.PENDING: "unschedulable",
    Code.ERROR: "error",
}


class Decision(msgspec.Struct, frozen=True):
    """The outcome for one item. `bindings` is empty unless, with them, `need` members have their place.

    With SUCCESS there may be `failures`: members beyond the minimum that found no room and will be tried again.
    """

    key: EntityKey
    status: Status
    bindings: tuple[tuple[str, str], ...] = ()
    """(pod UID, node name)."""
    failures: tuple[tuple[str, Status | None], ...] = ()
    """(pod UID, why it gets no place now); None for a member that would have a place if its group had."""
    carries: bool = False
    """Pods in `bindings` may have to wait for volumes."""
    volumes: tuple[tuple[ClaimKey, str], ...] = ()
    """Claims of pods in `bindings` with the existing volumes they get."""
    claims: bool = False
    """Pods in `bindings` have resource claims."""
    devices: tuple[DeviceAllocation, ...] = ()
    """What claims of pods in `bindings` get that have no devices yet."""
    scheduled_so_far: int = 0
    """Members that had their place before this decision: assumed, bound, succeeded."""
    need: int = 1
    depends_on_time: bool = False
    """A refusal that may become another one by the clock alone, for instance when a pause between preemptions is over."""
    is_over_budget: bool = False
    """Deciding would have taken more steps than one decision may (`scheduler.cache.steps`); the code is ERROR."""
    room_is_held: bool = False
    """Some room was not looked at because it is held for somebody else."""

    @property
    def result(self) -> Result:
        """How it is counted."""
        return _RESULTS.get(self.status.code, "nothing")

    @property
    def is_hope(self) -> bool:
        """It could have started with fewer members, but waits a little for more; nobody has to leave for that."""
        return self.status.code is Code.PENDING

    @property
    def condition_message(self) -> str:
        """The text of the item's condition."""
        return message(self.status)

    @property
    def pod_messages(self) -> tuple[tuple[str, str], ...]:
        """(pod UID, text of its condition) of those in `failures`."""
        texts: dict[int, str] = {}
        for _, status in self.failures:
            if id(status) not in texts:
                texts[id(status)] = message(status) if status is not None else member_message(self.condition_message)
        return tuple((uid, texts[id(status)]) for uid, status in self.failures)
