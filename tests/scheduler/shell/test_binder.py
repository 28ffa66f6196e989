"""What becomes of a bind: success, refusal, a lost answer, no right; each ends once and never gives room away on a guess."""

import random

import pytest

from kube.client.errors import Conflict, Forbidden, KubeError, OutcomeUnknown, ServerError, TooManyRequests, Unreachable
from scheduler.apicalls.dispatcher import APIDispatcher, Retries
from scheduler.binding.binder import Bind, Binder
from tests.scheduler.shell.clocks import FakeClock
from tests.scheduler.shell.fake_api import FakeApi, always, once

LOST = OutcomeUnknown("the answer was lost")


class Told:
    """Bind results that note what they are told."""

    def __init__(self) -> None:
        self.ends: list[str] = []
        self.reasons: list[str] = []
        self.in_the_way: str | None = None
        self.lost_nodes: set[str] = set()

    def obstacle(self, bind: Bind) -> str | None:
        return f"node {bind.node_name} is gone" if bind.node_name in self.lost_nodes else self.in_the_way

    def bound(self, bind: Bind) -> None:
        self.ends.append(f"bound {bind.name}")

    def failed(self, bind: Bind, reason: str) -> None:
        self.ends.append(f"failed {bind.name}")
        self.reasons.append(reason)

    def forbidden(self, bind: Bind, reason: str, message: str) -> None:
        self.ends.append(f"forbidden {bind.name}: {reason}")
        self.reasons.append(message)


class Bench:
    def __init__(self) -> None:
        self.api = FakeApi()
        self.clock = FakeClock()
        self.told = Told()
        self.seconds: list[float] = []
        self.dispatcher = APIDispatcher(concurrency=4, may_write=lambda: True, clock=self.clock)
        self.binder = Binder(
            self.api,
            self.dispatcher,
            self.told,
            retries=Retries(self.clock.later, random.Random(1)),
            clock=self.clock,
            give_up_seconds=60.0,
            observe_seconds=self.seconds.append,
        )
        self.pod = self.api.put("pods", {"metadata": {"namespace": "ns", "name": "p"}, "spec": {}})

    def bind(self, *, uid: str | None = None) -> None:
        pod_uid = uid or self.pod["metadata"]["uid"]
        self.binder.submit([Bind("ns", "p", pod_uid, "n1", "node-uid", self.clock.now)], 1)

    async def settle(self) -> None:
        await self.dispatcher.idle()


@pytest.fixture
async def bench() -> Bench:
    return Bench()


def assign(bench: Bench, node: str) -> None:
    pod = bench.api.peek("pods", "ns", "p")
    pod["spec"]["nodeName"] = node
    bench.api.put("pods", pod)


async def test_a_bind_that_is_answered_is_told_once_and_timed(bench: Bench) -> None:
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["bound p"]
    assert bench.api.bound() == {"p": "n1"}
    assert bench.seconds == [0.0]


async def test_a_bind_with_an_obstacle_is_not_sent(bench: Bench) -> None:
    bench.told.in_the_way = "node n1 is gone"
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["failed p"]
    assert bench.told.reasons == ["node n1 is gone"]
    assert bench.api.sent("create", "pods/binding") == []


class Gang:
    """Three pods of one decision, each on a node of its own."""

    def __init__(self, bench: Bench, *, need: int) -> None:
        pods = [bench.api.put("pods", {"metadata": {"namespace": "ns", "name": f"p{n}"}, "spec": {}}) for n in range(3)]
        self.binds = [
            Bind("ns", pod["metadata"]["name"], pod["metadata"]["uid"], f"n{number}", f"uid-{number}", bench.clock.now)
            for number, pod in enumerate(pods)
        ]
        bench.binder.submit(self.binds, need)


@pytest.mark.parametrize("lost", ["n0", "n1", "n2"])
async def test_a_gang_of_which_a_node_is_gone_before_the_first_bind_is_not_begun(bench: Bench, lost: str) -> None:
    Gang(bench, need=3)
    bench.told.lost_nodes.add(lost)
    await bench.settle()
    assert bench.api.bound() == {}
    assert sorted(bench.told.ends) == ["failed p0", "failed p1", "failed p2"]
    assert set(bench.told.reasons) == {f"2 of 3 pods can still be bound, 3 must be: node {lost} is gone"}


async def test_where_enough_can_still_be_bound_only_those_that_cannot_are_left_out(bench: Bench) -> None:
    Gang(bench, need=2)
    bench.told.lost_nodes.add("n1")
    await bench.settle()
    assert bench.api.bound() == {"p0": "n0", "p2": "n2"}
    assert bench.told.reasons == ["node n1 is gone"]


async def test_once_a_gang_is_begun_each_pod_goes_its_own_way(bench: Bench) -> None:
    bench.api.before.append(once("create", "pods/binding", ServerError(503, "busy")))
    gang = Gang(bench, need=3)
    await bench.settle()
    bench.told.lost_nodes.add("n0")
    bench.clock.pass_seconds(1.0)
    await bench.settle()
    assert bench.api.bound() == {each.name: each.node_name for each in gang.binds[1:]}
    assert bench.told.reasons == ["node n0 is gone"]


async def test_a_lost_answer_of_a_bind_that_was_done_is_read_and_not_repeated(bench: Bench) -> None:
    bench.api.after.append(once("create", "pods/binding", LOST))
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["bound p"]
    assert len(bench.api.sent("create", "pods/binding")) == 1
    assert len(bench.api.sent("get", "pods")) == 1


async def test_a_lost_bind_that_was_not_done_is_repeated_on_the_same_node_after_reading(bench: Bench) -> None:
    bench.api.before.append(once("create", "pods/binding", LOST))
    bench.bind()
    await bench.settle()
    assert bench.told.ends == []
    bench.clock.pass_seconds(1.0)
    await bench.settle()
    assert bench.told.ends == ["bound p"]
    assert [verb for verb, _, _ in bench.api.log] == ["create", "get", "create"]


