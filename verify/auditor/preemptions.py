"""Who was evicted for whom: joined from nominations, deletes by our scheduler, groups that were asked to leave, and events.

A plan begins with the first nomination that an item writes (nominations come before the first delete) and ends when the item
has started and each member that was nominated has its place, when the item is gone, or when it is nominated anew after somebody
left for it. A group that has started with its minimum still wants the room of its other members: the last victims may be asked to
leave after the first members were bound. A delete is put to the plan whose item is nominated to the victim's node, or to one of
its whole group's; the event `Preempted`, which comes later and names both, decides where several plans could be meant. The rest of
a group that leaves whole goes for whom its first member went, even when that one has started.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from api.constants import CONDITION_DISRUPTION_TARGET, CONDITION_PREEMPTED_BY, EVENT_PREEMPTED
from verify.auditor.audit_log import Record
from verify.auditor.changes import (
    Answered,
    Change,
    GroupGone,
    GroupTold,
    PodBound,
    PodEnded,
    PodLeaves,
    PodNominated,
)
from verify.auditor.history import History
from verify.auditor.identities import SCHEDULER_USER
from verify.auditor.model import Group, Pod
from verify.auditor.windows import Windows

ANSWERED_SECONDS = 120.0
"""Every request is answered by then."""
UNDER_WAY_SECONDS = 3.0
"""So long a delete may be on its way: the proxy holds requests back for up to two seconds."""

Item = str
"""UID of a group, or of a lone pod."""


@dataclass(slots=True)
class Plan:
    """An item that wants room, and who left for it.

    Attributes:
        group: None for a lone pod.
        began: when its first nomination arrived.
        places: node by UID of a nominated pod.
        victims: pods whose deletion our scheduler asked for, by UID.
        asked: groups that were asked to leave otherwise, with the moment.
        is_shared: another plan might have been meant for some of the victims.
    """

    item: Item
    group: Group | None
    began: float
    places: dict[str, str] = field(default_factory=dict)
    victims: dict[str, Pod] = field(default_factory=dict)
    asked: list[tuple[Group, float]] = field(default_factory=list)
    is_shared: bool = False

    def left(self, history: History) -> list[Pod]:
        """Everybody who left for it, those of groups that were asked included."""
        of_groups = [
            pod
            for group, when in self.asked
            for pod in history.by_uid.values()
            if pod.group == group.key and pod.node and pod.bound_at <= when <= max(pod.left_at, pod.ended_at)
        ]
        return [*self.victims.values(), *(pod for pod in of_groups if pod.uid not in self.victims)]


@dataclass(frozen=True, slots=True)
class Eviction:
    """A pod was asked to leave for one of these plans; for none when nobody was nominated who may evict it."""

    victim: Pod
    plans: tuple[Plan, ...]
    record: Record


@dataclass(frozen=True, slots=True)
class Concluded:
    """A plan has come to its end: its item has started, or does not want the room any more."""

    plan: Plan
    when: float
    is_started: bool


@dataclass
class Preemptions:
    """The plans that are open."""

    windows: Windows
    open: dict[Item, Plan] = field(default_factory=dict)
    _begun: dict[str, tuple[Plan, ...]] = field(default_factory=dict)
    """For whom a group that leaves whole began to leave, by the UIDs of its members: the last of them may outlive the group."""
    _past: list[tuple[Plan, float]] = field(default_factory=list)
    """Plans that came to their end not long ago, with the moment at which our scheduler must have known: a delete that arrived
    before that is for them, and may be answered after it."""

    def see(self, change: Change, history: History) -> Iterator[Eviction | Concluded]:
        """Takes a change in; what it means for preemptions."""
        match change:
            case PodNominated(pod, when):
                yield from self._nominated(pod, when, history)
            case PodLeaves(pod, record) if record.user == SCHEDULER_USER:
                yield self._evicted(pod, record, history)
            case GroupTold(group, record, written) if CONDITION_DISRUPTION_TARGET in written:
                self._asked(group, record)
            case PodBound(pod, record):
                yield from self._bound(pod, record, history)
            case PodEnded(pod, when):
                yield from self._ended(pod, when, history)
            case GroupGone(group, when):
                yield from self._conclude(
                    self.open.get(group.uid), when, is_started=False, heard_seconds=self._heard_seconds
                )
            case Answered(record) if record.resource == "events" and record.user == SCHEDULER_USER:
                self._told(record)

    def _nominated(self, pod: Pod, when: float, history: History) -> Iterator[Concluded]:
        group = group_of(pod, history)
        item = group.uid if group else pod.uid
        plan = self.open.get(item)
        if not pod.nominated:
            if plan is not None and pod.uid in plan.places:
                yield from self._wants_no_more(plan, pod, when, history)
            return
        if plan is not None and plan.victims and plan.places.get(pod.uid, pod.nominated) != pod.nominated:
            yield from self._conclude(plan, when, is_started=False)
            plan = None
        if pod.ended:
            # It went while this was written.
            return
        if plan is None:
            plan = self.open[item] = Plan(item, group, when)
        plan.places[pod.uid] = pod.nominated

    def _evicted(self, victim: Pod, record: Record, history: History) -> Eviction:
        begun = self._begun.get(victim.uid, ())
        if begun:
            for plan in begun:
                plan.victims[victim.uid] = victim
            return Eviction(victim, begun, record)
        group = group_of(victim, history)
        nodes, members = {victim.node}, [victim]
        if group is not None and group.whole:
            members = history.members(group.key)
            nodes |= {pod.node for pod in members}
        # What comes to pass after the mark was answered finds the delete under way.
        is_under_way = record.received - victim.marked_at <= UNDER_WAY_SECONDS
        asked_at = victim.marked_at if is_under_way else record.received
        stood = [*self.open.values(), *(plan for plan, when in self._past if when > asked_at)]
        more_important = [plan for plan in stood if priority_of(plan, history) > priority_of_victim(victim, group)]
        # A victim need not be on a node that is cleared: it may stand against the preemptor by a rule about other pods.
        plans = [plan for plan in more_important if nodes & set(plan.places.values())] or more_important
        for plan in plans:
            plan.victims[victim.uid] = victim
            plan.is_shared |= len(plans) > 1
        if group is not None and group.whole and plans:
            self._begun.update((pod.uid, tuple(plans)) for pod in members)
        return Eviction(victim, tuple(plans), record)

    def _asked(self, group: Group, record: Record) -> None:
        said = group.conditions.get(CONDITION_PREEMPTED_BY)
        if not group.is_true(CONDITION_DISRUPTION_TARGET) or said is None:
            return
        plan = self.open.get(said.message.rpartition("/")[2])
        if plan is not None and all(each is not group for each, _ in plan.asked):
            plan.asked.append((group, record.completed))

    def _told(self, record: Record) -> None:
        event = record.request
        if event.get("reason") != EVENT_PREEMPTED:
            return
        victim, preemptor = (event.get(part, {}).get("uid", "") for part in ("regarding", "related"))
        if preemptor in self.open and victim in self.open[preemptor].victims:
            for item, plan in self.open.items():
                if item != preemptor:
                    plan.victims.pop(victim, None)

    def _bound(self, pod: Pod, record: Record, history: History) -> Iterator[Concluded]:
        group = group_of(pod, history)
        plan = self.open.get(group.uid if group else pod.uid)
        # A member that is bound anew leaves for somebody else, if ever.
        self._begun.pop(pod.uid, None)
        if plan is not None:
            yield from self._conclude_if_over(plan, record.completed, history)

    def _ended(self, pod: Pod, when: float, history: History) -> Iterator[Concluded]:
        self._begun.pop(pod.uid, None)
        group = group_of(pod, history)
        plan = self.open.get(group.uid if group else pod.uid)
        if plan is None or pod.uid not in plan.places:
            return
        yield from self._wants_no_more(plan, pod, when, history, heard_seconds=self._heard_seconds)

    @property
    def _heard_seconds(self) -> float:
        """How much later our scheduler hears of what a user did."""
        return self.windows.foreign_race_seconds

    def _wants_no_more(
        self, plan: Plan, pod: Pod, when: float, history: History, *, heard_seconds: float = 0.0
    ) -> Iterator[Concluded]:
        if not plan.victims and not plan.asked:
            # Otherwise some of them may have left for it.
            del plan.places[pod.uid]
        yield from self._conclude_if_over(plan, when, history, heard_seconds=heard_seconds)

    def _conclude_if_over(
        self, plan: Plan, when: float, history: History, *, heard_seconds: float = 0.0
    ) -> Iterator[Concluded]:
        nominees = [history.by_uid[uid] for uid in plan.places if uid in history.by_uid]
        wanting = [pod for pod in nominees if not pod.ended and (pod.node or pod.nominated)]
        if not wanting:
            yield from self._conclude(plan, when, is_started=False, heard_seconds=heard_seconds)
        elif all(pod.node for pod in wanting) and (plan.group is None or plan.group.satisfied):
            yield from self._conclude(plan, when, is_started=True, heard_seconds=heard_seconds)

    def _conclude(
        self, plan: Plan | None, when: float, *, is_started: bool, heard_seconds: float = 0.0
    ) -> Iterator[Concluded]:
        if plan is not None:
            self.open.pop(plan.item, None)
            recent = ((each, at) for each, at in self._past if at > when - ANSWERED_SECONDS)
            self._past = [*recent, (plan, when + heard_seconds)]
            yield Concluded(plan, when, is_started)


def group_of(pod: Pod, history: History) -> Group | None:
    """The group that a pod names, when it is there."""
    return history.groups.get(pod.group) if pod.group else None


def priority_of(plan: Plan, history: History) -> int:
    """The priority of who wants the room."""
    if plan.group is not None and plan.group.priority is not None:
        return plan.group.priority
    # A lone pod that has gone has no place any more, and is what others may still leave for.
    pods = (history.by_uid.get(uid) for uid in (*plan.places, plan.item))
    return max((pod.priority for pod in pods if pod is not None), default=0)


def priority_of_victim(victim: Pod, group: Group | None) -> int:
    """The lowest priority that may count for who leaves: a group may state a higher one for this, never a lower one."""
    return group.priority if group is not None and group.priority is not None else victim.priority
