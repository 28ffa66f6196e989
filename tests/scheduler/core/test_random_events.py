"""Any sequence of events: the state equals one built from what is left, and what is decided is whole and fits."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from api.node import Node
from api.pod import Pod
from api.podgroup import PodGroup
from scheduler.algorithm.node_fits import FitCache, fits_of
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.cluster import ClusterState
from scheduler.cache.records import PodRecord, StateChange
from scheduler.cache.selectors import Query, Requirement, selector_of
from scheduler.queue.queueing_hints import wakes_exactly
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.queue.settings import QueueSettings
from tests.placement.case import HOSTNAME, apart, avoids, even, near, selector, spread, term
from tests.scheduler.core import build

NODE_NAMES = st.sampled_from(["n1", "n2", "n3"])
POD_NAMES = st.sampled_from([f"p{index}" for index in range(8)])
GROUP_NAMES = st.sampled_from(["g", "h"])
UIDS = st.sampled_from(["one", "two"])


RULES: list[dict[str, Any]] = [
    {},
    {},
    apart(term(selector(app="a"), HOSTNAME)),
    near(term(selector(app="b"), "pool")),
    spread(even(selector(app="a"), "pool")),
    avoids((5, term(selector(app="a"), HOSTNAME))),
]


def _query(requirement: Requirement, *, skips_leaving: bool = False) -> Query:
    return Query(selector_of([requirement]), (build.NAMESPACE,), skips_leaving=skips_leaving)


QUERIES = [
    _query(Requirement("app", "In", ("a",))),
    _query(Requirement("app", "NotIn", ("a",)), skips_leaving=True),
    _query(Requirement("name", "In", ("p1", "p2", "p3"))),
]


class Events(RuleBasedStateMachine):
    """Nodes, pods and groups come, change and go; decisions are taken, binds succeed, fail and stay unknown."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.state = ClusterState(frozenset({"tutti"}))
        self.queue = SchedulingQueue(lambda: self.now, QueueSettings())
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.groups: dict[str, PodGroup] = {}
        self.bind_failed_until = 0.0
        self.made: dict[str, dict[str, object]] = {}

    def _apply(self, change: StateChange) -> None:
        if change:
            self.queue.move_all_to_active(change, self.state)

    @rule(name=NODE_NAMES, uid=UIDS, cpu=st.integers(0, 6), pool=st.sampled_from(["a", "b"]), cordoned=st.booleans())
    def node_comes_or_changes(self, name: str, uid: str, cpu: int, pool: str, cordoned: bool) -> None:
        resources = {"example.com/gpu": "2"} if cpu > 4 else {}
        labels = {"pool": pool}
        node = build.node(name, uid=uid, cpu=cpu, labels=labels, unschedulable=cordoned, resources=resources, pods=4)
        self.nodes[name] = node
        self._apply(self.state.upsert_node(node))

    @rule(name=NODE_NAMES)
    def node_goes(self, name: str) -> None:
        node = self.nodes.pop(name, None)
        if node is not None:
            self._apply(self.state.remove_node(name, node.metadata.uid))

    @rule(
        name=POD_NAMES,
        group=st.sampled_from(["", "g", "h"]),
        cpu=st.integers(0, 3),
        gpu=st.booleans(),
        pool=st.booleans(),
        rules=st.sampled_from(RULES),
        app=st.sampled_from(["a", "b"]),
    )
    def pod_comes(
        self, name: str, group: str, cpu: int, gpu: bool, pool: bool, rules: dict[str, Any], app: str
    ) -> None:
        if name in self.pods:
            return
        requests = {"cpu": str(cpu), **({"example.com/gpu": "1"} if gpu else {})}
        spec = {**rules, **({"nodeSelector": {"pool": "a"}} if pool else {})}
        self._put(name, group=group, requests=requests, spec=spec, labels={"app": app, "name": name})

    @rule(name=POD_NAMES, app=st.sampled_from(["a", "b"]))
    def pod_gets_another_label(self, name: str, app: str) -> None:
        self._change(name, labels={"app": app, "name": name})

    def _put(self, name: str, **more: object) -> None:
        self.made[name] = more
        self.pods[name] = build.pod(name, **more)  # type: ignore[arg-type]
        self._apply(self.state.upsert_pod(self.pods[name]))

    def _change(self, name: str, **more: object) -> None:
        if name in self.pods:
            self._put(name, **{**self.made[name], **more})

    @rule(name=POD_NAMES, phase=st.sampled_from(["Running", "Succeeded", "Failed"]))
    def pod_changes_phase(self, name: str, phase: str) -> None:
        if name in self.pods and self.pods[name].spec.node_name and not self.pods[name].is_terminal:
            self._change(name, phase=phase)

    @rule(name=POD_NAMES)
    def pod_is_being_deleted(self, name: str) -> None:
        self._change(name, deleted=True)

    @rule(name=POD_NAMES, node=NODE_NAMES)
    def pod_is_bound_by_somebody_else(self, name: str, node: str) -> None:
        if name in self.pods and not self.pods[name].spec.node_name:
            self._change(name, on=node)

    @rule(name=POD_NAMES)
    def pod_goes(self, name: str) -> None:
        pod = self.pods.pop(name, None)
        if pod is not None:
            self._apply(self.state.remove_pod(build.NAMESPACE, name, pod.metadata.uid))

    @rule(name=GROUP_NAMES, uid=UIDS, need=st.none() | st.integers(1, 4))
    def group_comes_or_changes(self, name: str, uid: str, need: int | None) -> None:
        self.groups[name] = build.group(name, need, uid=uid)
        self._apply(self.state.upsert_group(self.groups[name]))

    @rule(name=GROUP_NAMES)
    def group_goes(self, name: str) -> None:
        group = self.groups.pop(name, None)
        if group is not None:
            self._apply(self.state.remove_group(build.NAMESPACE, name, group.metadata.uid))

    @rule(name=POD_NAMES)
    def bind_is_confirmed(self, name: str) -> None:
        held = self.state.assumption(f"uid-of-{name}")
        if held is not None:
            self._change(name, on=held.node_name)

    @rule(name=POD_NAMES)
    def bind_fails(self, name: str) -> None:
        self.bind_failed_until = self.now + 200
        self.queue.bind_failed(self.state.item_of(f"uid-of-{name}"))
        self._apply(self.state.forget(f"uid-of-{name}"))

    @rule(seconds=st.sampled_from([0.1, 5.0, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        late = self.state.assumed_pods.expire(self.now)
        assert all(self.state.assumption(uid) for uid in late)

    @rule()
    def cycles_until_rest(self) -> None:
        for _ in range(50):
            if not self._cycle():
                break
        else:
            raise AssertionError("the queue never comes to rest")
        for key in self.state.entities:
            members = self.state.item(key)
            assert members is not None
            if self.now >= self.bind_failed_until and wakes_exactly(self.state, members):
                assert decide(self.state, key).result != "scheduled", "room that is enough is never overlooked"

    @rule()
    def one_cycle(self) -> None:
        self._cycle()

    def _cycle(self) -> bool:
        key = self.queue.pop(self.state)
        if key is None:
            return False
        counts = self.state.entities.counts(key)
        free = self.state.nodes.free.copy()
        decision = decide(self.state, key)
        assert (self.state.nodes.free == free).all(), "a decision changes nothing"
        if decision.bindings:
            assert counts.scheduled_count + len(decision.bindings) >= counts.min_count, "never a partial gang"
        assert len(set(decision.bindings)) == len({uid for uid, _ in decision.bindings})
        for uid, node in decision.bindings:
            self._check_place(uid, node)
            self._apply(self.state.assume(uid, node, self.now + 60))
            slot = self.state.nodes.slot_of[node]
            pod = self.state.pod(uid)
            assert pod is not None
            for resource in pod.demand.amounts:
                assert self.state.nodes.free[self.state.nodes.row_of[resource], slot] >= 0, "never over-committed by us"
        self.queue.done(key, decision, self.state)
        return True

    def _check_place(self, uid: str, node_name: str) -> None:
        name = uid.removeprefix("uid-of-")
        node = self.nodes[node_name]
        assert not node.spec.unschedulable
        if "nodeSelector" in self.made[name]["spec"]:  # type: ignore[operator]
            assert (node.metadata.labels or {})["pool"] == "a"
        assert not self.pods[name].spec.node_name

    @invariant()
    def nothing_drifts(self) -> None:
        records = [self.state.slim_pod(pod) for pod in self.pods.values()]
        assert not self.state.recount(records)

    @invariant()
    def the_state_equals_one_built_from_what_is_left(self) -> None:
        fresh = ClusterState(frozenset({"tutti"}))
        for pod in self.pods.values():
            fresh.upsert_pod(pod)
        for group in self.groups.values():
            fresh.upsert_group(group)
        for node in self.nodes.values():
            fresh.upsert_node(node)
        for name in self.pods:
            held = self.state.assumption(f"uid-of-{name}")
            if held is not None:
                fresh.assume(f"uid-of-{name}", held.node_name, held.deadline_seconds)
        assert set(fresh.entities) == set(self.state.entities)
        for key in fresh.entities:
            assert fresh.entities.counts(key) == self.state.entities.counts(key)
            assert fresh.entities.waiting(key) == [] or [p.name for p in fresh.entities.waiting(key)] == [
                p.name for p in self.state.entities.waiting(key)
            ]
            mine, theirs = self.state.item(key), fresh.item(key)
            assert mine is not None
            assert theirs is not None
            assert sorted(list(waiting.uids) for waiting in mine.pending.values()) == sorted(
                list(waiting.uids) for waiting in theirs.pending.values()
            )
        self._compare_fits(fresh)

    @invariant()
    def pods_are_counted_where_they_are(self) -> None:
        neighbours = self.state.topology_index
        for query in QUERIES:
            counted = neighbours.counts(query)
            for node, slot in self.state.nodes.slot_of.items():
                there = [record for record in map(self._record, self.pods) if record and self._is_on(record, node)]
                met = [
                    record
                    for record in there
                    if query.meets(record.namespace, record.labels, neighbours.labels_of)
                    and not (query.skips_leaving and record.terminating)
                ]
                assert counted[slot] == len(met)
        carried = sum(
            bool(record.affinity_terms) and any(self._is_on(record, node) for node in self.state.nodes.slot_of)
            for record in map(self._record, self.pods)
            if record
        )
        assert neighbours.has_existing_terms(build.NAMESPACE) is bool(carried)

    def _record(self, name: str) -> PodRecord | None:
        return self.state.pod(f"uid-of-{name}")

    def _is_on(self, record: PodRecord, node: str) -> bool:
        held = self.state.assumption(record.uid)
        return not record.is_terminal and (record.node_name or (held.node_name if held else "")) == node

    def _compare_fits(self, fresh: ClusterState) -> None:
        for name in self.pods:
            pod, other = self.state.pod(f"uid-of-{name}"), fresh.pod(f"uid-of-{name}")
            if pod and pod.signature and other and other.signature:
                here, there = fits_of(self.state).of(pod.signature), fits_of(fresh).of(other.signature)
                unseen = FitCache(self.state.nodes, self.state.ports).total(pod.signature)
                assert unseen == fits_of(self.state).total(pod.signature) == int(there.capacity.sum())
                for node in self.nodes:
                    a, b = self.state.nodes.slot_of[node], fresh.nodes.slot_of[node]
                    assert (here.capacity[a], here.score[a]) == (there.capacity[b], there.score[b])

    @invariant()
    def the_queue_knows_every_item_that_has_something_to_place(self) -> None:
        places = self.queue.depths()
        pending = [key for key in self.state.entities if self.state.entities.counts(key).pending]
        assert places["active"] + places["waiting"] + places["gated"] >= len(pending)
        if places["active"]:
            assert self.queue.next_due_seconds() == 0.0
        elif places["waiting"]:
            assert self.queue.next_due_seconds() is not None


Events.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestEvents = Events.TestCase
