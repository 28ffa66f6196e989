"""A cluster that lives: nodes, gangs, volumes and budgets come and go, pods are placed, evicted and bound, all by one seed.

It does with the deciding parts what the process does with them, without its input and output.
"""

import json
import random
from collections.abc import Callable
from typing import Any

from api.constants import JOB_COMPLETION_INDEX, MANAGED_BY, MIN_RESOURCES, SLICE_SIZE, SLICE_TOPOLOGY, TOPOLOGY
from api.meta import Metadata
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.disruption_budgets import Budget, BudgetSpec, BudgetStatus
from scheduler.cache.records import EntityKey, StateChange
from scheduler.cache.selectors import RawSelector
from scheduler.core import build_core, deciding_settings
from scheduler.eventhandlers.storage import StorageEventHandlers
from scheduler.preemption.result import PreemptionResult, with_post_filter
from scheduler.recording.capture import Moment
from scheduler.recording.journal import Journal
from scheduler.recording.outcome import DecisionOutcome, PreemptionOutcome, outcome_of, preemption_outcome_of
from scheduler.reservations.future_reservations import FutureReservations, of_existing_pods
from scheduler.settings import SchedulerSettings
from tests.placement.case import HOSTNAME, apart, avoids, even, near, prefers, selector, spread, term
from tests.placement.storage import SC, claim, csi_node, driver, mounts, storage_class, volume
from tests.scheduler.core import build

STARTED = 1000.0
EPOCH = 1_767_225_600.0
ZONE = "topology.kubernetes.io/zone"
PACKED = {"scheduler_name": "tutti-packed", "resources_fit": {"strategy": "MostAllocated"}}
SETTINGS = SchedulerSettings(profiles=(PACKED,), reserve_after_seconds=20.0, identity="test")

RULES: list[dict[str, Any]] = [
    {},
    {},
    {},
    {},
    apart(term(selector(app="a"), HOSTNAME)),
    near(term(selector(app="b"), ZONE)),
    spread(even(selector(app="a"), ZONE)),
    avoids((5, term(selector(app="a"), HOSTNAME))),
    prefers((7, term(selector(app="b"), ZONE))),
    {"nodeSelector": {ZONE: "z1"}},
    {"tolerations": [{"key": "odd", "operator": "Exists"}]},
    {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 3, "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z2"]}]}}
    ]}}},
    {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["@n1"]}]}
    ]}}}},
    {"initContainers": [{"name": "i", "image": "init:1", "resources": {"requests": {"cpu": "1500m"}}}]},
    {"overhead": {"cpu": "100m"}, "hostNetwork": True, "hostUsers": False},
]  # fmt: skip


LEVELS: list[dict[str, str]] = [
    {},
    {},
    {TOPOLOGY: f"preferred:{ZONE}"},
    {SLICE_SIZE: "2", SLICE_TOPOLOGY: ZONE},
]