async def test_an_internal_error_of_the_server_counts_as_a_lost_answer(bench: Bench) -> None:
    bench.api.after.append(once("create", "pods/binding", ServerError(500, "InternalError", "etcd is slow")))
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["bound p"]
    assert len(bench.api.sent("create", "pods/binding")) == 1


async def test_while_nothing_can_be_read_nothing_is_concluded(bench: Bench) -> None:
    bench.api.after.append(once("create", "pods/binding", LOST))
    unreadable = always("get", "pods", Unreachable("no route"))
    bench.api.before.append(unreadable)
    bench.bind()
    await bench.settle()
    for _ in range(20):
        bench.clock.pass_seconds(10.0)
        await bench.settle()
    assert bench.told.ends == []
    bench.api.before.remove(unreadable)
    bench.clock.pass_seconds(10.0)
    await bench.settle()
    assert bench.told.ends == ["bound p"]


async def test_a_pod_that_somebody_else_bound_is_given_up(bench: Bench) -> None:
    assign(bench, "n2")
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["failed p"]
    assert "n2" in bench.told.reasons[0]


async def test_a_successor_that_is_on_the_node_is_not_the_pod_whose_answer_was_lost(bench: Bench) -> None:
    bench.api.before.append(once("create", "pods/binding", LOST))
    assign(bench, "n1")
    bench.bind(uid="uid-of-its-predecessor")
    await bench.settle()
    assert bench.told.ends == ["failed p"]
    assert bench.told.reasons == ["the pod was replaced by another of its name"]


async def test_a_conflict_over_a_pod_that_is_on_our_node_is_success(bench: Bench) -> None:
    assign(bench, "n1")
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["bound p"]


async def test_a_conflict_over_an_unbound_pod_is_a_failure(bench: Bench) -> None:
    bench.api.before.append(once("create", "pods/binding", Conflict(409, "Conflict", "pod is being deleted")))
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["failed p"]


async def test_a_same_named_successor_is_never_bound(bench: Bench) -> None:
    bench.bind(uid="an older pod")
    await bench.settle()
    assert bench.told.ends == ["failed p"]
    assert bench.api.bound() == {}


async def test_a_pod_that_is_gone_is_a_failure(bench: Bench) -> None:
    bench.api.remove("pods", "ns", "p")
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["failed p"]


@pytest.mark.parametrize("error", [Unreachable("refused"), TooManyRequests(429, "TooManyRequests", "later", {}, 2.0)])
async def test_a_bind_that_was_certainly_not_carried_out_is_repeated_without_reading(
    bench: Bench, error: KubeError
) -> None:
    bench.api.before.append(once("create", "pods/binding", error))
    bench.bind()
    await bench.settle()
    bench.clock.pass_seconds(3.0)
    await bench.settle()
    assert bench.told.ends == ["bound p"]
    assert bench.api.sent("get", "pods") == []


async def test_a_server_that_asks_to_wait_is_not_asked_earlier(bench: Bench) -> None:
    bench.api.before.append(once("create", "pods/binding", TooManyRequests(429, "TooManyRequests", "later", {}, 5.0)))
    bench.bind()
    await bench.settle()
    bench.clock.pass_seconds(4.9)
    await bench.settle()
    assert len(bench.api.sent("create", "pods/binding")) == 1
    bench.clock.pass_seconds(0.2)
    await bench.settle()
    assert bench.told.ends == ["bound p"]


async def test_a_bind_that_never_gets_through_gives_its_room_back_in_the_end(bench: Bench) -> None:
    bench.api.before.append(always("create", "pods/binding", Unreachable("refused")))
    bench.bind()
    await bench.settle()
    for _ in range(30):
        bench.clock.pass_seconds(10.0)
        await bench.settle()
    assert bench.told.ends == ["failed p"]
    assert bench.clock.waiting == 0


async def test_one_that_is_given_up_counts_among_the_slow_ones(bench: Bench) -> None:
    """Where no bind is answered in time, figures of those that succeed would show nothing."""
    bench.api.before.append(always("create", "pods/binding", LOST))
    bench.bind()
    await bench.settle()
    for _ in range(30):
        bench.clock.pass_seconds(10.0)
        await bench.settle()
    assert bench.told.ends == ["failed p"]
    (seconds,) = bench.seconds
    assert 60 < seconds <= 80


async def test_a_missing_right_is_told_and_not_repeated(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.api.before.append(always("create", "pods/binding", Forbidden(403, "Forbidden", "cannot create pods/binding")))
    bench.bind()
    await bench.settle()
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["forbidden p: BindForbidden", "forbidden p: BindForbidden"]
    assert "cannot create pods/binding" in bench.told.reasons[0]
    assert caplog.text.count("the scheduler may not bind pods") == 1


async def test_a_namespace_that_is_being_deleted_is_no_missing_right(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer of Kubernetes 1.37, word for word."""
    cause = {
        "reason": "NamespaceTerminating",
        "message": "namespace ns is being terminated",
        "field": "metadata.namespace",
    }
    sentence = 'pods "p" is forbidden: unable to create new content in namespace ns because it is being terminated'
    details = {"name": "p", "kind": "pods", "causes": [cause]}
    bench.api.before.append(always("create", "pods/binding", Forbidden(403, "Forbidden", sentence, details)))
    bench.bind()
    await bench.settle()
    assert bench.told.ends == ["forbidden p: NamespaceTerminating"]
    assert bench.told.reasons == ["the namespace ns is being deleted, so none of its pods can be bound any more"]
    assert "the scheduler may not bind pods" not in caplog.text
