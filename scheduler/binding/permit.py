"""Binds of later members wait until the minimum of their gang is certain (upstream: the extension point Permit).

A gang that has its minimum assumed is decided upon again for whoever comes later, and nothing says that the binds of the first
decision are sent first: they may wait for volumes or devices, or fail. So a bind that is ready to be sent is looked at once more:
with it and with what is bound for certain its group, and every level above that, must have its minimum. Where it has that only
with members whose binds are under way, it waits for these; where it has it no more, it is given back and goes through a cycle
again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scheduler.apicalls.dispatcher import Later
from scheduler.binding.binder import Bind, BindResults
from scheduler.cache.branch import Branch
from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import TreeState
from scheduler.cache.records import EntityKey

RECHECK_SECONDS: Final = 1.0
"""Besides whenever a bind of its item ends, what is held is looked at so often: members go, groups are made anew."""

_TOO_FEW: Final = "too few others of its gang can be bound"

Send = Callable[[Sequence[Bind], int], None]
"""Sends binds, and how many of them have to be possible."""


@dataclass(slots=True)
class _Waiting:
    """The binds of one item that wait for others of it, and how many of them have to be possible."""

    binds: list[Bind] = field(default_factory=list)
    need: int = 0
    has_waited: bool = False


class Permit:
    """Holds binds back, and hears how all binds end (`BindResults`).

    Args:
        state: the cluster as it is.
        results: told first how binds end.
        is_open: whether nobody knows yet how the bind of an assumed pod ends.
        send: sends binds.
        give_back: told of binds that are not sent, and why, as of any that failed.
        later: calls back after so many seconds.
        clock: monotonic seconds; the time of a bind that had to wait counts from when it is sent.
    """

    def __init__(
        self,
        state: ClusterState,
        results: BindResults,
        *,
        is_open: Callable[[str], bool],
        send: Send,
        give_back: Callable[[Bind, str], None],
        later: Later,
        clock: Callable[[], float],
    ) -> None:
        self._state: Final = state
        self._results: Final = results
        self._is_open: Final = is_open
        self._send: Final = send
        self._give_back: Final = give_back
        self._later: Final = later
        self._clock: Final = clock
        self._held: Final[dict[EntityKey, _Waiting]] = {}
        self._is_timed = False
        self.waiting = 0
        """Pods whose binds are held."""

    def submit(self, binds: Sequence[Bind], need: int) -> None:
        """Bind these as soon as it is certain that their gang starts.

        Args:
            binds: ready to be sent, all of one item.
            need: so many of them have to be possible.
        """
        if not binds:
            return
        key = self._state.queued_item_of(binds[0].uid)
        if key is None or key.kind == "pod":
            self._send(binds, need)
            return
        held = self._held.setdefault(key, _Waiting())
        held.binds += binds
        held.need += max(need, 0)
        self.waiting += len(binds)
        self._settle(key)
        held.has_waited = True
        self._keep_time()

    # --- how binds end -----------------------------------------------------------------------------------------------

    def obstacle(self, bind: Bind) -> str | None:
        """As the one it stands before."""
        return self._results.obstacle(bind)

    def bound(self, bind: Bind) -> None:
        """The server has the pod on the node."""
        self._results.bound(bind)
        self._settle(self._state.queued_item_of(bind.uid))

    def failed(self, bind: Bind, reason: str) -> None:
        """The pod is not on the node."""
        key = self._state.queued_item_of(bind.uid)
        self._results.failed(bind, reason)
        self._settle(key)

    def forbidden(self, bind: Bind, reason: str, message: str) -> None:
        """The server forbids the bind."""
        key = self._state.queued_item_of(bind.uid)
        self._results.forbidden(bind, reason, message)
        self._settle(key)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _settle(self, key: EntityKey | None) -> None:
        """Looks again at what is held of an item."""
        held = self._held.get(key) if key is not None else None
        if key is not None and held is not None:
            self._look(key, held)

    def _look(self, key: EntityKey, held: _Waiting) -> None:
        members = self._state.item(key)
        own = {bind.uid for bind in held.binds}
        short = list(self._short(members, own)) if members is not None else []
        if any(self._others_are_open(part, own) for part in short):
            return
        del self._held[key]
        self.waiting -= len(held.binds)
        if members is not None and not short:
            self._send(self._stamped(held.binds) if held.has_waited else held.binds, held.need)
            return
        for bind in held.binds:
            self._give_back(bind, _TOO_FEW)

    def _stamped(self, binds: Sequence[Bind]) -> list[Bind]:
        now = self._clock()
        return [replace(bind, since_seconds=now) for bind in binds]

    def _keep_time(self) -> None:
        if self._held and not self._is_timed:
            self._is_timed = True
            self._later(RECHECK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._is_timed = False
        for key in list(self._held):
            self._settle(key)
        self._keep_time()

    def _short(self, members: PodGroupState, own: set[str]) -> Iterator[list[PodGroupState]]:
        """What has not got its minimum for certain with these, each with the groups that could give it to it."""
        if not isinstance(members, TreeState):
            if not self._is_safe(members, own):
                yield [members]
        elif members.branch is not None:
            yield from self._short_below(members.branch, own)

    def _short_below(self, branch: Branch, own: set[str]) -> Iterator[list[PodGroupState]]:
        leaves = list(branch.all_leaves())
        if not any(_has(leaf, own) for leaf in leaves):
            return
        if not self._is_level_safe(branch, own):
            yield leaves
        yield from ([leaf] for leaf in branch.leaves if _has(leaf, own) and not self._is_safe(leaf, own))
        for below in branch.branches:
            yield from self._short_below(below, own)

    def _is_level_safe(self, branch: Branch, own: set[str]) -> bool:
        safe = sum(self._is_level_safe(below, own) for below in branch.branches)
        return safe + sum(self._is_safe(leaf, own) for leaf in branch.leaves) >= branch.record.min_group_count

    def _is_safe(self, members: PodGroupState, own: set[str]) -> bool:
        """Whether the group has its minimum with what is bound and these."""
        sure = members.count(MemberState.BOUND) + members.count(MemberState.SUCCEEDED)
        if sure < members.min_count:
            assumed = (pod.uid for pod in members.pods(MemberState.ASSUMED))
            sure += sum(uid in own or not self._is_open(uid) for uid in assumed)
        return sure >= members.min_count

    def _others_are_open(self, groups: Sequence[PodGroupState], own: set[str]) -> bool:
        assumed = (pod.uid for group in groups for pod in group.pods(MemberState.ASSUMED))
        return any(uid not in own and self._is_open(uid) for uid in assumed)


def _has(members: PodGroupState, own: set[str]) -> bool:
    return any(pod.uid in own for pod in members.pods(MemberState.ASSUMED))
