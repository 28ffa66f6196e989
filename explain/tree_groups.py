"""The groups of a tree, one by one: which have started, which would have room, which would not, and why."""

from collections.abc import Iterator
from typing import Final

from explain.answer import GroupAnswer, GroupState
from explain.trials import NoMoreTrials, Trials
from scheduler.algorithm.decision import Decision
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.plugins.gang_scheduling import pre_enqueue
from scheduler.plugins.messages import message
from scheduler.plugins.status import Status

MOST_GROUPS: Final = 200
"""Of one tree, that are told one by one."""

_NOT_BESIDE: Final = "there is room for it by itself, but not beside the groups before it"
_BY_ITSELF: Final = "there is room for it by itself"


def group_answers(trials: Trials, decision: Decision | None = None) -> tuple[GroupAnswer, ...]:
    """What there is to say of each group of a tree, in the order of the tree; empty for other items.

    Groups that ask for the same are decided upon once.

    Args:
        trials: about the tree.
        decision: what was decided of the tree; None where it is not tried.
    """
    tree = trials.members
    if not isinstance(tree, TreeState):
        return ()
    return tuple(_Groups(trials, tree, decision).answers())


class _Groups:
    def __init__(self, trials: Trials, tree: TreeState, decision: Decision | None) -> None:
        self._trials: Final = trials
        self._tree: Final = tree
        self._refusals: Final[dict[str, Status]] = {
            uid: status for uid, status in (decision.failures if decision else ()) if status is not None
        }
        self._placed: Final = frozenset(uid for uid, _ in (decision.bindings if decision else ()))
        self._known: Final[dict[object, str]] = {}

    def answers(self) -> Iterator[GroupAnswer]:
        """Level by level, the oldest first."""
        forest, key = self._trials.state.entities.forest, self._tree.key
        for number, leaf in enumerate(forest.leaves_below((key.namespace, key.name))):
            if number == MOST_GROUPS:
                return
            yield self._answer(leaf)

    def _answer(self, leaf: PodGroupState) -> GroupAnswer:
        state, text = self._told(leaf)
        counts = leaf.counts()
        group = leaf.group
        return GroupAnswer(
            name=leaf.key.name,
            parent=group.parent if group is not None else "",
            state=state,
            message=text,
            need=leaf.min_count,
            pending=counts.pending + counts.gated,
            scheduled=leaf.scheduled_count,
        )

    def _told(self, leaf: PodGroupState) -> tuple[GroupState, str]:
        if leaf.scheduled_count >= leaf.min_count:
            return GroupState.STARTED, ""
        gate = pre_enqueue(leaf)
        if gate is not None:
            return GroupState.INCOMPLETE, message(gate)
        uids = [uid for waiting in leaf.pending.values() for uid in waiting.uids]
        if any(uid in self._placed for uid in uids):
            return GroupState.FITS, ""
        if self._placed:
            return GroupState.WAITS, self._alone(leaf) or _NOT_BESIDE
        refusal = next((self._refusals[uid] for uid in uids if uid in self._refusals), None)
        alone = self._alone(leaf)
        if alone:
            return GroupState.WAITS, alone
        if refusal is not None:
            return GroupState.WAITS, f"{_NOT_BESIDE}: {message(refusal)}"
        return GroupState.FITS, _BY_ITSELF

    def _alone(self, leaf: PodGroupState) -> str:
        """Why it would not start if it were in no tree; empty when it would, or when that is not found out any more."""
        alike = (
            tuple(sorted((id(signature), len(waiting)) for signature, waiting in leaf.pending.items())),
            leaf.min_count,
            leaf.scheduled_count,
            leaf.group.topology if leaf.group is not None else None,
        )
        if alike not in self._known:
            try:
                decision = self._trials.decide_alone(leaf.key)
            except NoMoreTrials:
                return ""
            self._known[alike] = "" if decision.result == "scheduled" else message(decision.status)
        return self._known[alike]
