"""I5: no orphan and no duplicate: what we made goes with its owner, and an owner has one Workload and one PodGroup.

Sees: Workloads and PodGroups that carry our mark, their controller's UID, deletions of Jobs, LeaderWorkerSets and leader pods.
Does not see: owners that were deleted before the first record, or whose kind the audit policy does not record with its answer.
"""

from collections.abc import Iterator
from typing import Any

from verify.auditor.changes import Answered, Change
from verify.auditor.history import History
from verify.auditor.model import Key
from verify.auditor.promises.promise import Promise


class NoOrphans(Promise):
    """One of each, as long as its owner is there."""

    number = "I5"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._told: set[str] = set()
        self._seen: set[str] = set()

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Looks for others of the same owner when one was made."""
        if not isinstance(change, Answered) or change.record.resource not in {"workloads", "podgroups"}:
            return
        for uid, (kind, key, owner) in history.owned.items():
            if uid in self._seen:
                continue
            self._seen.add(uid)
            others = [
                (each, where)
                for each, (also, where, theirs) in history.owned.items()
                if each != uid and owner and (also, theirs) == (kind, owner)
            ]
            for _, where in others:
                yield f"{kind} {_shown(key)} and {_shown(where)} belong to one owner {owner}"

    def close(self, now: float, history: History) -> Iterator[str]:
        """Objects whose owner went long ago."""
        for uid, (kind, key, owner) in history.owned.items():
            went = history.gone.get(owner)
            if went is not None and now - went > self.windows.orphan_seconds and uid not in self._told:
                self._told.add(uid)
                yield f"{kind} {_shown(key)} is still there {now - went:.0f} s after its owner {owner} was deleted"


def _shown(key: Key) -> str:
    return "/".join(key)
