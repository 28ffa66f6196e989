"""One workflow under one class of faults: how it is run, and when it has ended as it should."""

import time

from tests.faults.classes import FaultClass
from tests.faults.workflows import Workflow
from tests.faults.world import World, world
from verify.auditor.end_state import State, differences
from verify.clusters.controlplane import ControlPlane
from verify.clusters.disturbance import Disturbance
from verify.clusters.eventually import eventually, throughout
from verify.clusters.lws import SERVED_SECONDS, is_followed
from verify.clusters.tutti_process import Tutti
from verify.faults.proxy import FaultProxy
from verify.faults.script import Script, parse

OVER_SECONDS = 180.0
STAYS_SECONDS = 1.0
READY_SECONDS = 60.0
LATER_SECONDS = 3.0
"""So long what was lost is missed before it is made good."""


def await_ready(tutti: Tutti, control_plane: ControlPlane, proxy: FaultProxy) -> None:
    """All processes are there and see what becomes of the run before: its end broke every watch.

    Who sees a pod to come before he sees that the nodes of that run are gone may bind it to one of them, as any scheduler does.
    """
    control_plane.require_running()
    tutti.ensure_running()
    eventually(lambda: is_followed(control_plane.admin), within_seconds=SERVED_SECONDS)
    eventually(lambda: all_is_watched(proxy), within_seconds=READY_SECONDS)


def undisturbed_end(control_plane: ControlPlane, doing: Workflow) -> State:
    """What the workflow leaves when nothing goes wrong."""
    with world(control_plane) as place:
        doing.before(place)
        doing.act(place)
        eventually(lambda: doing.over(place), within_seconds=OVER_SECONDS)
        return place.state()


def run(control_plane: ControlPlane, disturbance: Disturbance, doing: Workflow, kind: FaultClass, wanted: State) -> str:
    """Runs it, and waits until what is there is what is wanted, and stays; a line with figures."""
    proxy = disturbance.proxy
    with world(control_plane) as place:
        doing.before(place)
        begin = time.monotonic()
        proxy.injected.clear()
        try:
            put_in_force(proxy, kind.script)
            doing.act(place)
            if kind.and_then is not None:
                kind.and_then(disturbance)
            if kind.later:
                throughout(lambda: True, seconds=LATER_SECONDS)
                put_in_force(proxy, kind.later)
            eventually(lambda: stays(place, doing, wanted), within_seconds=OVER_SECONDS)
        finally:
            proxy.follow(Script())
            proxy.break_watches()
    happened = ", ".join(sorted({each.rule.fault for each in proxy.injected})) or "none to requests"
    return f"{time.monotonic() - begin:.1f} s, {len(proxy.injected)} faults: {happened}"


def put_in_force(proxy: FaultProxy, line: str) -> None:
    """The script is in force, every watch that it is about from its first one on has begun under it, and all others are there.

    What a process has not seen yet when its watches break it does not know until it follows again, which is a fault of its own.
    """
    script = parse(line)
    if not script.rules:
        return
    proxy.follow(script)
    proxy.break_watches()
    watched = {rule.resource for rule in script.rules if rule.verb == "watch" and rule.first == 1}
    eventually(lambda: watched <= {each.asked.resource for each in proxy.injected}, within_seconds=READY_SECONDS)
    eventually(lambda: all_is_watched(proxy), within_seconds=READY_SECONDS)


def all_is_watched(proxy: FaultProxy) -> bool:
    """Whether every process watches whatever it has ever watched; who was killed, or paused before, may not yet."""
    missing = proxy.has_watched() - proxy.watched()
    assert not missing, f"not watched: {sorted(missing)}"
    return True


def stays(place: World, doing: Workflow, wanted: State) -> bool:
    """Whether it has come to its end and stays there.

    It may come there twice: for a Job that was deleted while its watch was broken, a group is made once more, which the garbage
    collector takes away at once.
    """
    throughout(lambda: is_end(place, doing, wanted), seconds=STAYS_SECONDS, poll_seconds=0.2)
    return True


def is_end(place: World, doing: Workflow, wanted: State) -> bool:
    """Whether it is over, and what is there is what should be."""
    assert doing.over(place)
    different = differences(place.state(), wanted)
    assert not different, "\n".join(different)
    return True
