"""Everything the page shows at one moment, and what has changed since the moment before. Pure but for the clock it is given.

Only what an event touched is computed anew: a change of a pod costs its gang and its node, not the cluster.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, Final

from api.compositepodgroup import CompositePodGroup
from api.podgroup import PodGroup
from views.model.eviction import EvictionEvent
from views.model.gang import State
from views.model.objects import BY_NODE, Objects
from views.model.records import Machine, Member, Owner
from views.page.history import GONE, History, continued, first_history
from views.page.rows import Row, gang_row, milliseconds, node_row, resources_of

MOST_EVICTIONS: Final = 200
MOST_LEFT: Final = 4096
"""Pods that are gone and are still known by their gang: an event about a pod may come after its deletion."""

KEEP_GONE_MS: Final = 600_000
"""How long a gang that is gone can still be seen."""


class PageState:
    """The rows of the page, kept up to date from `Objects`.

    Args:
        objects: what is known of the cluster.
        now: milliseconds since 1970.
    """

    def __init__(self, objects: Objects, now: Callable[[], int]) -> None:
        self.objects = objects
        self._now = now
        self._gangs: dict[str, Row] = {}
        self._histories: dict[str, History] = {}
        self._gone: dict[str, int] = {}
        self._nodes: dict[str, Row] = {}
        self._evictions: deque[Row] = deque(maxlen=MOST_EVICTIONS)
        self._known_evictions: set[str] = set()
        self._left: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._new_evictions: list[Row] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._next_number = count(1)
        self._resources: list[str] = []
        self._dirty_groups: dict[tuple[str, str], None] = {}
        self._dirty_nodes: dict[str, None] = {}
        self._asked_to_leave: set[tuple[str, str]] = set()
        self._has_other_resources = False

    # --- what has happened -------------------------------------------------------------------------------------------

    def changed(self, kind: str, old: Any, new: Any) -> None:
        """An object came (`old` is None), changed or went (`new` is None)."""
        record = new if new is not None else old
        if isinstance(record, Member):
            for member in (old, new):
                self._touch_member(member)
            if new is None:
                self._remember(record)
            elif new.is_preempted and not (old is not None and old.is_preempted):
                self._asked_to_leave.add((new.metadata.namespace, new.group))
        elif isinstance(record, PodGroup):
            self._dirty_groups[record.metadata.key] = None
        elif isinstance(record, CompositePodGroup):
            self._touch_trees(record)
        elif isinstance(record, Machine):
            self._dirty_nodes[record.metadata.name] = None
            self._has_other_resources |= old is None or new is None or old.allocatable.keys() != new.allocatable.keys()
        elif isinstance(record, Owner) and kind == "job":
            self._touch_groups_of(record)
        elif isinstance(record, EvictionEvent):
            if new is None:
                self._known_evictions.discard(record.metadata.uid)
            else:
                self._evicted(record)

    def everything_changed(self) -> None:
        """All rows are to be made anew: after a start, or after a jump in a recording."""
        self._dirty_groups.update((group.metadata.key, None) for group in self.objects.groups)
        self._dirty_nodes.update((machine.metadata.name, None) for machine in self.objects.nodes)
        self._has_other_resources = True

    def _touch_member(self, member: Member | None) -> None:
        if member is None:
            return
        if member.group:
            self._dirty_groups[(member.metadata.namespace, member.group)] = None
        if member.node:
            self._dirty_nodes[member.node] = None

    def _remember(self, member: Member) -> None:
        self._left[member.metadata.uid] = (self._title(member.metadata.namespace, member.group), member.node)
        if len(self._left) > MOST_LEFT:
            self._left.popitem(last=False)

    def _touch_groups_of(self, owner: Owner) -> None:
        for group in self.objects.groups_of_owner(owner.metadata.uid):
            self._dirty_groups[group.metadata.key] = None

    def _touch_trees(self, composite: CompositePodGroup) -> None:
        """Which tree a group is in depends on all levels above it; there are few."""
        for group in self.objects.groups:
            if group.parent and group.metadata.namespace == composite.metadata.namespace:
                self._dirty_groups[group.metadata.key] = None

    def _evicted(self, event: EvictionEvent) -> None:
        if event.metadata.uid in self._known_evictions:
            return
        self._known_evictions.add(event.metadata.uid)
        member = self.objects.members.by_uid(event.regarding.uid)
        gang, node = self._left.get(event.regarding.uid, ("", ""))
        if member is not None:
            gang, node = self._title(member.metadata.namespace, member.group), member.node
        related = event.related
        row = {
            "at": milliseconds(event.at),
            "ns": event.regarding.namespace,
            "pod": event.regarding.name,
            "gang": gang,
            "node": node,
            "for": self._whom(related.kind, related.namespace, related.name) if related is not None else "",
        }
        self._evictions.append(row)
        self._new_evictions.append(row)

    def _whom(self, kind: str, namespace: str, name: str) -> str:
        return f"{namespace}/{self._title(namespace, name)}" if kind == "PodGroup" else f"{namespace}/pod/{name}"

    def _title(self, namespace: str, group: str) -> str:
        found = self.objects.groups.get(namespace, group)
        return self.objects.gang(found).title if found is not None else (f"podgroup/{group}" if group else "")

    # --- what there is to see ----------------------------------------------------------------------------------------

    @property
    def is_dirty(self) -> bool:
        """Whether `delta` may have something to say."""
        is_late = bool(self._gone) and min(self._gone.values()) < self._now() - KEEP_GONE_MS
        return bool(self._dirty_groups or self._dirty_nodes or self._new_evictions) or is_late

    def delta(self) -> Row | None:
        """What has changed since the last call; None when nothing has.

        `resources` in it means that all nodes of before are to be forgotten.
        """
        now = self._now()
        said: Row = {"now": now}
        if self._has_other_resources:
            self._look_at_resources(said)
        gangs = self._renewed_gangs(now)
        nodes, lost = self._renewed_nodes()
        gone = self._forgotten(now)
        for key, value in (
            ("gangs", gangs),
            ("forgotten", gone),
            ("nodes", nodes),
            ("lost", lost),
            ("evictions", self._new_evictions),
        ):
            if value:
                said[key] = value
        self._new_evictions = []
        return said if len(said) > 1 else None

    def full(self) -> Row:
        """Everything, as of the last delta."""
        return {
            "now": self._now(),
            "resources": self._resources,
            "gangs": [{**row, "history": self._histories[uid]} for uid, row in self._gangs.items()],
            "nodes": list(self._nodes.values()),
            "evictions": list(self._evictions),
        }

    def group_of(self, uid: str) -> PodGroup | None:
        """The PodGroup with this UID, None when it is gone."""
        return self.objects.groups.by_uid(uid)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _look_at_resources(self, said: Row) -> None:
        self._has_other_resources = False
        found = resources_of(self.objects.nodes)
        if found != self._resources:
            said["resources"] = self._resources = found
            self._nodes.clear()
            self._dirty_nodes.update((machine.metadata.name, None) for machine in self.objects.nodes)

    def _renewed_gangs(self, now: int) -> list[Row]:
        found: list[Row] = []
        keys, self._dirty_groups = self._dirty_groups, {}
        asked, self._asked_to_leave = self._asked_to_leave, set()
        for key in keys:
            group = self.objects.groups.get(*key)
            found += self._gone_under(key, group, now)
            if group is not None:
                found += self._renewed(group, now, was_asked_to_leave=key in asked)
        return found

    def _renewed(self, group: PodGroup, now: int, *, was_asked_to_leave: bool) -> Iterable[Row]:
        gang = self.objects.gang(group)
        key, uid = group.metadata.key, group.metadata.uid
        is_back = self._gone.pop(uid, None) is not None
        known = None if is_back else self._gangs.get(uid)
        if known is None:
            self._numbers[key] = next(self._next_number)
            # Its pods may have been seen, and their nodes drawn, before it.
            self._dirty_nodes.update((node, None) for node in gang.nodes)
        row = gang_row(self._numbers[key], gang)
        if row == known:
            return
        self._gangs[uid] = row
        if uid not in self._histories:
            self._histories[uid] = first_history(gang, now)
            yield {**row, "history": self._histories[uid]}
            return
        if was_asked_to_leave and row["state"] != State.PREEMPTED:
            # It has left between two looks; that is what people look for, so it is told nevertheless.
            self._histories[uid] = continued(self._histories[uid], State.PREEMPTED, now)
            row_with = {**row, "history": continued(self._histories[uid], row["state"], now)}
            self._histories[uid] = row_with["history"]
            yield row_with
            return
        self._histories[uid] = continued(self._histories[uid], row["state"], now)
        yield row

    def _gone_under(self, key: tuple[str, str], group: PodGroup | None, now: int) -> Iterable[Row]:
        """Whoever had this name before and has it no more."""
        number = self._numbers.get(key)
        uid = group.metadata.uid if group is not None else ""
        if number is None or (uid and self._gangs.get(uid, {}).get("id") == number):
            return
        del self._numbers[key]
        for known, row in self._gangs.items():
            if row["id"] == number:
                self._gone[known] = now
                self._histories[known] = continued(self._histories[known], GONE, now)
                self._gangs[known] = {**row, "state": GONE, "reason": "", "message": "", "nodes": 0}
                yield self._gangs[known]
                return

    def _renewed_nodes(self) -> tuple[list[Row], list[str]]:
        found: list[Row] = []
        lost: list[str] = []
        names, self._dirty_nodes = self._dirty_nodes, {}
        for name in names:
            machine = self.objects.nodes.get("", name)
            if machine is None:
                if self._nodes.pop(name, None) is not None:
                    lost.append(name)
                continue
            pods = self.objects.members.by_index(BY_NODE, name)
            row = node_row(machine, pods, self._resources, self._numbers)
            if row != self._nodes.get(name):
                self._nodes[name] = row
                found.append(row)
        return found, lost

    def _forgotten(self, now: int) -> list[str]:
        found = [uid for uid, at in self._gone.items() if at < now - KEEP_GONE_MS]
        for uid in found:
            del self._gone[uid], self._gangs[uid], self._histories[uid]
        return found
