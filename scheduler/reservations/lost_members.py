"""Room for the replacements of lost members, from the moment these are lost until the replacements have it.

A Job controller makes a replacement ten seconds and more after a pod failed. Until then the gang has nothing in the queue, and a
younger one would take the room: the gang would be stranded with the members that are left. So the places of replacements are
looked for at once, as for pods to come (`state.future_reservations`): where rules, topology and those that run allow, and as many
as there is room for; the others as room appears, before anybody else is tried. Nobody has to leave for it, and who is more
important may take it. Survivors stay where they are.

Nothing is kept for a gang of which nobody runs any more, nor for one that is leaving, nor for longer than it says. When that time
is over, a gang that asks for it leaves whole (`restart`), unless some of its members have finished their work.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from api.constants import RESTART
from scheduler.algorithm.cluster_view import ClusterView
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.records import EntityKey, GroupRecord, Phase, PodRecord, StateChange
from scheduler.cache.reservations import Reservation
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import ROOM_APPEARED
from scheduler.reservations.future_reservations import NOWHERE, Places

_REPLACEMENT: Final = "replacement/"
"""How the UID of a replacement begins that does not exist yet; no API server makes such UIDs."""

_REST: Final = 4.0
"""So many times as long as it took to look for places again nobody does so: all gangs together take a fifth of the time at most."""


def is_short(members: PodGroupState) -> bool:
    """Whether a gang is below its minimum while some of it runs; members that have succeeded count."""
    group = members.group
    if group is None or not group.is_gang or members.scheduled_count >= members.min_count:
        return False
    return members.count(MemberState.ASSUMED) + members.count(MemberState.BOUND) > 0


def is_leaving(group: GroupRecord) -> bool:
    """Whether the gang ends, makes room for somebody, or is about to start anew, as a predecessor may have asked it."""
    return group.terminating or bool(group.preempted_by) or group.is_restarting


def may_keep_room(group: GroupRecord) -> bool:
    """Whether room is kept for replacements in this group; one whose pods come later has room kept in another way."""
    return not (is_leaving(group) or group.min_resources or group.is_foreign) and group.when_degraded.policy != "report"


def places_of_replacements(state: ClusterState, members: PodGroupState) -> Places:
    """Where the replacements of missing members could go now, as many of them as there is room for; changes nothing."""
    replacements = dict(_replacements(state, members))
    if not replacements:
        return NOWHERE
    decision = decide(_WithReplacements(state, members, replacements).view, members.key)
    places: dict[str, Counter[Demand]] = {}
    for uid, node in decision.bindings:
        places.setdefault(node, Counter())[replacements[uid].demand] += 1
    return Places(places)


def _replacements(state: ClusterState, members: PodGroupState) -> Iterator[tuple[str, PodRecord]]:
    """By UID: as those that were lost last, or, where nobody remembers who was lost, as most of those that run."""
    missing = members.min_count - members.scheduled_count
    lost = list(state.losses.of(members.key).values())[-missing:]
    running = list(members.pods(MemberState.BOUND))
    usual = Counter((pod.demand, pod.rules) for pod in running).most_common(1)
    models = [pod for pod in running if usual and (pod.demand, pod.rules) == usual[0][0]][:1]
    for number, pod in enumerate(lost + models * (missing - len(lost))):
        signature = state.signature_of(pod)
        if signature is None or pod.claims is not None:
            # Devices are not kept for pods that do not exist.
            continue
        uid = f"{_REPLACEMENT}{members.key.uid}/{number}"
        yield (
            uid,
            msgspec.structs.replace(
                pod, uid=uid, node_name="", phase=Phase.ACTIVE, terminating=False, signature=signature, rules=None
            ),
        )


class _WithReplacements(ClusterView):
    """The cluster in which replacements of one group wait for a place."""

    def __init__(self, state: ClusterState, members: PodGroupState, replacements: dict[str, PodRecord]) -> None:
        super().__init__(state)
        self._replacements: Final = replacements
        self._members: Final = PodGroupState(members.key, members.is_assumed)
        self._members.lineage = members.lineage
        # As many as there is room for: each is a member less to wait for.
        self._members.group = (
            msgspec.structs.replace(members.group, min_count=members.scheduled_count + 1) if members.group else None
        )
        for pod in members.pods(MemberState.ASSUMED, MemberState.BOUND, MemberState.SUCCEEDED):
            self._members.put(pod)
        for pod in replacements.values():
            self._members.put(pod)

    def item(self, key: EntityKey) -> PodGroupState | None:
        """The members behind a key."""
        return self._members if key == self._members.key else self._state.item(key)

    def pod(self, uid: str) -> PodRecord | None:
        """A known pod, or a replacement."""
        return self._replacements.get(uid) or self._state.pod(uid)


Version = tuple[int, int, int, bytes]


class _Shortage:
    """What is remembered of a group that is short of members; times are monotonic."""

    __slots__ = ("deadline_seconds", "is_over", "tried_seconds", "tried_version")

    def __init__(self, deadline_seconds: float) -> None:
        self.deadline_seconds: Final = deadline_seconds
        self.is_over = False
        """The time for repairs has passed, and what follows from that is done."""
        self.tried_seconds = 0.0
        self.tried_version: Version | None = None
        """Places are looked for again when this is another one."""


class LostMembers:
    """Keeps room for lost members in `state.future_reservations`; belongs to the scheduling loop, which asks before each cycle.

    Args:
        state: the cluster as it is.
        clock: monotonic seconds.
        epoch: seconds since 1970.
        apply: takes what giving room back changes.
        restart: has a gang leave whole that could not be repaired.
        errors: where exceptions about single groups are noted.
    """

    def __init__(
        self,
        state: ClusterState,
        *,
        clock: Callable[[], float],
        epoch: Callable[[], float],
        apply: Callable[[StateChange], None],
        restart: Callable[[EntityKey], None],
        errors: ItemErrors | None = None,
    ) -> None:
        self._state: Final = state
        self._clock: Final = clock
        self._epoch: Final = epoch
        self._apply: Final = apply
        self._restart: Final = restart
        self._errors: Final = errors if errors is not None else ItemErrors()
        self._shortages: dict[EntityKey, _Shortage] = {}
        self._rests_until_seconds = 0.0

    def restore(self) -> None:
        """After a restart: gangs that run without some of their members have lost them, and nobody remembers which."""
        for members in self._state.entities.states():
            if is_short(members) and members.group is not None:
                self._state.losses.begin(members.key)
                deadline = self._deadline_seconds(members.group) - self._so_far_seconds(members, members.group)
                self._shortages[members.key] = _Shortage(deadline)

    def tick(self) -> None:
        """Keeps room where members are missing, and gives it back where they are not; cheap when nobody misses any."""
        losses = self._state.losses
        if not (losses or self._shortages):
            return
        for key in [key for key in self._shortages if key not in losses]:
            # Its group is gone.
            del self._shortages[key]
        # Who has not looked for places for the longest time does first, for not all may have their turn.
        for key in sorted(losses, key=self._tried_seconds):
            with self._errors.about(key, "repair"):
                self._review(key)

    def _review(self, key: EntityKey) -> None:
        members = self._state.item(key)
        if members is None or members.group is None or not is_short(members):
            self._end(key)
            return
        shortage = self._shortages.get(key)
        if shortage is None:
            shortage = self._shortages[key] = _Shortage(self._deadline_seconds(members.group))
        now = self._clock()
        if now >= shortage.deadline_seconds:
            self._give_up(members, members.group, shortage)
        elif not may_keep_room(members.group):
            self._release(key)
        elif shortage.tried_version is None:
            self._keep(members, shortage)
        elif now >= self._rests_until_seconds and shortage.tried_version != self._version(members):
            self._keep(members, shortage)
            ended = self._clock()
            self._rests_until_seconds = ended + _REST * (ended - now)

    def next_due_seconds(self) -> float | None:
        """Seconds until `tick` has something to do by the clock alone."""
        deadlines = [one.deadline_seconds for one in self._shortages.values() if not one.is_over]
        return max(min(deadlines) - self._clock(), 0.0) if deadlines else None

    def _give_up(self, members: PodGroupState, group: GroupRecord, shortage: _Shortage) -> None:
        if shortage.is_over:
            return
        shortage.is_over = True
        self._release(members.key)
        # What members have finished would have to be done again.
        is_finishing = members.count(MemberState.SUCCEEDED) > 0
        if group.when_degraded.policy == RESTART and not is_finishing and not is_leaving(group):
            self._restart(members.key)

    def _keep(self, members: PodGroupState, shortage: _Shortage) -> None:
        places = places_of_replacements(self._state, members)
        kept = self._state.future_reservations.of(members.key)
        if kept is not None and kept.demands == places.demands and kept.priority == members.priority:
            pass
        elif places:
            self._state.future_reservations.put(
                Reservation(members.key, members.priority, places.demands, shortage.deadline_seconds)
            )
        else:
            self._release(members.key)
        shortage.tried_seconds, shortage.tried_version = self._clock(), self._version(members)

    def _deadline_seconds(self, group: GroupRecord) -> float:
        """Monotonic, for a shortage that begins now."""
        return self._clock() + group.when_degraded.repair_seconds

    def _so_far_seconds(self, members: PodGroupState, group: GroupRecord) -> float:
        """How long a predecessor has seen members missing, if what it has said is about the pods that run now."""
        since = group.short_since_seconds
        is_about_these = any(pod.created_seconds <= since for pod in members.pods(MemberState.BOUND))
        return max(self._epoch() - since, 0.0) if since and is_about_these else 0.0

    def _tried_seconds(self, key: EntityKey) -> float:
        shortage = self._shortages.get(key)
        return shortage.tried_seconds if shortage is not None else 0.0

    def _version(self, members: PodGroupState) -> Version:
        """What its places depend on: room that appears anywhere, and room that is taken where some is kept."""
        nodes = self._state.nodes
        kept = self._state.future_reservations.of(members.key)
        slots = [nodes.slot_of[name] for name in kept.demands if name in nodes.slot_of] if kept is not None else []
        free = nodes.free[:, slots].tobytes()
        return (nodes.rule_changes.end, self._state.losses.version, members.scheduled_count, free)

    def _end(self, key: EntityKey) -> None:
        self._state.losses.forget(key)
        self._shortages.pop(key, None)
        self._release(key)

    def _release(self, key: EntityKey) -> None:
        members = self._state.item(key)
        if members is not None and members.group is not None and members.group.min_resources:
            # What is kept for it is kept for pods that it has announced.
            return
        kept = (
            self._state.future_reservations.drop(key) if self._state.future_reservations.of(key) is not None else None
        )
        if kept is not None and kept.demands:
            self._apply(ROOM_APPEARED)
