"""Several faults at once, by chance: the script is printed, and TUTTI_SEED makes it again."""

import random
import sys

import pytest

from tests.faults.cell import OVER_SECONDS, READY_SECONDS, run, undisturbed_end
from tests.faults.classes import by_chance
from tests.faults.workflows import WORKFLOWS
from verify.auditor.auditor import Auditor
from verify.auditor.end_state import State
from verify.clusters.controlplane import ControlPlane
from verify.clusters.disturbance import Disturbance
from verify.clusters.eventually import eventually
from verify.clusters.tutti_process import Tutti
from verify.faults.chance import random_script
from verify.faults.proxy import FaultProxy

RULES = 5


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_the_end_is_that_of_an_undisturbed_run_whatever_goes_wrong(
    control_plane: ControlPlane,
    proxy: FaultProxy,
    tutti: Tutti,
    auditor: Auditor,
    chance: random.Random,
    undisturbed: dict[str, State],
    workflow: str,
) -> None:
    auditor.windows.widen(OVER_SECONDS)
    script = random_script(chance.randrange(10**9), RULES)
    sys.stdout.write(f"{workflow} under: {script}\n")
    doing = WORKFLOWS[workflow]
    if workflow not in undisturbed:
        undisturbed[workflow] = undisturbed_end(control_plane, doing)
    figures = run(control_plane, Disturbance(proxy, tutti), doing, by_chance(script), undisturbed[workflow])
    sys.stdout.write(f"{workflow}: {figures}\n")
    eventually(tutti.ready, within_seconds=READY_SECONDS)
