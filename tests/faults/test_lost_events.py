"""What a script takes from a watch is seen later: a server that loses an event cannot go on with that watch, and it begins anew."""

from tests.faults.cell import run, undisturbed_end
from tests.faults.classes import FaultClass, by_chance
from tests.faults.workflows import WORKFLOWS
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.disturbance import Disturbance
from verify.clusters.tutti_process import Tutti
from verify.faults.proxy import FaultProxy
from verify.faults.script import parse

WORKFLOW = "pod-preempts-pod-beside-a-budget"
URGENT_POD_IS_LOST = "lose-event=1 @ watch pods #1 by tutti-scheduler"


def test_a_pod_whose_creation_is_lost_starts_all_the_same(
    control_plane: ControlPlane, proxy: FaultProxy, tutti: Tutti, auditor: Auditor
) -> None:
    doing, lost = WORKFLOWS[WORKFLOW], by_chance(parse(URGENT_POD_IS_LOST))
    run(control_plane, Disturbance(proxy, tutti), doing, lost, undisturbed_end(control_plane, doing))


def test_what_a_script_makes_watches_lose_is_listed_later_and_its_other_faults_go_on() -> None:
    script = parse(
        "lose-event=2 @ watch nodes #3; drop @ create workloads; lose-event=1 @ watch nodes; cut=1 @ watch pods"
    )
    assert by_chance(script).later == (
        "answer=410 @ watch nodes #1 by tutti-controllers; answer=410 @ watch nodes #1 by tutti-scheduler; "
        "answer=410 @ watch nodes #1 by tutti-webhooks; drop @ create workloads #1; cut=1 @ watch pods #1"
    )


def test_a_script_that_loses_nothing_stays_as_it_is() -> None:
    assert by_chance(parse("drop @ create workloads")) == FaultClass("drop @ create workloads #1")
