"""The classes of faults of the matrix: what happens to requests and watches of Tutti's processes, or to the processes.

Scripts are those of `verify.faults`. Where a class names a process, it is done to scheduler and controllers in turn.
"""

from collections.abc import Callable
from dataclasses import dataclass

from verify.clusters.disturbance import (
    LEADERS,
    WRITES,
    Disturbance,
    kill_leaders,
    kill_when_injected,
    pause_leaders,
    pause_webhooks,
    to_each,
)
from verify.faults.script import Script


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


LOSES = "lose-event"
WATCHED = ("pods", "podgroups", "jobs", "workloads")


def to_each_of_all(fault: str, requests: tuple[str, ...]) -> str:
    """The same fault for the first request of each process."""
    return "; ".join(to_each(fault, requests, f"#1 by tutti-{name}") for name in (*LEADERS, "webhooks"))


def lists_anew(resources: tuple[str, ...]) -> str:
    """Every process lists these again: a server that loses an event cannot go on with that watch; a list has what was lost."""
    return to_each_of_all("answer=410", tuple(f"watch {resource}" for resource in resources))


WATCHES = tuple(f"watch {resource}" for resource in WATCHED)

CLASSES = {
    "crash-before-a-write": FaultClass(to_each("drop", WRITES), kill_when_injected),
    "crash-after-a-write": FaultClass(to_each("lose-answer", WRITES), kill_when_injected),
    "answer-lost": FaultClass(to_each("lose-answer", WRITES)),
    "stale-server-after-a-restart": FaultClass(to_each("stale", tuple(f"list {one}" for one in WATCHED)), kill_leaders),
    "event-lost": FaultClass(to_each(f"{LOSES}=1", WATCHES), later=lists_anew(WATCHED)),
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


def by_chance(script: Script) -> FaultClass:
    """A class that has no name; what its script makes watches lose is listed later, and all else of it begins anew then."""
    lost = sorted({rule.resource for rule in script.rules if rule.fault == LOSES})
    if not lost:
        return FaultClass(str(script))
    others = Script(tuple(rule for rule in script.rules if rule.fault != LOSES))
    return FaultClass(str(script), later=f"{lists_anew(tuple(lost))}; {others}")
