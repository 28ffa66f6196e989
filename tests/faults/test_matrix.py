"""Workflows × classes of faults: what is there in the end is what an undisturbed run leaves, and it stays.

Every test is named after its workflow and its class. The auditor judges the way there, as in every conformance test. A class whose
script did not come to pass, though every workflow makes such requests, fails: nothing is marked as passed that was skipped.
"""

import sys

import pytest

from tests.faults.cell import OVER_SECONDS, READY_SECONDS, run, undisturbed_end
from tests.faults.classes import CLASSES
from tests.faults.workflows import WORKFLOWS
from verify.auditor.auditor import Auditor
from verify.auditor.end_state import State
from verify.clusters.controlplane import ControlPlane
from verify.clusters.disturbance import Disturbance
from verify.clusters.eventually import eventually
from verify.clusters.tutti_process import Tutti
from verify.faults.proxy import FaultProxy


@pytest.mark.parametrize("fault", CLASSES)
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_the_end_is_that_of_an_undisturbed_run(
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
    figures = run(control_plane, Disturbance(proxy, tutti), doing, kind, undisturbed[workflow])
    sys.stdout.write(f"{workflow} x {fault}: {figures}\n")
    assert proxy.injected or not kind.must_happen, f"nothing happened of {kind.script}"
    eventually(tutti.ready, within_seconds=READY_SECONDS)
