"""What becomes of a plan: claimed, waited for, given up. One plan at a time per item, and never a second wave beside it.

Evictions per item are limited by pauses that double: two schedulers that undo each other's work would otherwise evict for days
(one pair did: 8,000 pods). A plan that is not possible any more (a more important item took the room, a node or the item itself
is gone) is given up, and whoever has not been asked to leave yet stays.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Final

import msgspec

from scheduler.cycle.gang_scheduling import gate, wanted
from scheduler.preemption.limits import Limits
from scheduler.preemption.plan import ONGOING, OVER_BUDGET, Plan, Refusal, found
from scheduler.preemption.recovery import nominated_items
from scheduler.preemption.search import search
from scheduler.preemption.situation import Violators
from scheduler.state.claims import Claim
from scheduler.state.cluster import ClusterState
from scheduler.state.demand import Demand
from scheduler.state.members import Members
from scheduler.state.records import ItemKey, PodRecord
from scheduler.state.steps import OverBudgetError

Search = Callable[..., Plan | Refusal]


class Verdict(msgspec.Struct, frozen=True):
    """What comes of looking at an item that found no place."""

    message: str
    result: str
    """For the metric: victims, none, waiting, paused."""
    plan: Plan | None = None
    claim: Claim | None = None
    given_up: tuple[Claim, ...] = ()
    """Claims that hold no room any more."""


class _Past(msgspec.Struct):
    plans: int = 0
    is_over_budget: bool = False
    """Nobody knows who would have to leave: finding out takes too long."""
    not_before_seconds: float = 0.0


class Campaigns:
    """The claims of all items and how often each has evicted."""

    def __init__(self, state: ClusterState, limits: Limits, search_with: Search = search) -> None:
        self._state: Final = state
        self._limits: Final = limits
        self._search: Final = search_with
        self._past: dict[ItemKey, _Past] = {}

    def look(self, key: ItemKey, now_seconds: float) -> Verdict:
        """The item has just been refused: who leaves for it, if anybody."""
        members = self._state.item(key)
        if members is None:
            return Verdict("", "none")
        claim = self._state.claims.of(key)
        staying = self._staying(claim) if claim else ()
        is_late = claim is not None and now_seconds >= claim.deadline_seconds
        if claim is not None and staying and self.obstacle(claim) is None and not is_late:
            return Verdict(_ongoing(claim), "waiting")
        past = self._past.setdefault(key, _Past())
        if now_seconds < past.not_before_seconds:
            lost = self._give_up(claim) if claim is not None and not staying else ()
            wait = past.not_before_seconds - now_seconds
            message = OVER_BUDGET if past.is_over_budget else f"waiting {wait:.0f} s before the next attempt to preempt"
            return Verdict(message, "paused", given_up=lost)
        self._state.claims.drop(key)
        # Those who still have time are leaving, also where a predecessor did not come to ask everybody.
        late = staying if is_late else ()
        answer = self._answer(members, past, now_seconds, overdue=late, is_nominated=claim is not None)
        if isinstance(answer, Refusal):
            if claim is not None and staying and self.obstacle(claim, is_current=False) is None:
                self._state.claims.restore(claim)
                return Verdict(_ongoing(claim), "waiting")
            lost = (claim,) if claim is not None else ()
            if answer.places:
                again = self._claim(key, members.priority, answer.places, frozenset(staying), now_seconds)
                return Verdict(answer.message, "waiting", claim=again, given_up=lost)
            return Verdict(answer.message, "waiting" if answer.waits else "none", given_up=lost)
        past.plans += 1
        past.not_before_seconds = now_seconds + self._limits.pause_seconds(past.plans)
        victims = frozenset(pod.uid for pod in answer.pods)
        made = self._claim(key, answer.priority, answer.places, victims, now_seconds)
        said = found(len(answer.pods), key.kind)
        return Verdict(said, "victims", plan=answer, claim=made, given_up=(claim,) if claim is not None else ())

    def restore(self, now_seconds: float, *, may_evict: bool = True) -> tuple[PodRecord, ...]:
        """After a restart: claims again what a predecessor nominated pods for; the pods that are nominated for nothing.

        All are when nobody may be evicted (any more).
        """
        stale: list[PodRecord] = []
        deadline = now_seconds + self._limits.victim_deadline_seconds
        for item in list(nominated_items(self._state)):
            stale += item.stale if may_evict else item.pods
            if item.places and may_evict:
                self._state.claims.put(item.key, item.priority, item.places, item.victims, deadline)
        return tuple(stale)

    def refused(self, key: ItemKey) -> Claim | None:
        """The item cannot be placed whoever leaves: it claims nothing any more."""
        return self._state.claims.drop(key)

    def _answer(
        self, members: Members, past: _Past, now_seconds: float, *, overdue: Collection[str], is_nominated: bool
    ) -> Plan | Refusal:
        past.is_over_budget = False
        try:
            with self._state.nodes.steps.limited("preemption"):
                return self._search(self._state, members, self._violators(), overdue=overdue, is_nominated=is_nominated)
        except OverBudgetError:
            past.is_over_budget = True
            past.not_before_seconds = now_seconds + self._limits.max_pause_seconds
            return Refusal(OVER_BUDGET)

    def started(self, key: ItemKey) -> Claim | None:
        """The item has its places: what it still claimed is free, and its past is forgotten."""
        claim = self._state.claims.of(key)
        members = self._state.item(key)
        if members is not None and members.pending_count:
            return None
        self._past.pop(key, None)
        if claim is not None:
            self._state.claims.drop(key)
        return claim

    def gone(self, key: ItemKey) -> Claim | None:
        """The key is no item any more."""
        self._past.pop(key, None)
        return self._state.claims.drop(key)

    def obstacle(self, claim: Claim, *, is_current: bool = True) -> str | None:
        """Why nobody may be asked to leave for this claim (any more), None when they may."""
        state = self._state
        members = state.item(claim.key)
        if members is None:
            return "the preemptor is gone"
        if is_current and state.claims.of(claim.key) is not claim:
            return "the plan was overtaken"
        if not self.is_wanted(claim):
            return "the preemptor does not need the room any more"
        pending = {uid for waiting in members.pending.values() for uid in waiting.uids}
        needs: dict[str, list[Demand]] = {}
        for uid, (node, demand) in claim.places.items():
            if uid in pending:
                needs.setdefault(node, []).append(demand)
        return next((text for node, demands in needs.items() if (text := self._lacks(claim, node, demands))), None)

    def is_wanted(self, claim: Claim) -> bool:
        """Whether enough pods wait for the room to start in it."""
        members = self._state.item(claim.key)
        if members is None or gate(members) is not None:
            return False
        pending = {uid for waiting in members.pending.values() for uid in waiting.uids}
        return len(claim.places.keys() & pending) >= wanted(members)

    def is_current(self, claim: Claim) -> bool:
        """Whether the claim stands: what may be asked before every single delete."""
        return self._state.claims.of(claim.key) is claim and self._state.item(claim.key) is not None

    # --- inside ------------------------------------------------------------------------------------------------------

    def _staying(self, claim: Claim) -> tuple[str, ...]:
        """Victims that still hold their room."""
        pods = ((uid, self._state.pod(uid)) for uid in claim.victims)
        return tuple(uid for uid, pod in pods if pod is not None and pod.is_bound and not pod.is_terminal)

    def _lacks(self, claim: Claim, node: str, demands: list[Demand]) -> str | None:
        nodes, residents = self._state.nodes, self._state.residents
        slot = nodes.slot_of.get(node)
        if slot is None:
            return f"node {node} is gone"
        free = nodes.free[:, slot].copy()
        for row in residents.rows_on(slot):
            pod = residents.pods[row]
            if pod is not None and (pod.terminating or pod.uid in claim.victims):
                free[: len(residents.amounts)] += residents.amounts[:, row]
        asked = set()
        for demand in demands:
            resolved = nodes.resolve(demand)
            free[resolved.rows] -= resolved.amounts
            asked.update(resolved.rows.tolist())
        short = [nodes.resources[row] for row in sorted(asked) if free[row] < 0]
        return f"the room on node {node} was taken ({', '.join(short)})" if short else None

    def _give_up(self, claim: Claim) -> tuple[Claim, ...]:
        self._state.claims.drop(claim.key)
        return (claim,)

    def _claim(
        self, key: ItemKey, priority: int, nodes: Iterable[tuple[str, str]], victims: frozenset[str], now_seconds: float
    ) -> Claim:
        places: dict[str, tuple[str, Demand]] = {}
        for uid, node in nodes:
            pod = self._state.pod(uid)
            if pod is not None:
                places[uid] = (node, pod.demand)
        deadline = now_seconds + self._limits.victim_deadline_seconds
        return self._state.claims.put(key, priority, places, victims, deadline)

    def _violators(self) -> Violators | None:
        budgets = self._state.budgets
        if not len(budgets):
            return None
        victims = (self._state.pod(uid) for uid in self._state.claims.victims())
        asked: list[PodRecord] = [pod for pod in victims if pod is not None and pod.is_bound and not pod.terminating]
        return lambda units: budgets.violators(units, asked)


def _ongoing(claim: Claim) -> str:
    """Said while victims leave: how many are to, for what is said first may be overtaken before anybody can read it."""
    return f"{found(len(claim.victims), claim.key.kind)}; {ONGOING}" if claim.victims else ONGOING
