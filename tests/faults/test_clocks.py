"""Every workflow while the time of day of Tutti's processes is set forward and back: the end is that of an undisturbed run.

Half an hour is more than any lease, back-off or time-out lasts, and less than a token or a certificate is good for.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.constants import SYSTEM_NAMESPACE
from tests.faults.cell import OVER_SECONDS, READY_SECONDS, await_ready, run, undisturbed_end
from tests.faults.classes import FaultClass
from tests.faults.workflows import WORKFLOWS
from verify.auditor.audit_log import seconds
from verify.auditor.auditor import Auditor
from verify.auditor.end_state import State
from verify.clusters.behind_proxy import tutti_behind
from verify.clusters.controlplane import ControlPlane
from verify.clusters.disturbance import Disturbance
from verify.clusters.eventually import eventually, throughout
from verify.clusters.tutti_process import LEASES, Tutti
from verify.clusters.wall_clock import WallClock, folder_without_blanks, working_library
from verify.faults.proxy import FaultProxy

STEP_SECONDS = 1800
LASTS_SECONDS = 3.0
CLOSE_SECONDS = 300.0


@pytest.fixture(scope="module")
def clock() -> Iterator[WallClock]:
    with tempfile.TemporaryDirectory(prefix="tutti-clock-", dir=folder_without_blanks()) as folder:
        library = working_library(Path(folder))
        if library is None:
            pytest.skip("no libfaketime works on this machine: the clock of its processes cannot be set")
        yield WallClock(library, Path(folder))


@pytest.fixture(scope="module")
def clocked(control_plane: ControlPlane, proxy: FaultProxy, installation: Tutti, clock: WallClock) -> Iterator[Tutti]:
    """`tutti run` whose processes see that clock, in place of the one of the other tests."""
    if installation.server.running:
        installation.stop()
    made = tutti_behind(control_plane, proxy, variables=clock.variables)
    yield made
    if made.server.running:
        made.stop()
    made.kill_everything()


@pytest.fixture
def tutti(clocked: Tutti, control_plane: ControlPlane, proxy: FaultProxy, kubelet: None, lws_controller: None) -> Tutti:
    await_ready(clocked, control_plane, proxy)
    return clocked


def is_seen(control_plane: ControlPlane, ahead_seconds: float) -> bool:
    """Whether both leaders write leases by a clock that differs by so much."""
    leases = [control_plane.admin.get("leases", name, SYSTEM_NAMESPACE) for name in LEASES]
    found = [seconds(lease["spec"]["renewTime"]) - time.time() for lease in leases]
    assert all(abs(each - ahead_seconds) < CLOSE_SECONDS for each in found), f"leases are ahead by {found}"
    return True


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_the_end_is_that_of_an_undisturbed_run_although_clocks_are_set(
    control_plane: ControlPlane,
    proxy: FaultProxy,
    tutti: Tutti,
    clock: WallClock,
    auditor: Auditor,
    undisturbed: dict[str, State],
    workflow: str,
) -> None:
    auditor.windows.widen(OVER_SECONDS)
    doing = WORKFLOWS[workflow]
    if workflow not in undisturbed:
        undisturbed[workflow] = undisturbed_end(control_plane, doing)

    def set_clocks(_: Disturbance) -> None:
        for ahead_seconds in (STEP_SECONDS, -STEP_SECONDS, 0):
            clock.step(ahead_seconds)
            eventually(lambda ahead=ahead_seconds: is_seen(control_plane, ahead), within_seconds=READY_SECONDS)  # type: ignore[misc]
            throughout(lambda: True, seconds=LASTS_SECONDS)

    figures = run(
        control_plane, Disturbance(proxy, tutti), doing, FaultClass(and_then=set_clocks), undisturbed[workflow]
    )
    sys.stdout.write(f"{workflow} x clocks-set: {figures}\n")
    eventually(tutti.ready, within_seconds=READY_SECONDS)
