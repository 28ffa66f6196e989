"""The classes of faults of the matrix: what happens to requests and watches of Tutti's processes, or to the processes.

Scripts are those of `verify.faults`. Where a class names a process, it is done to scheduler and controllers in turn.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from tests.conformance.eventually import eventually, throughout
from tests.conformance.tutti_process import Tutti
from verify.faults.proxy import FaultProxy

PAUSED_SECONDS = 10.0
LEADERS = ("controllers", "scheduler")


@dataclass(frozen=True)
class Disturbance:
    """What a fault can reach."""

    proxy: FaultProxy
    tutti: Tutti


@dataclass(frozen=True)
class FaultClass:
    """One of the fourteen.

    Attributes:
        script: in force while users act, and until the end; watches are made anew when it comes into force.
        and_then: what happens to processes after users have acted.
        later: in force after that; watches are made anew once more.
        must_happen: whether the workflow cannot come to its end without the script's fault. Others may miss it: a workflow that
            writes nothing has no write that could fail.
    """

    script: str = ""
    and_then: Callable[[Disturbance], None] | None = None
    later: str = ""
    must_happen: bool = False


def kill_leaders(disturbance: Disturbance) -> None:
    """Both processes die at once, in the middle of what they do."""
    for name in LEADERS:
        disturbance.tutti.kill_child(name)


def kill_when_injected(disturbance: Disturbance, *, since: int = 0) -> None:
    """Dies who sent the request that the script is about, right after it; nobody when there was none in time.

    Args:
        disturbance: what can be reached.
        since: so many faults had happened before.
    """

    def happened() -> bool:
        return len(disturbance.proxy.injected) > since

    try:
        eventually(happened, within_seconds=5.0, poll_seconds=0.005)
    except AssertionError:
        return
    client = disturbance.proxy.injected[since].asked.agent.partition("/")[0]
    disturbance.tutti.kill_child(client.removeprefix("tutti-"))


def pause_leaders(disturbance: Disturbance, *, seconds: float = PAUSED_SECONDS) -> None:
    """Both are stopped for longer than their leases last, and go on; each ends by itself and is started again."""
    pids = [pid for name, pid in disturbance.tutti.children().items() if name in LEADERS]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    throughout(lambda: True, seconds=seconds)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    disturbance.tutti.expect_new_leases()


def pause_webhooks(disturbance: Disturbance) -> None:
    """Admission does not answer for a while after users have acted."""
    pid = disturbance.tutti.children()["webhooks"]
    os.kill(pid, signal.SIGSTOP)
    throughout(lambda: True, seconds=PAUSED_SECONDS)
    os.kill(pid, signal.SIGCONT)


WRITES = ("create workloads", "create podgroups", "patch jobs", "patch podgroups", "create pods/binding")
WATCHED = ("pods", "podgroups", "jobs", "workloads")


def to_each(fault: str, requests: tuple[str, ...], count: str = "#1") -> str:
    """The same fault for several kinds of requests."""
    return "; ".join(f"{fault} @ {request} {count}" for request in requests)


def to_each_of_all(fault: str, requests: tuple[str, ...]) -> str:
    """The same fault for the first request of each process."""
    return "; ".join(to_each(fault, requests, f"#1 by tutti-{name}") for name in (*LEADERS, "webhooks"))


WATCHES = tuple(f"watch {resource}" for resource in WATCHED)

CLASSES = {
    "crash-before-a-write": FaultClass(to_each("drop", WRITES), kill_when_injected),
    "crash-after-a-write": FaultClass(to_each("lose-answer", WRITES), kill_when_injected),
    "answer-lost": FaultClass(to_each("lose-answer", WRITES)),
    "stale-server-after-a-restart": FaultClass(to_each("stale", tuple(f"list {one}" for one in WATCHED)), kill_leaders),
    # A server that loses an event cannot go on with that watch; what was lost is seen by the list that follows.
    "event-lost": FaultClass(to_each("lose-event=1", WATCHES), later=to_each_of_all("answer=410", WATCHES)),
    "event-repeated": FaultClass(to_each("repeat-event=1", WATCHES)),
    "kinds-reordered": FaultClass("hold=1 @ watch pods #*; behind=pods,2 @ watch podgroups #*", must_happen=True),
    "watch-half-open": FaultClass("half-open=2 @ watch pods #1", must_happen=True),
    "version-too-old": FaultClass(to_each("gone=1", WATCHES), must_happen=True),
    "conflict": FaultClass(to_each("answer=409", WRITES, "#1-2")),
    "throttled-and-broken-server": FaultClass(
        to_each("answer=429,1", WRITES) + "; " + to_each("answer=500", WRITES, "#2") + "; answer=503 @ list * #1-3"
    ),
    "rights-lost-for-a-while": FaultClass(to_each("answer=403", WRITES, "#1-2")),
    "leader-paused-beyond-its-lease": FaultClass(and_then=pause_leaders),
    "webhooks-away": FaultClass(and_then=pause_webhooks),
}
