"""A whole scheduler, with the real core, at work on the fake API server."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from prometheus_client import CollectorRegistry

from api.constants import (
    CONDITION_COMPOSITE_SCHEDULED,
    CONDITION_POD_SCHEDULED,
    CONDITION_SCHEDULED,
    REASON_SCHEDULER_ERROR,
)
from kube.groups.group_api import OWN, OWN_COMPOSITES
from scheduler.eventhandlers.devices import DEVICES
from scheduler.reporting.hints import StartSearch
from scheduler.reporting.metrics import SchedulerMetrics
from scheduler.settings import SchedulerSettings
from scheduler.shared_parts import Surroundings
from scheduler.wiring import Scheduler, build_scheduler
from tests.scheduler.shell.fake_api import FakeApi
from tests.scheduler.shell.manifests import composite, gang, node, pod

CREATED = 1_767_225_600.0
"""Seconds since 1970 at which `manifests` says that objects were created; the time of day when a cluster begins."""

QUICK: dict[str, Any] = {
    "initial_backoff_seconds": 0.02,
    "max_backoff_seconds": 0.1,
    "held_report_seconds": 0.02,
    "empty_report_seconds": 0.02,
    "held_update_seconds": 0.02,
    "degraded_after_seconds": 0.05,
    "identity": "test",
}


class WatchedMetrics(SchedulerMetrics):
    """Metrics that count attempts where a test can wait for them."""

    def __init__(self, moved: Callable[[], None]) -> None:
        super().__init__(CollectorRegistry())
        self.attempts = 0
        self._moved = moved

    def attempt(self, kind: str, result: str, attempt_seconds: float, algorithm_seconds: float) -> None:
        super().attempt(kind, result, attempt_seconds, algorithm_seconds)
        self.attempts += 1
        self._moved()


class Cluster:
    """The fake server, and whichever scheduler runs on it."""

    def __init__(self, api: FakeApi | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.api = api or FakeApi()
        self.clock = clock
        self._begin = clock()
        self.metrics = WatchedMetrics(self.api.moved)
        self.holds_lease = True
        self.group_error_reason = REASON_SCHEDULER_ERROR
        self.find_hint: StartSearch | None = None
        self.follows_devices = False

    @contextlib.asynccontextmanager
    async def scheduler(self, **changes: Any) -> AsyncIterator[Scheduler]:
        """Run a scheduler with fresh caches, as after a start."""
        self.metrics = WatchedMetrics(self.api.moved)
        given = Surroundings(
            reader=self.api,
            writer=self.api,
            group_api=OWN,
            composites=OWN_COMPOSITES,
            settings=SchedulerSettings(**(QUICK | changes)),
            metrics=self.metrics,
            may_write=lambda: self.holds_lease,
            clock=self.clock,
            epoch=lambda: CREATED + self.clock() - self._begin,
            jitter=random.Random(1),
            group_error_reason=self.group_error_reason,
            find_hint=self.find_hint,
            device_kinds=frozenset(each.plural for each in DEVICES) if self.follows_devices else frozenset(),
        )
        scheduler = build_scheduler(given)
        tasks = [asyncio.ensure_future(informer.run()) for informer in scheduler.informers.all]
        try:
            for informer in scheduler.informers.all:
                await informer.synced.wait()
            tasks += [asyncio.ensure_future(scheduler.recorder.run()), asyncio.ensure_future(scheduler.loop.run())]
            yield scheduler
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await scheduler.dispatcher.close(1.0)

    # --- what is there -----------------------------------------------------------------------------------------------

    def add_nodes(self, amount: int, *, first: int = 0) -> None:
        for number in range(first, first + amount):
            self.api.put("nodes", node(f"n{number}"))

    def add_gang(self, name: str, size: int, *, min_count: int | None = None) -> None:
        self.api.put("podgroups", gang(name, min_count or size))
        self.add_members(name, size)

    def add_members(self, name: str, amount: int, *, first: int = 0) -> None:
        for number in range(first, first + amount):
            self.api.put("pods", pod(f"{name}-{number}", group=name, owned=True))

    def leave_behind(self, name: str) -> None:
        """The owner of this group, and of its pods, goes without them (`kubectl delete --cascade=orphan`)."""
        members = [each for each in self.api.bound() if each.startswith(f"{name}-")]
        for kind, left in [("podgroups", name), *(("pods", each) for each in members)]:
            found = self.api.peek(kind, "ns", left)
            del found["metadata"]["ownerReferences"]
            self.api.put(kind, found)

    def add_tree(self, name: str, groups: int, size: int, *, min_groups: int, priority: int | None = None) -> list[str]:
        """A CompositePodGroup of so many gangs; their names."""
        self.api.put("compositepodgroups", composite(name, min_groups, priority=priority))
        names = [f"{name}-{index}" for index in range(groups)]
        for child in names:
            self.api.put("podgroups", gang(child, size, owned=False, parent=name))
            self.add_members(child, size)
        return names

    # --- what is said ------------------------------------------------------------------------------------------------

    def group_says(self, name: str, kind: str = CONDITION_SCHEDULED) -> tuple[str, str]:
        """Status and reason of a condition of the group."""
        found = self.api.condition("podgroups", "ns", name, kind)
        return found.get("status", ""), found.get("reason", "")

    def group_message(self, name: str, kind: str = CONDITION_SCHEDULED) -> str:
        return str(self.api.condition("podgroups", "ns", name, kind).get("message", ""))

    def tree_says(self, name: str) -> tuple[str, str]:
        """Status and reason of the condition of a CompositePodGroup."""
        found = self.api.condition("compositepodgroups", "ns", name, CONDITION_COMPOSITE_SCHEDULED)
        return found.get("status", ""), found.get("reason", "")

    def pod_says(self, name: str) -> str:
        return str(self.api.condition("pods", "ns", name, CONDITION_POD_SCHEDULED).get("reason", ""))

    def events(self, reason: str, kind: str = "") -> list[dict[str, Any]]:
        return [
            event
            for event in self.api.events
            if event["reason"] == reason and (not kind or event["regarding"]["kind"] == kind)
        ]
