"""Whether a Job or LeaderWorkerSet has to say that it waits for the CRD of its gang scheduler, in a condition of ours. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from api.constants import CONDITION_GROUP_KIND_MISSING
from api.meta import Condition, condition_of


@dataclass(frozen=True, slots=True)
class ShowKindMissing:
    """Sets the condition: True with this note, or False when the note is empty, for the kind is there now."""

    note: str


def condition_steps(conditions: Iterable[Condition], missing: str) -> tuple[ShowKindMissing, ...]:
    """What is to be done about the condition; `missing` says what is waited for, and is empty when nothing is."""
    known = condition_of(tuple(conditions), CONDITION_GROUP_KIND_MISSING)
    if missing:
        is_said = known is not None and (known.status, known.message) == ("True", missing)
        return () if is_said else (ShowKindMissing(missing),)
    return (ShowKindMissing(""),) if known is not None and known.status == "True" else ()
