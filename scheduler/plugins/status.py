"""Why something goes on, or does not: upstream's `Status`, and what it was found from (`Diagnosis`).

Filters, decisions and the queue hand these values on and compare them. Text for people is made of them in one place
(`scheduler.plugins.messages`) when it is written to an object or an event. Only what a condition on an object says already is
compared as text, without its numbers (`scheduler.apicalls.conditions`): after a restart there is nothing else.
"""

from collections.abc import Hashable, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from api.constants import (
    REASON_INVALID,
    REASON_SCHEDULER_ERROR,
    REASON_SCHEDULING_GATED,
    REASON_SCHEDULING_TIMEOUT,
    REASON_UNSCHEDULABLE,
    REASON_WAITING_FOR_CLAIMS,
    REASON_WAITING_FOR_MEMBERS,
    REASON_WAITING_FOR_POD_GROUP,
)


class Code(StrEnum):
    """The codes of upstream that have a use here; `Wait` has none, for nobody waits in Permit.

    The last four are ours. Where upstream's PreEnqueue plugins answer UnschedulableAndUnresolvable and show it to nobody, ours
    say what is waited for; and giving up after a time has no counterpart.
    """

    SUCCESS = "Success"
    ERROR = "Error"
    """It cannot be decided, and no room can mend that."""
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    """The same, and nobody's leaving would help; here for upstream's sake: preemption finds out by itself."""
    SKIP = "Skip"
    """There was nothing to do."""
    PENDING = "Pending"
    """It could start, but waits a little for more members (annotation `desired-count`)."""
    WAITING_FOR_POD_GROUP = REASON_WAITING_FOR_POD_GROUP
    WAITING_FOR_MEMBERS = REASON_WAITING_FOR_MEMBERS
    SCHEDULING_GATED = REASON_SCHEDULING_GATED
    WAITING_FOR_CLAIMS = REASON_WAITING_FOR_CLAIMS
    """Of single pods, whose group may start without them."""
    INVALID = REASON_INVALID
    """Of trees of groups that can never be scheduled as they are."""
    TIMED_OUT = REASON_SCHEDULING_TIMEOUT


class Certainty(StrEnum):
    """How sure the refusal of a group is, or what was done to be sure."""

    COUNTED = "Counted"
    """Counting is enough: no placement puts enough of its pods on nodes."""
    PROVED = "ProvedImpossible"
    """All placements were searched; none is enough."""
    NOT_FOUND = "NotFoundWithinSteps"
    """The search for one ended with its budget."""
    NOT_SEARCHED = "NotSearched"
    """Only some orders of placing the pods one after the other were tried."""


_REASONS: Final = {
    Code.ERROR: REASON_SCHEDULER_ERROR,
    Code.UNSCHEDULABLE: REASON_UNSCHEDULABLE,
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: REASON_UNSCHEDULABLE,
    Code.PENDING: REASON_UNSCHEDULABLE,
}


class Status(msgspec.Struct, frozen=True):
    """The answer of a plugin about a node, or of a cycle or the queue about an item.

    Attributes:
        code: what it means.
        text: the reason in words, with `{}` for each of `args`; empty where `diagnosis` tells it.
        args: numbers, which may change without that being news, and names.
        plugin: upstream's name of the plugin that decided; empty when none did.
        diagnosis: what was found on the nodes.
        cause: the status that led to this one.
        post_filter: what came of looking for victims (upstream's PostFilterMsg); empty when nobody looked.
        is_group_error: with ERROR: the group itself is wrong, which from 1.38 on has a reason of its own.
    """

    code: Code
    text: str = ""
    args: tuple[int | str, ...] = ()
    plugin: str = ""
    diagnosis: "Diagnosis | PodGroupDiagnosis | None" = None
    cause: "Status | None" = None
    post_filter: str = ""
    is_group_error: bool = False

    @property
    def reason(self) -> str:
        """The reason of the condition that tells it, one of `api.constants`."""
        return _REASONS.get(self.code, self.code.value)

    @property
    def waits_for_claims(self) -> bool:
        """Whether a pod that this is about waits for a claim to be there; no node was asked."""
        found = self.diagnosis.pre_filter if isinstance(self.diagnosis, Diagnosis) else None
        return found is not None and found.code is Code.WAITING_FOR_CLAIMS

    @property
    def obstacles(self) -> Hashable:
        """Equal for two statuses that name the same obstacles, whatever the counts."""
        return (
            self.code,
            self.plugin,
            self.text,
            tuple(arg for arg in self.args if isinstance(arg, str)),
            self.diagnosis.obstacles if self.diagnosis is not None else None,
            self.cause.obstacles if self.cause is not None else None,
        )


class Diagnosis(msgspec.Struct, frozen=True):
    """Why no (further) pod of one kind fits: upstream's FitError with its Diagnosis.

    Attributes:
        nodes_total: all nodes of the cluster.
        nodes: upstream's NodeToStatus, counted: how many nodes were refused with each status.
        pre_filter: why it can run nowhere, whatever the nodes, which have then not been looked at.
        room_is_kept: some room was not looked at because it is reserved for other groups.
    """

    nodes_total: int
    nodes: Mapping[Status, int] = msgspec.field(default_factory=dict)
    pre_filter: Status | None = None
    room_is_kept: bool = False

    @property
    def obstacles(self) -> Hashable:
        """As for `Status`."""
        return (frozenset(self.nodes), self.pre_filter)


class PodGroupDiagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Why a group cannot start.

    Attributes:
        need: members that must have a place together, those included that do not exist yet.
        placed: members that would get a place.
        pending: members that wait for one.
        scheduled: members that have theirs already.
        to_come: members of `need` that do not exist yet.
        topology_key: the node label of which all must be inside one value; None without such a constraint.
        best_domain: the value of it where most of them fit.
        wider_key: a wider level that is required and too small already, empty without one.
        wider_most: of the pending members no more than this fit inside one domain of that.
        slice_size: members of a slice, 0 without slices.
        slice_key: the node label of which each slice must be inside one value.
        pod: why the first member without a place has none.
        certainty: whether a placement may exist that was not found.
        incomplete_reason: why one may exist; empty when there is none for certain.
        search_steps: how many steps the search for one took.
    """

    need: int
    placed: int
    pending: int
    scheduled: int
    to_come: int = 0
    topology_key: str | None = None
    best_domain: str = ""
    wider_key: str = ""
    wider_most: int = 0
    slice_size: int = 0
    slice_key: str = ""
    pod: Diagnosis
    certainty: Certainty = Certainty.COUNTED
    incomplete_reason: str = ""
    search_steps: int = 0

    @property
    def obstacles(self) -> Hashable:
        """As for `Status`."""
        return (
            self.topology_key,
            self.best_domain,
            self.wider_key,
            self.slice_key,
            self.pod.obstacles,
            self.certainty,
            self.incomplete_reason,
        )