class Life:
    """One run; `tried` hears of every item right before it is tried."""

    def __init__(self, seed: int, settings: SchedulerSettings = SETTINGS) -> None:
        self.random = random.Random(seed)
        self.now = STARTED
        self.settings = settings
        self.core = build_core(settings, clock=lambda: self.now, epoch=self.epoch, apply=self.apply)
        self.state, self.queue = self.core.state, self.core.queue
        self.future = FutureReservations(self.state, clock=lambda: self.now, reserve_seconds=300, apply=self.apply)
        self.storage = StorageEventHandlers(self.state, self.apply)
        self.pods: dict[str, dict[str, Any]] = {}
        self.nodes: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.outcomes: list[DecisionOutcome | PreemptionOutcome] = []
        self.journal: Journal | None = None
        self.tried: Callable[[EntityKey], None] = lambda _: None
        self._counter = 0
        for manifest in (
            SC,
            storage_class("@dynamic", provisioner="@made.example"),
            driver("@made.example", storageCapacity=True),
        ):
            self.stored(manifest)
        for _ in range(8):
            self.node_comes()
        for name, tier in (("team-a", "gold"), ("team-b", "tin")):
            self.apply(self.state.upsert_namespace(name, {"tier": tier}))

    def epoch(self) -> float:
        return EPOCH + self.now

    def moment(self) -> Moment:
        return Moment(self.epoch(), self.now, deciding_settings(self.settings), "own", "v1.37.0")

    def apply(self, change: StateChange) -> None:
        """What the process' fan-out tells, as far as it decides anything."""
        if not change:
            return
        self.queue.move_all_to_active(change, self.state)
        for key in change.gone:
            if self.core.evaluator.gone(key) is not None:
                self.apply(StateChange(freed=(0,)))
        for key in change.items if len(self.state.nominator) else ():
            nomination = self.state.nominator.of(key)
            if nomination is not None and not self.core.evaluator.is_wanted(nomination):
                self.core.evaluator.gone(key)

    def stored(self, manifest: dict[str, Any]) -> None:
        build.stored(self.storage, manifest)

    # --- what happens ------------------------------------------------------------------------------------------------

    def live(self, turns: int) -> None:
        """So many events, each followed by some attempts."""
        events = [event for event, times in self.happenings() for _ in range(times)]
        for _ in range(turns):
            self.random.choice(events)()
            self.now += self.random.choice((0.0, 0.01, 0.5, 3.0, 11.0))
            self.future.tick()
            self.core.starvation.tick()
            for _ in range(self.random.randint(0, 4)):
                if not self.attempt():
                    break
            self.confirm_some()

    def happenings(self) -> list[tuple[Callable[[], None], int]]:
        """What may happen, and how often."""
        return [
            (self.gang_comes, 6),
            (self.pod_comes, 6),
            (self.replica_comes, 1),
            (self.node_comes, 1),
            (self.node_changes, 2),
            (self.node_goes, 1),
            (self.pod_ends, 8),
            (self.pod_is_deleted, 3),
            (self.group_goes, 1),
            (self.budget_changes, 1),
            (self.service_changes, 1),
            (self.bind_fails, 2),
        ]

    def number(self) -> int:
        self._counter += 1
        return self._counter

    def node_comes(self) -> None:
        number = self.number()
        self.put_node(
            f"@n{number}",
            cpu=self.random.choice((2, 4, 4, 8)),
            labels={ZONE: f"z{number % 3}"},
            resources={"example.com/gpu": "2"} if self.random.random() < 0.3 else {},
            taints=[{"key": "odd", "effect": "NoSchedule"}] if self.random.random() < 0.1 else [],
            images=[{"names": ["app:1"], "sizeBytes": 90_000_000 + number}] if self.random.random() < 0.5 else [],
            features=["UserNamespacesHostNetworkSupport"] if self.random.random() < 0.7 else [],
        )
        self.stored(csi_node(number, made=2))
        self.stored(volume(f"@pv{number}", on=(number,), size=self.random.choice((5, 10, 10))))

    def put_node(self, name: str, **more: Any) -> None:
        self.nodes[name] = more
        self.apply(self.state.upsert_node(self.state.slim_node(build.node(name, **more))))

    def node_changes(self) -> None:
        name = self.random.choice(list(self.nodes))
        self.put_node(name, **{**self.nodes[name], "unschedulable": self.random.random() < 0.3})

    def node_goes(self) -> None:
        if len(self.nodes) > 5:
            name = self.random.choice(list(self.nodes))
            del self.nodes[name]
            self.apply(self.state.remove_node(name, f"uid-of-{name}"))
            for pod, more in list(self.pods.items()):
                if more.get("on") == name:
                    self.remove_pod(pod)

    def put_pod(self, name: str, **more: Any) -> None:
        self.pods[name] = more
        self.apply(self.state.upsert_pod(build.pod(name, **more)))

    def remove_pod(self, name: str) -> None:
        more = self.pods.pop(name)
        self.apply(self.state.remove_pod(more.get("namespace", build.NAMESPACE), name, f"uid-of-{name}"))

    def shape(self) -> dict[str, Any]:
        """What pods of one kind have in common."""
        spec = dict(self.random.choice(RULES))
        image = self.random.choice(("app:1", "app:2", ""))
        requests = {"cpu": self.random.choice(("500m", "1", "2"))}
        if self.random.random() < 0.15:
            requests["example.com/gpu"] = "1"
        container: dict[str, Any] = {"name": "main", "resources": {"requests": requests}} | (
            {"image": image} if image else {}
        )
        if self.random.random() < 0.1:
            container["ports"] = [{"containerPort": 80, "hostPort": 8080}]
        return {
            "spec": {**spec, "containers": [container]},
            "labels": {"app": self.random.choice(("a", "b", "c"))},
            "scheduler": self.random.choice(("tutti", "tutti", "tutti", "tutti-packed", "default-scheduler")),
        }

    def created(self) -> str:
        return f"2026-01-01T00:{int(self.now) // 60 % 60:02d}:{int(self.now) % 60:02d}Z"

    def gang_comes(self) -> None:
        number = self.number()
        name = f"g{number}"
        size, shapes = self.random.randint(2, 6), [self.shape() for _ in range(self.random.choice((1, 1, 2)))]
        scheduler = self.random.choice(("tutti", "tutti-packed"))
        priority = self.random.choice((0, 0, 10, 100))
        more: dict[str, Any] = {"priority": priority, "created": self.created()}
        if self.random.random() < 0.2:
            more["topology"] = ZONE
        if self.random.random() < 0.6:
            more["leaves"] = "all"
        need = None if self.random.random() < 0.15 else self.random.randint(max(size - 1, 1), size)
        if need is None:
            more["annotations"] = {"tutti.scheduler/desired-count": str(size)}
        elif self.random.random() < 0.2:
            more["annotations"] = {"tutti.scheduler/scheduling-timeout": "90s"}
        if need is not None and "topology" not in more:
            more["annotations"] = more.get("annotations", {}) | LEVELS[number % len(LEVELS)]
        self.groups[name] = more
        self.apply(self.state.upsert_group(build.group(name, need, **more)))
        for index in range(size):
            shape = shapes[index % len(shapes)]
            shape = {**shape, "labels": {**shape["labels"], JOB_COMPLETION_INDEX: str(index)}}
            self.put_pod(
                f"{name}-{index}",
                group=name,
                priority=priority,
                created=self.created(),
                **{**shape, "scheduler": scheduler},
            )

    def pod_comes(self) -> None:
        name = f"p{self.number()}"
        shape = self.shape()
        if self.random.random() < 0.25:
            self.stored(claim(f"{name}-data", storage_class=self.random.choice(("@sc", "@dynamic"))))
            shape["spec"] = {**shape["spec"], **mounts(f"{name}-data")}
        self.put_pod(name, priority=self.random.choice((0, 0, 5, 50)), created=self.created(), **shape)

    def replica_comes(self) -> None:
        """A leader whose workers come later."""
        name = f"r{self.number()}"
        roles = [
            {"role": "leader", "count": 1, "requests": {"cpu": "1"}},
            {"role": "worker", "count": 2, "requests": {"cpu": self.random.choice(("1", "2"))}, **self.worker_fields()},
        ]
        owner = f"uid-of-{name}-0"
        more: dict[str, Any] = {
            "owner": owner,
            "annotations": {MANAGED_BY: "tutti", MIN_RESOURCES: json.dumps(roles)},
            "created": self.created(),
        }
        self.groups[name] = more
        self.apply(self.state.upsert_group(build.group(name, 1, **more)))
        self.put_pod(f"{name}-0", group=name, created=self.created())

    def worker_fields(self) -> dict[str, Any]:
        """What else is announced of workers."""
        return {}

    def pod_ends(self) -> None:
        bound = [name for name, more in self.pods.items() if more.get("on") and not more.get("phase")]
        if bound:
            name = self.random.choice(bound)
            if self.random.random() < 0.5:
                self.put_pod(name, **{**self.pods[name], "phase": "Succeeded"})
            else:
                self.remove_pod(name)

    def pod_is_deleted(self) -> None:
        if self.pods:
            name = self.random.choice(list(self.pods))
            if self.pods[name].get("deleted"):
                self.remove_pod(name)
            else:
                self.put_pod(name, **{**self.pods[name], "deleted": True})

    def group_goes(self) -> None:
        if self.groups:
            name = self.random.choice(list(self.groups))
            del self.groups[name]
            self.apply(self.state.remove_group(build.NAMESPACE, name, f"uid-of-{name}"))

    def budget_changes(self) -> None:
        app = self.random.choice(("a", "b"))
        budget = Budget(
            Metadata(name=f"b-{app}", namespace=build.NAMESPACE, uid=f"uid-of-b-{app}"),
            BudgetSpec(RawSelector({"app": app})),
            BudgetStatus(self.random.randint(0, 2)),
        )
        self.state.budgets.upsert(budget)
        self.queue.noticed()

    def service_changes(self) -> None:
        selected = {"app": self.random.choice(("a", "b"))} if self.random.random() < 0.7 else None
        self.state.default_spreads.set_service(build.NAMESPACE, "s", selected)

    def bind_fails(self) -> None:
        assumed = list(self.state.assumptions)
        if assumed:
            self.apply(self.state.forget(self.random.choice(assumed)))

    # --- what the scheduler does -------------------------------------------------------------------------------------

    def attempt(self) -> bool:
        """One cycle, as the process makes it; False when nothing is to be tried now."""
        core = self.core
        key = self.queue.pop(core.seen.view)
        if key is None:
            return False
        self.tried(key)
        aim = self.queue.aim(key, self.state)
        decision, future = of_existing_pods(decide(core.seen.view, key, aim), core.seen)
        self.outcomes.append(outcome_of(decision, future))
        if self.journal is not None:
            self.journal.decided(key, aim, decision, future)
        result: PreemptionResult | None = None
        if decision.result == "error" and not decision.is_hope:
            core.evaluator.unresolvable(key)
        elif decision.result == "unschedulable" and not decision.is_hope:
            result = core.evaluator.preempt(key, self.now)
            self.outcomes.append(preemption_outcome_of(result))
            decision = with_post_filter(decision, result)
        for uid, node in decision.bindings:
            self.apply(self.state.assume(uid, node, self.now + 60))
        self.placed(decision)
        if decision.bindings:
            self.future.reserve(key, future)
            core.evaluator.started(key)
        self.queue.done(key, decision, self.state)
        core.starvation.decided(decision)
        if decision.volumes:
            self.state.storage.give(dict(decision.volumes), {})
        if result is not None and result.candidate is not None:
            for pod in result.candidate.pods:
                if self.random.random() < 0.7:
                    self.put_pod(pod.name, **{**self.pods[pod.name], "deleted": True})
        return True

    def placed(self, decision: Decision) -> None:
        """Pods were assumed on their nodes."""

    def confirm_some(self) -> None:
        """The watch shows some of the binds."""
        for uid, assumption in list(self.state.assumptions.items()):
            pod = self.state.pod(uid)
            if pod is not None and self.random.random() < 0.7:
                self.put_pod(pod.name, **{**self.pods[pod.name], "on": assumption.node_name})
