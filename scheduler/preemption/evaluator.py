"""What becomes of a candidate over time: nominated, waited for, given up. One per item, and never a second wave beside it.

Evictions per item are limited by pauses that double: two schedulers that undo each other's work would otherwise evict for days
(one pair did: 8,000 pods). A candidate that is not possible any more (a more important item took the room, a node or the item
itself is gone) is given up, and whoever has not been asked to leave yet stays.

After a restart it goes on with what a predecessor was about to do (`scheduler.preemption.nominated_items`).
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from api.backoff import exponential_backoff
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.devices.records import HeldDevice
from scheduler.cache.nominator import Nomination
from scheduler.cache.records import EntityKey, PodRecord
from scheduler.plugins.gang_scheduling import missing_count, pre_enqueue
from scheduler.preemption.context import Violators
from scheduler.preemption.dry_run import devices_on, dry_run_preemption
from scheduler.preemption.nominated_items import NominatedItem, nominated_items
from scheduler.preemption.result import PreemptionResult
from scheduler.preemption.victims import Candidate, KeptDevices, Refusal, RefusalCode


@dataclass(frozen=True, slots=True)
class PreemptionLimits:
    """How patient and how persistent preemption is. Times in seconds.

    Attributes:
        victim_deadline_seconds: a victim that has not gone by then is given up on; another candidate is looked for.
        initial_pause_seconds: shortest time between two candidates of one item; doubles with each that did not start it.
        max_pause_seconds: longest such time.
    """

    victim_deadline_seconds: float = 120.0
    initial_pause_seconds: float = 5.0
    max_pause_seconds: float = 600.0

    def pause_seconds(self, attempts: int) -> float:
        """The pause after so many candidates in a row."""
        return exponential_backoff(
            attempts, base_seconds=self.initial_pause_seconds, max_seconds=self.max_pause_seconds
        )


class PastAttempts(msgspec.Struct):
    """What is remembered of an item for which somebody was to leave."""

    attempts: int = 0
    is_over_budget: bool = False
    """Nobody knows who would have to leave: finding out takes too long."""
    not_before_seconds: float = 0.0


class Evaluator:
    """The nominations of all items and how often each has evicted.

    Args:
        state: the cluster. Of it only `nominator` is changed.
        limits: times.
    """

    def __init__(self, state: ClusterState, limits: PreemptionLimits) -> None:
        self._state: Final = state
        self._limits: Final = limits
        self._history: dict[EntityKey, PastAttempts] = {}

    def preempt(self, key: EntityKey, now_seconds: float) -> PreemptionResult:
        """Who leaves for an item that has just been refused, if anybody (upstream: Evaluator.Preempt).

        Its pods are nominated to the nodes that are cleared; an earlier nomination is withdrawn where it makes no sense any more.

        Args:
            key: the item.
            now_seconds: monotonic.
        """
        nominator = self._state.nominator
        members = self._state.item(key)
        if members is None:
            return PreemptionResult("none", refusal=Refusal(RefusalCode.ITEM_GONE))
        current = nominator.of(key)
        staying = self._staying(current) if current else ()
        is_late = current is not None and now_seconds >= current.deadline_seconds
        if current is not None and staying and self.obstacle(current) is None and not is_late:
            return PreemptionResult("waiting", refusal=_ongoing(current))
        given_up = (current,) if current is not None else ()
        history = self._history.setdefault(key, PastAttempts())
        if now_seconds < history.not_before_seconds:
            if not staying:
                nominator.withdraw(key)
            code = RefusalCode.OVER_BUDGET if history.is_over_budget else RefusalCode.PAUSED
            refusal = Refusal(code, pause_seconds=history.not_before_seconds - now_seconds)
            return PreemptionResult("paused", refusal=refusal, given_up=() if staying else given_up)
        nominator.withdraw(key)
        # Those who still have time are leaving, also where a predecessor did not come to ask everybody.
        overdue = frozenset(staying) if is_late else frozenset()
        found = dry_run_preemption(self._state, members, self._violators(), overdue, is_nominated=current is not None)
        history.is_over_budget = isinstance(found, Refusal) and found.code is RefusalCode.OVER_BUDGET
        if isinstance(found, Candidate):
            history.attempts += 1
            history.not_before_seconds = now_seconds + self._limits.pause_seconds(history.attempts)
            victims = frozenset(pod.uid for pod in found.pods)
            nomination = self._nominate(key, found.priority, found.places, victims, now_seconds, found.devices)
            return PreemptionResult("victims", candidate=found, nomination=nomination, given_up=given_up)
        if history.is_over_budget:
            history.not_before_seconds = now_seconds + self._limits.max_pause_seconds
        if current is not None and staying and self.obstacle(current, is_current=False) is None:
            nominator.restore(current)
            return PreemptionResult("waiting", refusal=_ongoing(current))
        again = None
        if found.places:
            again = self._nominate(key, members.priority, found.places, frozenset(staying), now_seconds, found.devices)
        return PreemptionResult(
            "waiting" if found.waits else "none", nomination=again, refusal=found, given_up=given_up
        )

    def restore(self, now_seconds: float, *, may_evict: bool = True) -> tuple[PodRecord, ...]:
        """After a restart: nominates again what a predecessor nominated.

        Args:
            now_seconds: monotonic.
            may_evict: whether anybody may be evicted; if not, nothing is nominated again.

        Returns:
            The pods whose nomination is to be cleared.
        """
        stale: list[PodRecord] = []
        deadline = now_seconds + self._limits.victim_deadline_seconds
        for item in list(nominated_items(self._state)):
            stale += item.stale if may_evict else item.pods
            if item.places and may_evict:
                self._state.nominator.nominate(
                    item.key, item.priority, item.places, item.victims, deadline, self._devices_on(item)
                )
        return tuple(stale)

    def awaited(self, key: EntityKey) -> tuple[str, ...]:
        """UIDs of the pods that hold the room yet to which the item's pods are nominated."""
        current = self._state.nominator.of(key)
        return self._staying(current) if current is not None else ()

    @property
    def history(self) -> dict[EntityKey, PastAttempts]:
        """What is remembered of items for which somebody was to leave."""
        return self._history

    def dry_run(self, key: EntityKey) -> Candidate | Refusal:
        """Who would leave for an item that finds no place, whatever it has tried before; nothing is changed by asking."""
        nominator, members = self._state.nominator, self._state.item(key)
        if members is None:
            return Refusal(RefusalCode.ITEM_GONE)
        own = nominator.withdraw(key)
        try:
            return dry_run_preemption(self._state, members, self._violators(), frozenset(), is_nominated=False)
        finally:
            if own is not None:
                nominator.restore(own)

    def unresolvable(self, key: EntityKey) -> Nomination | None:
        """The item cannot be placed whoever leaves: it is nominated no longer. Returns what is given up."""
        return self._state.nominator.withdraw(key)

    def started(self, key: EntityKey) -> Nomination | None:
        """The item has its places: what else it was nominated for is free, and its history is forgotten."""
        members = self._state.item(key)
        if members is not None and members.pending_count:
            return None
        return self.gone(key)

    def gone(self, key: EntityKey) -> Nomination | None:
        """The key is no item any more. Returns what is given up."""
        self._history.pop(key, None)
        return self._state.nominator.withdraw(key)

    def obstacle(
        self, nomination: Nomination, *, is_current: bool = True, gone: Collection[str] = frozenset()
    ) -> str | None:
        """Why nobody may be asked to leave for this nomination (any more), for the log; None when they may.

        Args:
            nomination: of an item.
            is_current: whether it must be the one that is in force.
            gone: UIDs of pods that are gone by the server's word, whatever the watch has shown.
        """
        members = self._state.item(nomination.key)
        if members is None:
            return "the preemptor is gone"
        if is_current and not self.is_current(nomination):
            return "the plan was overtaken"
        if not self.is_wanted(nomination, gone):
            return "the preemptor does not need the room any more"
        pending = {uid for waiting in members.pending.values() for uid in waiting.uids}
        needs: dict[str, list[Demand]] = {}
        for uid, (node, demand) in nomination.places.items():
            if uid in pending:
                needs.setdefault(node, []).append(demand)
        lacking = (text for node, demands in needs.items() if (text := self._lacks(nomination, node, demands)))
        return next(lacking, None) or self._lacks_devices(nomination)

    def is_wanted(self, nomination: Nomination, gone: Collection[str] = frozenset()) -> bool:
        """Whether enough pods wait for the room to start in it; `gone` as in `obstacle`."""
        members = self._state.item(nomination.key)
        if members is None or pre_enqueue(members) is not None:
            return False
        pending = {uid for waiting in members.pending.values() for uid in waiting.uids}
        return len((nomination.places.keys() & pending).difference(gone)) >= missing_count(members)

    def is_current(self, nomination: Nomination) -> bool:
        """Whether the nomination stands: what may be asked before every single delete."""
        return self._state.nominator.of(nomination.key) is nomination and self._state.item(nomination.key) is not None

    # --- inside ------------------------------------------------------------------------------------------------------

    def _violators(self) -> Violators | None:
        budgets = self._state.budgets
        if not len(budgets):
            return None
        victims = (self._state.pod(uid) for uid in self._state.nominator.victims())
        asked: list[PodRecord] = [pod for pod in victims if pod is not None and pod.is_bound and not pod.terminating]
        return lambda units: budgets.violators(units, asked)

    def _nominate(
        self,
        key: EntityKey,
        priority: int,
        places: Iterable[tuple[str, str]],
        victims: frozenset[str],
        now_seconds: float,
        devices: KeptDevices,
    ) -> Nomination:
        pods = ((self._state.pod(uid), node) for uid, node in places)
        demands = {pod.uid: (node, pod.demand) for pod, node in pods if pod is not None}
        deadline = now_seconds + self._limits.victim_deadline_seconds
        return self._state.nominator.nominate(key, priority, demands, victims, deadline, dict(devices))

    def _staying(self, nomination: Nomination) -> tuple[str, ...]:
        """UIDs of the victims that still hold their room, or devices that the item is waiting for."""
        has_reserved = self._state.devices.has_reserved
        if nomination.devices and self._groups_hold(nomination):
            return tuple(nomination.victims)
        return tuple(
            uid for uid in nomination.victims if self._holds_room(uid) or (nomination.devices and has_reserved(uid))
        )

    def _groups_hold(self, nomination: Nomination) -> bool:
        """Whether a claim that is reserved for a group has devices that the item is waiting for."""
        wanted = {one.id for devices in nomination.devices.values() for one in devices}
        return any(one.id in wanted for claim in self._state.devices.holding_for_groups() for one in claim.held)

    def _devices_on(self, item: "NominatedItem") -> dict[str, tuple[HeldDevice, ...]]:
        members = self._state.item(item.key)
        nominated = {uid: node for uid, (node, _) in item.places.items()}
        return dict(devices_on(self._state, members, nominated, item.victims)) if members is not None else {}

    def _holds_room(self, uid: str) -> bool:
        pod = self._state.pod(uid)
        return pod is not None and pod.is_bound and not pod.is_terminal

    def _lacks(self, nomination: Nomination, node: str, demands: list[Demand]) -> str | None:
        """What pods with these demands would lack on the node once the victims have left."""
        nodes, assigned_pods = self._state.nodes, self._state.assigned_pods
        slot = nodes.slot_of.get(node)
        if slot is None:
            return f"node {node} is gone"
        free = nodes.free[:, slot].copy()
        for row in assigned_pods.rows_on(slot):
            pod = assigned_pods.pods[row]
            if pod is not None and (pod.terminating or pod.uid in nomination.victims):
                free[: len(assigned_pods.amounts)] += assigned_pods.amounts[:, row]
        asked = set()
        for demand in demands:
            resolved = nodes.resolve(demand)
            free[resolved.rows] -= resolved.amounts
            asked.update(resolved.rows.tolist())
        short = [nodes.resources[row] for row in sorted(asked) if free[row] < 0]
        return f"the room on node {node} was taken ({', '.join(short)})" if short else None

    def _lacks_devices(self, nomination: Nomination) -> str | None:
        """Whether somebody else holds devices that the nomination counts on."""
        wanted = {held.id for kept in nomination.devices.values() for held in kept if not held.share_id}
        if not wanted:
            return None
        for claim in self._state.devices.holding():
            if any(held.id in wanted for held in claim.held) and not all(
                uid in nomination.victims or self._is_leaving(uid) or self._state.queued_item_of(uid) == nomination.key
                for uid in claim.reserved_for
            ):
                return "devices that it counts on were taken by claim {}/{}".format(*claim.key)
        return None

    def _is_leaving(self, uid: str) -> bool:
        pod = self._state.pod(uid)
        return pod is None or pod.is_terminal or pod.terminating


def _ongoing(nomination: Nomination) -> Refusal:
    return Refusal(RefusalCode.ONGOING, waits=True, victims=len(nomination.victims), kind=nomination.key.kind)
