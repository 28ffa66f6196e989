"""A cluster without a server: state and queue driven step by step, binds confirmed at once, time under control."""

from collections.abc import Mapping
from typing import Any

from api.compositepodgroup import CompositePodGroup
from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import EntityKey, StateChange
from scheduler.cache.scoring import Scoring
from scheduler.eventhandlers.storage import StorageEventHandlers
from scheduler.plugins.messages import message
from scheduler.queue.active import Cause
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.queue.settings import QueueSettings
from tests.scheduler.core import build

STARTED = 1000.0
"""The monotonic clock when a world begins; the time of day is then when `build` says that objects were created."""
CREATED_SECONDS = 1_767_225_600.0


class World:
    """What the shell around the core does, without any input or output."""

    def __init__(
        self,
        *schedulers: str,
        scorings: Mapping[str, Scoring] | None = None,
        most_members: Mapping[str, int] | None = None,
    ) -> None:
        self.now = STARTED
        self.state = ClusterState(frozenset(schedulers or {"tutti"}), scorings or {}, most_members or {})
        self.queue = SchedulingQueue(lambda: self.now, QueueSettings(), lambda: self.now - STARTED + CREATED_SECONDS)
        self.decisions: list[Decision] = []
        self.charged: Cause | None = None
        """What the time of the last attempt is charged to."""
        self._objects: dict[str, dict[str, Any]] = {}
        self._storage = StorageEventHandlers(self.state, self.apply)

    # --- what happens ------------------------------------------------------------------------------------------------

    def node(self, name: str, **more: Any) -> Node:
        """A node comes or changes."""
        made = build.node(name, **more)
        self.apply(self.state.upsert_node(made))
        return made

    def node_gone(self, name: str) -> None:
        """A node goes."""
        self.apply(self.state.remove_node(name, self.state.node_uid(name) or ""))

    def pod(self, name: str, **more: Any) -> Pod:
        """A pod comes or changes."""
        self._objects[name] = more
        made = build.pod(name, **more)
        self.apply(self.state.upsert_pod(made))
        return made

    def pods(self, group: str, count: int, *, first: int = 0, **more: Any) -> None:
        """Members of a group come."""
        for index in range(first, first + count):
            self.pod(f"{group}-{index}", group=group, **more)

    def stored(self, manifest: dict[str, Any]) -> None:
        """A volume, a claim or anything else about storage comes or changes."""
        build.stored(self._storage, manifest)

    def pod_gone(self, name: str) -> None:
        """A pod goes."""
        more = self._objects.pop(name)
        uid = more.get("uid", f"uid-of-{name}")
        self.apply(self.state.remove_pod(more.get("namespace", build.NAMESPACE), name, uid))

    def group(self, name: str, need: int | None = None, **more: Any) -> PodGroup:
        """A PodGroup comes or changes."""
        made = build.group(name, need, **more)
        self.apply(self.state.upsert_group(made))
        return made

    def composite(self, name: str, need: int | None = None, **more: Any) -> CompositePodGroup:
        """A CompositePodGroup comes or changes."""
        made = build.composite(name, need, **more)
        self.apply(self.state.composites.upsert(made))
        return made

    def composite_gone(self, name: str) -> None:
        """A CompositePodGroup goes."""
        self.apply(self.state.composites.remove(build.NAMESPACE, name, f"uid-of-{name}"))

    def group_gone(self, name: str, uid: str | None = None) -> None:
        """A PodGroup goes."""
        self.apply(self.state.remove_group(build.NAMESPACE, name, uid or f"uid-of-{name}"))

    def apply(self, change: StateChange) -> None:
        """Tells the queue."""
        if change:
            self.queue.move_all_to_active(change, self.state)

    # --- what the scheduler does -------------------------------------------------------------------------------------

    def step(self) -> Decision | None:
        """One cycle; its binds are confirmed by the watch right after it."""
        key = self.queue.pop(self.state)
        if key is None:
            return None
        decision = decide(self.state, key, self.queue.aim(key, self.state))
        self.decisions.append(decision)
        for uid, node in decision.bindings:
            self.apply(self.state.assume(uid, node, self.now + 60))
        self.charged = self.queue.done(key, decision, self.state)
        for uid, node in decision.bindings:
            self.confirm(uid, node)
        return decision

    def run(self) -> list[Decision]:
        """Cycles until there is nothing to do now."""
        done: list[Decision] = []
        while (decision := self.step()) is not None:
            done.append(decision)
            assert len(done) < 1000, "the queue never comes to rest"
        return done

    def confirm(self, uid: str, node: str) -> None:
        """The watch shows a pod bound."""
        record = self.state.pod(uid)
        assert record is not None
        self.pod(record.name, **{**self._objects[record.name], "on": node})

    def wait(self, seconds: float) -> list[Decision]:
        """Time passes, then cycles as they are due."""
        self.now += seconds
        return self.run()

    # --- what can be seen --------------------------------------------------------------------------------------------

    def bound(self, group: str = "") -> dict[str, str]:
        """Pods with a node, by name; of one group when named."""
        found = {}
        for name in self._objects:
            record = self.state.pod(self._objects[name].get("uid", f"uid-of-{name}"))
            if record and record.is_bound and (not group or record.group == group):
                found[name] = record.node_name
        return found

    def held(self, key: EntityKey) -> tuple[str, str]:
        """(reason, message) of a held item."""
        held = self.queue.status(key)
        assert held is not None, f"{key} is not held"
        return held.reason, message(held)
