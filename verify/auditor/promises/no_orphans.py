"""I5: no orphan and no duplicate: what we made goes with its owner, and an owner has one Workload and one PodGroup.

Sees: Workloads and PodGroups that carry our mark, their controller's UID, deletions of Jobs, LeaderWorkerSets and leader pods.
Does not see: owners that were deleted before the first record, or whose kind the audit policy does not record with its answer.
"""

from collections.abc import Iterator
from typing import Any

from verify.auditor.changes import Change, OwnedMade
from verify.auditor.history import History
from verify.auditor.model import Key
from verify.auditor.promises.promise import Promise


class NoOrphans(Promise):
    """One of each, as long as its owner is there."""

    number = "I5"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._told: set[str] = set()

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Looks for others of the same owner when one was made."""
        if not isinstance(change, OwnedMade) or not change.owner:
            return
        # A JobSet has a group for each unit, and for each attempt while the former leaves.
        has_several = history.name_of(change.owner).startswith("jobsets/") and change.kind == "podgroups"
        for uid, (kind, where, owner) in history.owned.items():
            if uid != change.uid and (kind, owner) == (change.kind, change.owner) and not has_several:
                yield f"{kind} {_shown(change.key)} and {_shown(where)} belong to one owner {owner}"

    def close(self, now: float, history: History) -> Iterator[str]:
        """Objects whose owner went long ago."""
        for uid, (kind, key, owner) in history.owned.items():
            went = history.gone.get(owner)
            if went is not None and now - went > self.windows.orphan_seconds and uid not in self._told:
                self._told.add(uid)
                yield f"{kind} {_shown(key)} is still there {now - went:.0f} s after its owner {owner} was deleted"


def _shown(key: Key) -> str:
    return "/".join(key)
