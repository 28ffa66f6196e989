"""Whose minimum a bind waits for: that of its group and of every level above it, counting what is certain."""

from collections.abc import Callable, Sequence

from scheduler.binding.binder import Bind
from scheduler.binding.permit import Permit
from scheduler.cache.cluster import ClusterState
from tests.scheduler.core.world import World

NODE = "n"


class Assumed:
    """What stands behind: who is assumed, and of whose bind nobody knows yet how it ends."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self.open: set[str] = set()

    def obstacle(self, bind: Bind) -> str | None:
        return f"of {bind.name}"

    def bound(self, bind: Bind) -> None:
        self.open.discard(bind.uid)

    def failed(self, bind: Bind, reason: str) -> None:
        self.open.discard(bind.uid)
        self._state.forget(bind.uid)

    def forbidden(self, bind: Bind, reason: str, message: str) -> None:
        self.failed(bind, reason)


class Bench(World):
    """Permit on a state without a server, and what it has sent and given back."""

    def __init__(self) -> None:
        super().__init__()
        self.node(NODE, cpu=100)
        self.assumed = Assumed(self.state)
        self.later: list[Callable[[], None]] = []
        self.sent: list[str] = []
        self.since = 0.0
        self.needs: list[int] = []
        self.back: list[str] = []
        self.permit = Permit(
            self.state,
            self.assumed,
            is_open=self.assumed.open.__contains__,
            send=self._send,
            give_back=lambda bind, _: self.end(bind.name),
            later=lambda _, call: self.later.append(call),
            clock=lambda: self.now,
        )

    def _send(self, binds: Sequence[Bind], need: int) -> None:
        self.sent += [bind.name for bind in binds]
        self.since = binds[0].since_seconds
        self.needs.append(need)

    # --- what is there -----------------------------------------------------------------------------------------------

    def runs(self, group: str, count: int = 1, *, phase: str = "Running", first: int = 0) -> None:
        """Members that are bound for certain."""
        for number in range(first, first + count):
            self.pod(f"{group}-{number}", group=group, on=NODE, phase=phase)

    def decided(self, *names: str) -> None:
        """These pods have a place, and their binds are under way."""
        for name in names:
            self.pod(name, group=name.rpartition("-")[0])
            self.state.assume(f"uid-of-{name}", NODE, self.now + 60)
            self.assumed.open.add(f"uid-of-{name}")

    # --- what happens to binds ---------------------------------------------------------------------------------------

    def submit(self, *names: str, need: int = 0) -> None:
        """These binds are ready to be sent."""
        self.permit.submit([self.bind_of(name) for name in names], need)

    def end(self, name: str) -> None:
        """A bind comes to nothing."""
        self.back.append(name)
        self.permit.failed(self.bind_of(name), "")

    def a_second_passes(self) -> None:
        """Whoever asked for it is called."""
        calls, self.later = self.later, []
        for call in calls:
            call()

    def answer(self, name: str) -> None:
        """The server has bound a pod, and the watch has not shown it yet."""
        self.permit.bound(self.bind_of(name))

    def forbid(self, name: str) -> None:
        """The server forbids a bind."""
        self.permit.forbidden(self.bind_of(name), "", "")

    def bind_of(self, name: str) -> Bind:
        return Bind("ns", name, f"uid-of-{name}", NODE, f"uid-of-{NODE}", self.now)


def test_the_binds_of_the_minimum_are_sent_at_once_with_how_many_are_needed() -> None:
    bench = Bench()
    bench.group("g", 2)
    bench.decided("g-0", "g-1", "g-2")
    bench.submit("g-0", "g-1", need=2)
    assert (bench.sent, bench.needs) == (["g-0", "g-1"], [2])


def test_who_comes_later_waits_until_the_server_has_answered_about_the_minimum() -> None:
    bench = Bench()
    bench.group("g", 3)
    bench.decided("g-0", "g-1", "g-2", "g-3")
    bench.submit("g-2", "g-3", need=-2)
    assert (bench.sent, bench.permit.waiting) == ([], 2)
    bench.answer("g-0")
    assert (bench.sent, bench.needs, bench.permit.waiting) == (["g-2", "g-3"], [0], 0)


def test_the_time_of_a_bind_that_has_waited_counts_from_when_it_is_sent() -> None:
    bench = Bench()
    bench.group("g", 2)
    bench.decided("g-0", "g-1", "g-2")
    bench.submit("g-0", "g-1", need=2)
    assert bench.since == bench.now
    bench = Bench()
    bench.group("g", 2)
    bench.decided("g-0", "g-1", "g-2")
    bench.submit("g-2", need=-1)
    bench.now += 100
    bench.answer("g-0")
    assert bench.since == bench.now


def test_an_answer_that_is_not_enough_changes_nothing() -> None:
    bench = Bench()
    bench.group("g", 3)
    bench.decided("g-0", "g-1", "g-2")
    bench.submit("g-2", need=-1)
    bench.answer("g-0")
    assert (bench.sent, bench.permit.waiting) == ([], 1)
    bench.answer("g-1")
    assert (bench.sent, bench.needs, bench.permit.waiting) == (["g-2"], [0], 0)


def test_who_comes_later_is_sent_when_the_minimum_is_ready_too_and_counts_for_it() -> None:
    bench = Bench()
    bench.group("g", 3)
    bench.decided("g-0", "g-1", "g-2", "g-3")
    bench.submit("g-3", need=-1)
    bench.submit("g-0", "g-1", need=2)
    assert (bench.sent, bench.needs) == (["g-3", "g-0", "g-1"], [2])


def test_who_comes_later_is_given_back_once_all_others_have_failed_and_with_fewer_than_the_minimum() -> None:
    bench = Bench()
    bench.group("g", 3)
    bench.decided("g-0", "g-1", "g-2", "g-3")
    bench.submit("g-3", need=-1)
    bench.answer("g-0")
    bench.end("g-1")
    assert bench.back == ["g-1"]
    bench.forbid("g-2")
    assert (bench.sent, bench.back, bench.permit.waiting) == ([], ["g-1", "g-3"], 0)


def test_members_that_have_succeeded_count() -> None:
    bench = Bench()
    bench.group("g", 3)
    bench.runs("g")
    bench.runs("g", phase="Succeeded", first=1)
    bench.decided("g-2")
    bench.submit("g-2", need=-1)
    assert bench.sent == ["g-2"]


def test_what_stands_in_the_way_of_a_bind_is_asked_of_who_stands_behind() -> None:
    bench = Bench()
    assert bench.permit.obstacle(bench.bind_of("p")) == "of p"


def test_when_the_others_have_gone_nobody_waits_for_them() -> None:
    bench = Bench()
    bench.group("g", 2)
    bench.decided("g-0", "g-1", "g-2")
    bench.submit("g-2", need=-1)
    for name in ("g-0", "g-1"):
        bench.pod_gone(name)
    bench.a_second_passes()
    assert bench.back == ["g-2"]


def test_when_the_group_is_made_anew_what_was_decided_for_its_predecessor_is_given_back() -> None:
    bench = Bench()
    bench.group("g", 2)
    bench.decided("g-0", "g-1", "g-2")
    bench.submit("g-2", need=-1)
    bench.group_gone("g")
    bench.group("g", 2, uid="another")
    bench.a_second_passes()
    assert (bench.sent, bench.back, bench.permit.waiting) == ([], ["g-2"], 0)


def test_a_look_that_changes_nothing_is_repeated_and_none_is_asked_for_when_nobody_waits() -> None:
    bench = Bench()
    bench.group("g", 2)
    bench.decided("g-0", "g-1", "g-2")
    bench.submit("g-2", need=-1)
    bench.a_second_passes()
    assert len(bench.later) == 1
    bench.answer("g-0")
    bench.a_second_passes()
    assert bench.later == []


def _tree(bench: Bench, minimum: int, **groups: int) -> None:
    bench.composite("tree", minimum)
    for name, need in groups.items():
        bench.group(name, need, parent="tree")


def test_a_later_group_waits_for_the_minimum_of_its_tree() -> None:
    bench = Bench()
    _tree(bench, 2, a=1, b=1, later=1)
    bench.runs("a")
    bench.decided("b-0", "later-0")
    # With it there are two, whatever becomes of the other one.
    bench.submit("later-0", need=-1)
    assert bench.sent == ["later-0"]
    bench = Bench()
    _tree(bench, 2, a=1, b=1, later=1)
    bench.decided("a-0", "b-0", "later-0")
    bench.submit("later-0", need=-1)
    assert bench.sent == []
    bench.answer("a-0")
    assert bench.sent == ["later-0"]


def test_a_later_member_waits_for_the_minimum_of_its_group_where_the_tree_has_started() -> None:
    bench = Bench()
    _tree(bench, 1, a=1, b=2)
    bench.runs("a")
    bench.decided("b-0", "b-1", "b-2")
    bench.submit("b-2", need=-1)
    assert bench.sent == []
    bench.submit("b-0", "b-1", need=2)
    assert bench.sent == ["b-2", "b-0", "b-1"]


def test_a_group_does_not_wait_for_another_branch_that_is_on_its_way() -> None:
    bench = Bench()
    _tree(bench, 1, a=1, later=1)
    bench.composite("inner", 2, parent="tree")
    for name in ("x", "y"):
        bench.group(name, 1, parent="inner")
    bench.runs("a")
    bench.decided("x-0", "y-0", "later-0")
    bench.submit("later-0", need=-1)
    assert bench.sent == ["later-0"]


def test_a_later_group_waits_for_the_minimum_of_its_branch() -> None:
    bench = Bench()
    _tree(bench, 1, a=1)
    bench.composite("inner", 2, parent="tree")
    for name in ("x", "y", "later"):
        bench.group(name, 1, parent="inner")
    bench.runs("a")
    bench.decided("x-0", "y-0", "later-0")
    bench.submit("later-0", need=-1)
    assert bench.sent == []
    bench.end("x-0")
    bench.end("y-0")
    assert bench.back == ["x-0", "y-0", "later-0"]


def test_branches_that_have_started_count_for_the_level_above() -> None:
    bench = Bench()
    _tree(bench, 2, later=1)
    for branch in ("one", "two"):
        bench.composite(branch, 1, parent="tree")
        bench.group(f"of-{branch}", 1, parent=branch)
        bench.runs(f"of-{branch}")
    bench.decided("later-0")
    bench.submit("later-0", need=-1)
    assert bench.sent == ["later-0"]
