"""I13: every refusal has a true reason that a person can read.

Sees: gangs for our scheduler whose members are there and wait, and what their condition says. A gang that waits longer than
`reason_seconds`, while a scheduler holds the lease, must have a reason and a message. Of what is said these are compared with the
history: how many nodes there are, and whether members are missing. Does not see: whether each named obstacle stands in the way
(what `tutti why` finds is tried on a copy of the cluster, `tests/conformance/test_explain.py`), and clusters whose nodes were
made before the first record.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from api.constants import (
    CONDITION_SCHEDULED,
    REASON_WAITING_FOR_MEMBERS,
    SCHEDULER_NAME,
)
from verify.auditor.changes import Change, GroupTold, GroupWritten, NodesChanged, PodBound, PodCreated, PodEnded
from verify.auditor.history import History
from verify.auditor.model import Group, belongs
from verify.auditor.promises.promise import Promise

LEASE_SECONDS = 15.0
"""A lease that was not renewed for so long was held by nobody in between."""

MOST_NAMES = 10

NODES = re.compile(r"\d+/(\d+) nodes are available")
"""The counts by which upstream's message begins; nothing else is read from a sentence."""


class TrueReasons(Promise):
    """Who waits is told why, and it is so."""

    number = "I13"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._complete_since: dict[str, float] = {}
        self._counts: deque[tuple[float, int]] = deque([(0.0, 0)])
        self._told: set[str] = set()

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Follows counts; compares what a condition says with them."""
        match change:
            case NodesChanged(when):
                self._counts.append((when, len(history.nodes)))
            case PodCreated(pod, record) | PodBound(pod, record):
                self._follow(history.groups.get(pod.group) if pod.group else None, record.completed, history)
            case PodEnded(pod, when):
                self._follow(history.groups.get(pod.group) if pod.group else None, when, history)
            case GroupWritten(group, record):
                self._follow(group, record.completed, history)
            case GroupTold(group, record, written) if CONDITION_SCHEDULED in written:
                yield from self._compare(group, record.received, history)

    def close(self, now: float, history: History) -> Iterator[str]:
        """Gangs that wait without a word."""
        if now - _held_since(history, now) < self.windows.reason_seconds:
            return
        for group in history.groups.values():
            since = self._whole_since(group, history)
            if since is None or group.satisfied or group.bound or group.uid in self._told:
                continue
            said = group.conditions.get(CONDITION_SCHEDULED)
            has_reason = said is not None and bool(said.status and said.reason and said.message)
            if now - since > self.windows.reason_seconds and not has_reason:
                self._told.add(group.uid)
                yield f"gang {group.key} has waited {now - since:.0f} s and nothing says why"

    def _follow(self, group: Group | None, when: float, history: History) -> None:
        if group is None:
            return
        waiting = [pod for pod in history.members(group.key) if pod.is_ours and not pod.leaves and belongs(pod, group)]
        if group.is_gang and len(waiting) >= group.minimum:
            self._complete_since.setdefault(group.uid, when)
        else:
            self._complete_since.pop(group.uid, None)

    def _whole_since(self, group: Group, history: History) -> float | None:
        """Since when enough members are there; None also once its owner goes.

        Pods have their PodGroup as an owner, too: the garbage collector takes the Job off them before it deletes them.
        """
        return None if group.owner in history.gone else self._complete_since.get(group.uid)

    def _compare(self, group: Group, when: float, history: History) -> Iterator[str]:
        said = group.conditions[CONDITION_SCHEDULED]
        if said.status != "False":
            return
        if not said.reason or not said.message:
            yield f"gang {group.key} is refused without a reason or without words: {said}"
        since = self._whole_since(group, history)
        is_complete = since is not None and when - since > self.windows.known_late_seconds
        if said.reason == REASON_WAITING_FOR_MEMBERS and is_complete:
            yield f"gang {group.key} is said to wait for members, and {group.minimum} are there: {said.message}"
        told = {int(number) for number in NODES.findall(said.message)}
        known = self._counts_since(when - self.windows.known_late_seconds)
        if told and not told <= known:
            there = f"{len(history.nodes)} ({', '.join(sorted(history.nodes)[:MOST_NAMES])})"
            yield f"gang {group.key} is told of {sorted(told)} nodes, and there are {there}: {said.message}"

    def _counts_since(self, moment: float) -> set[int]:
        while len(self._counts) > 1 and self._counts[1][0] <= moment:
            self._counts.popleft()
        return {count for _, count in self._counts}


def _held_since(history: History, now: float) -> float:
    """Since when the scheduler's lease is held without a break; `now` when it is not.

    Whoever was killed, or gets no answers, is still named as its holder, and renews it no more.
    """
    writes = history.leases.get(SCHEDULER_NAME, [])
    since = now
    for write in reversed(writes):
        if not write.holder or write.holder != writes[-1].holder or since - write.completed > LEASE_SECONDS:
            break
        since = write.completed
    return since
