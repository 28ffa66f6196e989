"""A world that keeps room for lost members, for the tests of what becomes of gangs that have started."""

from typing import Any

from scheduler.algorithm.decision import Decision
from scheduler.cache.records import EntityKey, StateChange
from scheduler.queue.settings import QueueSettings
from scheduler.reservations.future_reservations import FutureReservations
from scheduler.reservations.lost_members import LostMembers
from scheduler.reservations.spare_nodes import SpareNodes
from scheduler.reservations.starvation import StarvationReservations
from tests.scheduler.core import build
from tests.scheduler.core.world import CREATED_SECONDS, STARTED, World


class Stage(World):
    """A world in which room for lost members is kept before each cycle, as in the scheduling loop."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        """What keeps room starts, knowing nothing."""
        self.restarted: list[EntityKey] = []
        self.starvation = StarvationReservations(
            self.state, self.queue, lambda: self.now, QueueSettings(), apply=self.apply
        )
        self.future = FutureReservations(self.state, clock=lambda: self.now, reserve_seconds=600.0, apply=self.apply)
        self.lost = LostMembers(
            self.state,
            clock=lambda: self.now,
            epoch=lambda: self.now - STARTED + CREATED_SECONDS,
            apply=self.apply,
            restart=self.restarted.append,
        )
        self.spare = SpareNodes(self.state, clock=lambda: self.now, apply=self.apply)

    def apply(self, change: StateChange) -> None:
        if change.freed:
            self.state.losses.room_appeared()
        super().apply(change)

    def step(self) -> Decision | None:
        self.future.tick()
        self.lost.tick()
        self.spare.tick()
        decision = super().step()
        if decision is not None:
            self.starvation.decided(decision)
        return decision

    def gang(self, name: str, size: int, *, annotations: dict[str, str] | None = None, **more: Any) -> None:
        """A gang of which all members must run."""
        own = {key: more.pop(key) for key in ("topology", "created", "parent") if key in more}
        self.group(name, size, annotations=annotations or {}, priority=more.get("priority", 0), **own)
        self.pods(name, size, **more)

    def lose(self, *names: str, phase: str = "Failed") -> None:
        """These members fail, or another phase comes upon them."""
        for name in names:
            node = self.bound()[name]
            self.pod(name, **{**self._objects[name], "phase": phase, "on": node})

    def kept(self, group: str = "g") -> int:
        """Places that are kept for replacements."""
        kept = self.state.future_reservations.of(build.group_key(group))
        return sum(sum(demands.values()) for demands in kept.demands.values()) if kept else 0
