"""Effects that passes over Jobs and over LeaderWorkerSets may both have, as values."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from api.constants import CONDITION_GROUP_KIND_MISSING
from api.meta import Condition, condition_of
from api.podgroup import Workload
from providers.selection import Providers

S_co = TypeVar("S_co", covariant=True)

NAME_TAKEN_SECONDS: Final = 2.0
"""How long a pass waits for a name that somebody else holds; nothing tells when it becomes free."""


@dataclass(frozen=True, slots=True)
class CreateWorkload:
    """Creates the Workload from its manifest."""

    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SetWorkloadMinimum:
    """Changes the minimum in the one template of our Workload."""

    workload: Workload
    min_count: int


@dataclass(frozen=True, slots=True)
class Warn:
    """Says something to the user of the Job or set, once, as a Warning event."""

    reason: str
    note: str
    action: str


@dataclass(frozen=True, slots=True)
class ShowKindMissing:
    """Sets the condition: True with this note, or False when the note is empty, for the kind is there now."""

    note: str


def condition_steps(conditions: Iterable[Condition], missing: str) -> tuple[ShowKindMissing, ...]:
    """What is to be done about the condition that a kind of group is missing.

    Args:
        conditions: those that the object has.
        missing: what is waited for, for people; empty when nothing is.
    """
    known = condition_of(tuple(conditions), CONDITION_GROUP_KIND_MISSING)
    if missing:
        is_said = known is not None and (known.status, known.message) == ("True", missing)
        return () if is_said else (ShowKindMissing(missing),)
    return (ShowKindMissing(""),) if known is not None and known.status == "True" else ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a Job or a replica cannot have a group: an event reason and a sentence. No reason: nothing worth an event."""

    note: str
    reason: str = ""


@dataclass(frozen=True)
class Plan(Generic[S_co]):
    """What one pass does.

    Attributes:
        steps: in the order in which they must happen; a step that fails ends the pass.
        requeue_after_seconds: another pass is due then although nothing may happen by then; None: the next event is soon enough.
    """

    steps: tuple[S_co, ...] = ()
    requeue_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What plans depend on beside the facts.

    Attributes:
        providers: the gang schedulers.
        group_api_version: `apiVersion` of the group API in force.
        makes_gangs: whether new owners become gangs. Off, those that are gangs are still reconciled.
        has_composites: whether the server has CompositePodGroups.
    """

    providers: Providers
    group_api_version: str
    makes_gangs: bool = True
    has_composites: bool = True
