"""What a cycle decides."""

from typing import Literal

import msgspec

from scheduler.state.records import ItemKey
from scheduler.state.volume_records import ClaimKey

Verdict = Literal["scheduled", "unschedulable", "error", "nothing"]


class Decision(msgspec.Struct, frozen=True):
    """The outcome for one item. `bindings` is empty unless, with them, `need` members have their place.

    `nothing` means that there was nothing to place. `scheduled` may come with `failures`: members beyond the minimum that
    found no room and will be tried again.
    """

    key: ItemKey
    verdict: Verdict
    bindings: tuple[tuple[str, str], ...] = ()
    """(pod UID, node name)."""
    failures: tuple[tuple[str, str], ...] = ()
    """(pod UID, message for people)."""
    carries: bool = False
    """Pods in `bindings` may have to wait for volumes."""
    volumes: tuple[tuple[ClaimKey, str], ...] = ()
    """Claims of pods in `bindings` with the existing volumes they get."""
    condition_message: str = ""
    scheduled_so_far: int = 0
    """Members that had their place before this decision: assumed, bound, succeeded."""
    need: int = 1
    is_hope: bool = False
    """It could have started with fewer members, but waits a little for more; nobody has to leave for that."""
    depends_on_time: bool = False
    """A refusal that may become another one by the clock alone, for instance when a pause between preemptions is over."""
    is_over_budget: bool = False
    """Deciding would have taken more steps than one decision may (`scheduler.state.steps`); the verdict is `error`."""
    room_is_held: bool = False
    """Some room was not looked at because it is held for somebody else."""
