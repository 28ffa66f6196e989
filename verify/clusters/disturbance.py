"""What is done to Tutti while it runs: its processes are killed or stopped, and scripts that concern each of its writes.

Where something is done to leaders, it is done to scheduler and controllers.
"""

import os
import signal
from dataclasses import dataclass

from verify.clusters.eventually import eventually, throughout
from verify.clusters.tutti_process import Tutti
from verify.faults.proxy import FaultProxy

PAUSED_SECONDS = 10.0
LEADERS = ("controllers", "scheduler")
WRITES = ("create workloads", "create podgroups", "patch jobs", "patch podgroups", "create pods/binding")


@dataclass(frozen=True)
class Disturbance:
    """What a fault can reach."""

    proxy: FaultProxy
    tutti: Tutti


def to_each(fault: str, requests: tuple[str, ...], count: str = "#1") -> str:
    """The same fault for several kinds of requests."""
    return "; ".join(f"{fault} @ {request} {count}" for request in requests)


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
    disturbance.tutti.kill_child(disturbance.proxy.injected[since].asked.component.removeprefix("tutti-"))


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
