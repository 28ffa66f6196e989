"""Workflows × classes of faults: what is there in the end is what an undisturbed run leaves, and it stays.

Every test is named after its workflow and its class. The auditor judges the way there, as in every conformance test. A class whose
script did not come to pass, though its workflow makes such requests always, fails: nothing is marked as passed that was skipped.
"""

import sys
import time

import pytest

from tests.conformance.controlplane import ControlPlane
from tests.conformance.eventually import eventually, throughout
from tests.conformance.tutti_process import Tutti
from tests.faults.classes import CLASSES, Disturbance
from tests.faults.workflows import WORKFLOWS, Workflow
from tests.faults.world import World, world
from verify.auditor.auditor import Auditor
from verify.auditor.end_state import State, differences
from verify.faults.proxy import FaultProxy
from verify.faults.script import Script, parse

OVER_SECONDS = 180.0
STAYS_SECONDS = 1.0
READY_SECONDS = 60.0
LATER_SECONDS = 3.0
"""So long what was lost is missed before it is made good."""


@pytest.mark.parametrize("fault", CLASSES)
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_matrix(
    control_plane: ControlPlane,
    proxy: FaultProxy,
    tutti: Tutti,
    auditor: Auditor,
    undisturbed: dict[str, State],
    workflow: str,
    fault: str,
) -> None:
    # Who was killed or held up leaves a gang as it is until it may act again.
    auditor.windows.widen(OVER_SECONDS)
    doing, kind = WORKFLOWS[workflow], CLASSES[fault]
    if workflow not in undisturbed:
        undisturbed[workflow] = undisturbed_end(control_plane, doing)
    with world(control_plane) as place:
        doing.before(place)
        disturbance = Disturbance(proxy, tutti)
        begin = time.monotonic()
        try:
            proxy.injected.clear()
            put_in_force(proxy, kind.script)
            doing.act(place)
            if kind.and_then is not None:
                kind.and_then(disturbance)
            if kind.later:
                throughout(lambda: True, seconds=LATER_SECONDS)
                put_in_force(proxy, kind.later)
            eventually(lambda: is_end(place, doing, undisturbed[workflow]), within_seconds=OVER_SECONDS)
        finally:
            proxy.follow(Script())
            proxy.break_watches()
        throughout(lambda: is_end(place, doing, undisturbed[workflow]), seconds=STAYS_SECONDS, poll_seconds=0.2)
        happened = sorted({each.rule.fault for each in proxy.injected})
        took = time.monotonic() - begin
        sys.stdout.write(f"{workflow} x {fault}: {took:.1f} s, {len(proxy.injected)} faults: {', '.join(happened)}\n")
        assert proxy.injected or not kind.must_happen, f"nothing happened of {kind.script}"
        eventually(tutti.ready, within_seconds=READY_SECONDS)


def put_in_force(proxy: FaultProxy, line: str) -> None:
    """The script is in force, and every watch that it is about has begun under it."""
    script = parse(line)
    if not script.rules:
        return
    proxy.follow(script)
    proxy.break_watches()
    of_watches = {rule for rule in script.rules if rule.verb == "watch"}
    eventually(lambda: of_watches <= {each.rule for each in proxy.injected}, within_seconds=READY_SECONDS)


def undisturbed_end(control_plane: ControlPlane, doing: Workflow) -> State:
    """What the workflow leaves when nothing goes wrong."""
    with world(control_plane) as place:
        doing.before(place)
        doing.act(place)
        eventually(lambda: doing.over(place), within_seconds=OVER_SECONDS)
        return place.state()


def is_end(place: World, doing: Workflow, wanted: State) -> bool:
    """Whether it is over, and what is there is what should be."""
    assert doing.over(place)
    different = differences(place.state(), wanted)
    assert not different, "\n".join(different)
    return True
