"""Which gangs may leave for nobody: those that ask for it, whose lost members were not replaced in the time that they allow.

What the scheduler says of a gang is not taken for a proof: since when members are missing is read from the pods.
"""

from dataclasses import dataclass, field
from typing import Final

from verify.auditor.changes import Change, GroupGone, PodBound, PodEnded, PodLeaves
from verify.auditor.history import History
from verify.auditor.model import Group, Pod

_SLACK_SECONDS: Final = 1.0
"""Conditions tell a moment in whole seconds."""


@dataclass
class Shortages:
    """Since when gangs that have started run without some of their members."""

    _since: dict[str, float] = field(default_factory=dict)
    """By UID of the group."""
    _asked: set[str] = field(default_factory=set)
    """Those that were asked to start anew since then."""

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
        since = self._since.get(group.uid)
        if group.restarts_after_seconds is None:
            return "it does not ask for that"
        if since is None:
            return "none of its members is missing"
        if now - since < group.restarts_after_seconds - _SLACK_SECONDS:
            return f"members are missing for {now - since:.0f} s, and {group.restarts_after_seconds:.0f} s are allowed"
        finished = [pod for pod in history.by_uid.values() if pod.group == group.key and pod.succeeded]
        begun = min((pod.bound_at for pod in history.members(group.key) if pod.node), default=now)
        return "members of it have succeeded" if any(pod.ended_at > begun for pod in finished) else ""

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
        if group is not None and pod.node and group.satisfied and len(_alive(group, history)) < group.minimum:
            self._since.setdefault(group.uid, when)

    def _placed(self, pod: Pod, history: History) -> None:
        group = history.groups.get(pod.group) if pod.group else None
        if group is None or group.uid not in self._since:
            return
        alive, since = _alive(group, history), self._since[group.uid]
        if len(alive) >= group.minimum or all(each.bound_at > since for each in alive):
            self._end(group)

    def _end(self, group: Group) -> None:
        self._since.pop(group.uid, None)
        self._asked.discard(group.uid)


def _alive(group: Group, history: History) -> list[Pod]:
    return [pod for pod in history.members(group.key) if pod.node and not pod.leaves]
