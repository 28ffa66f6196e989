"""Which gangs may leave for nobody: those that ask for it, whose lost members were not replaced in the time that they allow.

Those, too, that were begun and not completed in a minute, where their owner makes new pods; of a tree all below a level that was.

What the scheduler says of a gang is not taken for a proof: since when members are missing is read from the pods. A group of a tree
may leave with another one, where all below a CompositePodGroup above both leaves together.
"""

from dataclasses import dataclass, field
from typing import Final

from api.constants import CONDITION_SCHEDULED
from verify.auditor.changes import Change, GroupGone, PodBound, PodEnded, PodLeaves
from verify.auditor.history import History
from verify.auditor.levels import above, groups_below, is_satisfied
from verify.auditor.model import Composite, Group, Pod

_GIVEN_UP_SECONDS: Final = 60.0
"""So long a gang that has not started may be partly bound (the scheduler's `degraded_after_seconds`)."""

_SLACK_SECONDS: Final = 1.0
"""Conditions tell a moment in whole seconds."""


@dataclass
class Shortages:
    """Since when gangs run without some of their members, lost or never bound."""

    _since: dict[str, float] = field(default_factory=dict)
    """By UID of the group."""
    _asked: set[str] = field(default_factory=set)
    """Those that were asked to start anew since then."""
    _begun: dict[str, float] = field(default_factory=dict)
    """Since when pods below a level of a tree have places, by its UID; kept when it starts."""

    def see(self, change: Change, history: History) -> None:
        """Takes a change in; whoever leaves by it is judged before."""
        match change:
            case PodLeaves(pod, record):
                self._lost(pod, record.received, history)
            case PodEnded(pod, when):
                self._lost(pod, when, history)
            case PodBound(pod, _):
                self._placed(pod, history)
            case GroupGone(group, _):
                self._end(group)

    def asked(self, group: Group) -> bool:
        """Notes that a gang is asked to start anew; whether it was before, for the same loss."""
        was_asked = group.uid in self._asked
        self._asked.add(group.uid)
        return was_asked

    def why_not(self, group: Group, history: History, now: float) -> str:
        """Why a gang may not start anew at this moment; empty when it may."""
        level = next((each for each in reversed(above(group, history)) if not is_satisfied(each, history)), None)
        if level is not None and now - self._begun.get(level.uid, now) >= _GIVEN_UP_SECONDS - _SLACK_SECONDS:
            return _why_not_below(level, history, now)
        leaving = _leaving_with(group, history)
        reasons = [self._why_not_for(each, now) for each in leaving]
        if all(reasons):
            return reasons[0]
        return "members of it have succeeded" if any(_has_finished(each, history, now) for each in leaving) else ""

    def _why_not_for(self, group: Group, now: float) -> str:
        """Why nobody may leave because this gang is short of members; empty when somebody may."""
        since, allowed_seconds = self._since.get(group.uid), _allowed_seconds(group)
        if allowed_seconds is None:
            return "it does not ask for that"
        if since is None:
            return "none of its members is missing"
        if now - since < allowed_seconds - _SLACK_SECONDS:
            return f"members are missing for {now - since:.0f} s, and {allowed_seconds:.0f} s are allowed"
        return ""

    def why_not_deleted(self, victim: Pod, group: Group, history: History, now: float) -> str:
        """Why this pod may not be deleted so that its gang starts anew; empty when it may."""
        if group.is_made_by_us and history.name_of(group.owner).startswith(("jobs/", "jobsets/")):
            return "its Jobs are to be suspended for that"
        leader = history.by_uid.get(group.owner)
        if leader is not None and leader is not victim and not leader.leaves:
            return "its leader is to be deleted for that"
        return self.why_not(group, history, now)

    def _lost(self, pod: Pod, when: float, history: History) -> None:
        group = history.groups.get(pod.group) if pod.group else None
        for level in above(group, history) if group is not None else ():
            if not any(_alive(each, history) for each in groups_below(level, history)):
                self._begun.pop(level.uid, None)
        if group is not None and pod.node and group.satisfied and len(_alive(group, history)) < group.minimum:
            self._since.setdefault(group.uid, when)

    def _placed(self, pod: Pod, history: History) -> None:
        group = history.groups.get(pod.group) if pod.group else None
        if group is None:
            return
        for level in above(group, history):
            self._begun.setdefault(level.uid, pod.bound_at)
        alive, since = _alive(group, history), self._since.get(group.uid)
        if since is not None and (len(alive) >= group.minimum or all(each.bound_at > since for each in alive)):
            self._end(group)
        if not group.satisfied and len(alive) < group.minimum:
            self._since.setdefault(group.uid, pod.bound_at)

    def _end(self, group: Group) -> None:
        self._since.pop(group.uid, None)
        self._asked.discard(group.uid)


def _allowed_seconds(group: Group) -> float | None:
    """How long members may be missing before it leaves; None when it does not leave because of that."""
    # Who takes over from a scheduler that could not say any more that a gang has started does not know of it.
    has_started = group.satisfied and group.is_true(CONDITION_SCHEDULED)
    if has_started or not group.is_made_by_us:
        return group.restarts_after_seconds
    return None if group.is_only_reported else _GIVEN_UP_SECONDS


def _alive(group: Group, history: History) -> list[Pod]:
    return [pod for pod in history.members(group.key) if pod.node and not pod.leaves]


def _leaving_with(group: Group, history: History) -> list[Group]:
    """The group, and all others below the highest level above it that leaves whole."""
    whole = next((level for level in reversed(above(group, history)) if level.whole), None)
    if whole is None:
        return [group]
    others = (each for each in history.groups.values() if each is not group)
    return [group, *(each for each in others if whole in above(each, history))]


def _why_not_below(level: Composite, history: History, now: float) -> str:
    """Why the groups below a level that was begun too long ago may not leave; empty when they may."""
    running = [each for each in groups_below(level, history) if _alive(each, history)]
    if any(each.is_only_reported or not each.is_made_by_us for each in running):
        return "a group beside it does not ask for that"
    return "members of it have succeeded" if any(_has_finished(each, history, now) for each in running) else ""


def _has_finished(group: Group, history: History, now: float) -> bool:
    """Whether somebody has succeeded since those that run were bound."""
    finished = [pod for pod in history.by_uid.values() if pod.group == group.key and pod.succeeded]
    begun = min((pod.bound_at for pod in history.members(group.key) if pod.node), default=now)
    return any(pod.ended_at > begun for pod in finished)
