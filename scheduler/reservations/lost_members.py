"""Room for the replacements of lost members, from the moment these are lost until the replacements have it.

A Job controller makes a replacement ten seconds and more after a pod failed. Until then the gang has nothing in the queue, and a
younger one would take the room: the gang would be stranded with the members that are left. So the places of replacements are
looked for at once, as for pods to come (`state.future_reservations`): where rules, topology and those that run allow, and as many
as there is room for; the others as room appears, before anybody else is tried. Nobody has to leave for it, and who is more
important may take it. Survivors stay where they are.

The replacements for all groups of a tree are looked for at once, for it is the tree that is scheduled, and whose room is kept.

Nothing is kept for a gang of which nobody runs any more, nor for one that is leaving, nor for longer than it says. When that time
is over, a gang that asks for it leaves whole (`restart`), unless some of its members have finished their work. With a group
of a tree leaves what leaves with it in a preemption, too: all below the highest CompositePodGroup above it that leaves whole.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from api.constants import RESTART
from scheduler.algorithm.cluster_view import ClusterView
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.branch import Branch
from scheduler.cache.cluster import ClusterState
from scheduler.cache.demand import Demand
from scheduler.cache.pod_group_state import MemberState, PodGroupState
from scheduler.cache.pod_group_tree import FixedTree, TreeState, queued_item
from scheduler.cache.ranks import rank_of, with_rank
from scheduler.cache.records import EntityKey, GroupRecord, Phase, PodRecord, StateChange
from scheduler.cache.reservations import Reservation
from scheduler.queue.item_errors import ItemErrors
from scheduler.queue.scheduling_queue import ROOM_APPEARED
from scheduler.reservations.future_reservations import NOWHERE, Places
from scheduler.reservations.rest import Rest

_REPLACEMENT: Final = "replacement/"
"""How the UID of a replacement begins that does not exist yet; no API server makes such UIDs."""


def is_short(members: PodGroupState) -> bool:
    """Whether a gang is below its minimum while some of it runs; members that have succeeded count."""
    group = members.group
    if group is None or not group.is_gang or members.scheduled_count >= members.min_count:
        return False
    return members.count(MemberState.ASSUMED) + members.count(MemberState.BOUND) > 0


def may_keep_room(group: GroupRecord) -> bool:
    """Whether room is kept for replacements in this group; one whose pods come later has room kept in another way."""
    if group.is_leaving or group.min_resources or group.is_foreign or group.is_left_behind:
        return False
    return group.when_degraded.policy != "report"


def places_of_replacements(state: ClusterState, item: PodGroupState, short: Sequence[PodGroupState] = ()) -> Places:
    """Where the replacements of missing members could go now, as many of them as there is room for; changes nothing.

    Args:
        state: the cluster.
        item: a group, or a tree.
        short: groups of the tree to which members are missing.
    """
    replacements = dict(itertools.chain.from_iterable(_replacements(state, members) for members in short or (item,)))
    if not replacements:
        return NOWHERE
    return places_in(ClusterWithReplacements(state, item, replacements), item.key, replacements)


def places_in(cluster: ClusterView, key: EntityKey, replacements: Mapping[str, PodRecord]) -> Places:
    """Where the pods that wait in this cluster would go, by the one decision that would place them."""
    places: dict[str, Counter[Demand]] = {}
    for uid, node in decide(cluster.view, key).bindings:
        places.setdefault(node, Counter())[replacements[uid].demand] += 1
    return Places(places)


def _replacements(state: ClusterState, members: PodGroupState) -> Iterator[tuple[str, PodRecord]]:
    """By UID: as those that were lost last, or, where nobody remembers who was lost, as most of those that run."""
    missing = members.min_count - members.scheduled_count
    lost = list(state.losses.of(members.key).values())[-missing:]
    running = list(members.pods(MemberState.BOUND))
    usual = Counter((pod.demand, pod.rules) for pod in running).most_common(1)
    models = [pod for pod in running if usual and (pod.demand, pod.rules) == usual[0][0]][:1]
    unknown = [
        with_rank(pod, rank) for pod in models for rank in _ranks_without_pod(pod, running + lost, missing - len(lost))
    ]
    for number, pod in enumerate(lost + unknown):
        yield from replacement_of(state, pod, f"{members.key.uid}/{number}")


def _ranks_without_pod(model: PodRecord, others: list[PodRecord], count: int) -> Iterator[int]:
    """So many ranks beside a pod that none of the others has, lowest first."""
    series = rank_of(model).series
    taken = {rank.number for rank in map(rank_of, others) if rank.series == series}
    return itertools.islice((number for number in itertools.count() if number not in taken), count)


def replacement_of(state: ClusterState, pod: PodRecord, name: str) -> Iterator[tuple[str, PodRecord]]:
    """A pod that does not exist and asks for what this member asks for, by UID; nothing where that is not known."""
    signature = pod.signature or state.signature_of(pod)
    if signature is None or pod.claims is not None:
        # Devices are not kept for pods that do not exist.
        return
    uid = f"{_REPLACEMENT}{name}"
    yield (
        uid,
        msgspec.structs.replace(
            pod, uid=uid, node_name="", phase=Phase.ACTIVE, terminating=False, signature=signature, rules=None
        ),
    )


class ClusterWithReplacements(ClusterView):
    """The cluster in which pods that do not exist wait for a place in a group, as many of them as there is room for.

    Args:
        state: the cluster as it is.
        members: the group, or the tree of their groups.
        replacements: by UID.
    """

    def __init__(self, state: ClusterState, members: PodGroupState, replacements: dict[str, PodRecord]) -> None:
        super().__init__(state)
        self._replacements: Final = replacements
        # As many as there is room for: each is a member less to wait for.
        self._members: Final[PodGroupState] = (
            FixedTree(members, partial(_satisfied, replacements=replacements))
            if isinstance(members, TreeState)
            else _with_replacements(members, replacements, members.scheduled_count + 1)
        )

    def item(self, key: EntityKey) -> PodGroupState | None:
        """The members behind a key."""
        return self._members if key == self._members.key else self._state.item(key)

    def pod(self, uid: str) -> PodRecord | None:
        """A known pod, or a replacement."""
        return self._replacements.get(uid) or self._state.pod(uid)


def _with_replacements(members: PodGroupState, replacements: Mapping[str, PodRecord], min_count: int) -> PodGroupState:
    made = PodGroupState(members.key, members.is_assumed)
    made.lineage = members.lineage
    made.group = msgspec.structs.replace(members.group, min_count=min_count) if members.group else None
    for pod in members.pods(MemberState.ASSUMED, MemberState.BOUND, MemberState.SUCCEEDED):
        made.put(pod)
    for pod in replacements.values():
        made.put(pod)
    return made


def _satisfied(branch: Branch, replacements: Mapping[str, PodRecord]) -> Branch:
    """What is below a root, with no level lacking anything, and nobody waiting but replacements."""
    leaves = []
    for leaf in branch.leaves:
        own = {uid: pod for uid, pod in replacements.items() if pod.group == leaf.key.name}
        leaves.append(_with_replacements(leaf, own, leaf.scheduled_count))
    record = msgspec.structs.replace(branch.record, min_group_count=0)
    return Branch(record, [_satisfied(one, replacements) for one in branch.branches], leaves)


Version = tuple[int, int, int, bytes]


class _Shortage:
    """What is remembered of a group that is short of members; times are monotonic."""

    __slots__ = ("deadline_seconds", "is_over", "tree", "tried_seconds", "tried_version")

    def __init__(self, deadline_seconds: float) -> None:
        self.deadline_seconds: Final = deadline_seconds
        self.tree: EntityKey | None = None
        """The tree whose room is kept for it too, None for a group without a tree."""
        self.is_over = False
        """The time for repairs has passed, or the group leaves with its tree: what follows from that is done."""
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
        restart: has a gang leave that could not be repaired, with all that leaves with it.
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
        self._rest: Final = Rest(clock)

    def restore(self) -> None:
        """After a restart: gangs that run without some of their members have lost them, and nobody remembers which."""
        for members in self._state.entities.states():
            if is_short(members) and members.group is not None:
                self._state.losses.begin(members.key)
                deadline = self._deadline_seconds(members.group) - self._so_far_seconds(members, members.group)
                self._shortages[members.key] = _Shortage(deadline)

    def tick(self) -> None:
        """Keeps room where members are missing, and gives it back where they are not; cheap when nobody misses any.

        Who has lost members just now is looked at before anybody else is tried, the others as often as time allows.
        """
        self._rest.is_behind = False
        losses = self._state.losses
        if not (losses or self._shortages):
            return
        self._review_all([key for key in losses if key not in self._shortages])
        if not self._rest.is_over():
            return
        with self._rest.counted():
            for key in [key for key in self._shortages if key not in losses]:
                # Its group is gone.
                if self._shortages[key].tree is not None:
                    self._release(key)
                del self._shortages[key]
            # Who has not looked for places for the longest time does first, for not all may have their turn.
            self._review_all(sorted(losses, key=self._tried_seconds))

    def _review_all(self, keys: Iterable[EntityKey]) -> None:
        for key in keys:
            with self._errors.about(key, "repair"):
                self._review(key)

    def _review(self, key: EntityKey) -> None:
        members = self._state.item(key)
        if members is None or members.group is None or not is_short(members):
            self._end(key)
            return
        shortage = self._shortage(members, members.group)
        item = self._item(members)
        now = self._clock()
        if shortage.is_over or now >= shortage.deadline_seconds:
            self._give_up(members, members.group, shortage, has_root=item is not None)
        elif not may_keep_room(members.group):
            self._release(key)
        elif item is None:
            # Its tree has lost its root.
            pass
        elif shortage.tried_version is None or (shortage.tried_version != self._version(item) and self._rest.is_over()):
            self._keep(item)

    def next_due_seconds(self) -> float | None:
        """Seconds until `tick` has something to do by the clock alone, or looks at what it had no time for."""
        deadlines = [one.deadline_seconds for one in self._shortages.values() if not one.is_over]
        return self._rest.due_seconds(max(min(deadlines) - self._clock(), 0.0) if deadlines else None)

    def _give_up(self, members: PodGroupState, group: GroupRecord, shortage: _Shortage, *, has_root: bool) -> None:
        if shortage.is_over:
            return
        shortage.is_over = True
        self._release(members.key)
        # Without its root nothing of a tree would start again.
        if group.when_degraded.policy == RESTART and not group.is_leaving and has_root:
            self._start_anew(members)

    def _start_anew(self, members: PodGroupState) -> None:
        _, leaving = self._state.entities.leaving_with(members)
        # What members have finished would have to be done again.
        if any(each.count(MemberState.SUCCEEDED) for each in leaving):
            return
        # Nobody makes anew what an owner has left behind.
        if any(each.group and each.group.is_left_behind for each in leaving):
            return
        also_short = [each.key for each in leaving if each.key in self._shortages]
        for key in also_short:
            self._shortages[key].is_over = True
        for key in also_short:
            self._release(key)
        self._restart(members.key)

    def _keep(self, item: PodGroupState) -> None:
        """Looks for places for all groups of the item that miss members."""
        short = self._short_in(item) if isinstance(item, TreeState) else {item.key: item}
        places = places_of_replacements(self._state, item, list(short.values()))
        kept = self._state.future_reservations.of(item.key)
        if kept is not None and kept.demands == places.demands and kept.priority == item.priority:
            pass
        elif places:
            deadline = max(self._shortages[key].deadline_seconds for key in short)
            self._state.future_reservations.put(Reservation(item.key, item.priority, places.demands, deadline))
        else:
            self._drop(item.key)
        for key in short:
            shortage = self._shortages[key]
            shortage.tree = item.key if isinstance(item, TreeState) else None
            shortage.tried_seconds, shortage.tried_version = self._clock(), self._version(item)

    def _short_in(self, tree: TreeState) -> dict[EntityKey, PodGroupState]:
        """The groups of a tree for which room is to be kept."""
        found = {}
        for key in self._state.losses:
            leaf = self._state.item(key)
            if leaf is None or leaf.group is None or queued_item(leaf) != tree.key:
                continue
            shortage = self._shortage(leaf, leaf.group) if is_short(leaf) and may_keep_room(leaf.group) else None
            if shortage is not None and not shortage.is_over and self._clock() < shortage.deadline_seconds:
                found[key] = leaf
        return found

    def _item(self, members: PodGroupState) -> PodGroupState | None:
        """What is scheduled for a group: itself, or its tree; None for a tree without a root."""
        if members.tree is None:
            return members
        item = self._state.item(members.tree.key)
        return item if isinstance(item, TreeState) and item.branch is not None else None

    def _shortage(self, members: PodGroupState, group: GroupRecord) -> _Shortage:
        found = self._shortages.get(members.key)
        if found is None:
            found = self._shortages[members.key] = _Shortage(self._deadline_seconds(group))
        return found

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
        self._release(key)
        self._shortages.pop(key, None)

    def _release(self, key: EntityKey) -> None:
        """Gives back what is kept for a group; for others of its tree places are looked for anew."""
        members = self._state.item(key)
        if members is not None and members.group is not None and members.group.min_resources:
            # What is kept for it is kept for pods that it has announced.
            return
        shortage = self._shortages.get(key)
        if shortage is None or shortage.tree is None:
            self._drop(key)
            return
        tree, shortage.tree = self._state.item(shortage.tree), None
        if isinstance(tree, TreeState) and tree.branch is not None and self._short_in(tree):
            self._keep(tree)
            self._apply(ROOM_APPEARED)
        elif tree is not None:
            self._drop(tree.key)

    def _drop(self, key: EntityKey) -> None:
        kept = (
            self._state.future_reservations.drop(key) if self._state.future_reservations.of(key) is not None else None
        )
        if kept is not None and kept.demands:
            self._apply(ROOM_APPEARED)
