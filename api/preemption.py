"""That a PodGroup is asked to leave, and for whom: written by the scheduler into its status, read by controllers and scheduler.

`DisruptionTarget` asks. `PreemptedBy` beside it says for whom, for programs: its reason is the kind, its message is
`namespace/name/UID` of the PodGroup or pod that wants the room, and nothing else (KEP-5710).
"""

from typing import Final

import msgspec

from api.constants import CONDITION_DISRUPTION_TARGET, CONDITION_PREEMPTED_BY, REASON_GANG_RESTART
from api.meta import Condition, condition_of

_TRUE: Final = "True"


class Preemptor(msgspec.Struct, frozen=True, gc=False):
    """Who wants the room; `kind` is `PodGroup` or `Pod`, identity is the UID."""

    kind: str
    namespace: str
    name: str
    uid: str

    @property
    def reference(self) -> str:
        """How the condition's message names it."""
        return f"{self.namespace}/{self.name}/{self.uid}"


def is_asked_to_leave(conditions: tuple[Condition, ...] | None) -> bool:
    """Whether a group with these conditions was asked to leave and the request stands."""
    asked = condition_of(conditions or (), CONDITION_DISRUPTION_TARGET)
    return asked is not None and asked.status == _TRUE


def is_asked_to_restart(conditions: tuple[Condition, ...] | None) -> bool:
    """Whether a group with these conditions was asked to leave so that it starts anew, and the request stands."""
    asked = condition_of(conditions or (), CONDITION_DISRUPTION_TARGET)
    return asked is not None and asked.status == _TRUE and asked.reason == REASON_GANG_RESTART


def preemptor_of(conditions: tuple[Condition, ...] | None) -> Preemptor | None:
    """For whom a group with these conditions is asked to leave; None when it is not, or when nobody says for whom."""
    if not is_asked_to_leave(conditions):
        return None
    said = condition_of(conditions or (), CONDITION_PREEMPTED_BY)
    parts = said.message.split("/") if said is not None and said.status == _TRUE else []
    return (
        Preemptor(said.reason, *parts) if said is not None and len(parts) == len(("namespace", "name", "uid")) else None
    )
