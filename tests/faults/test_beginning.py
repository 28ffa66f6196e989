"""A run under faults begins only when nothing is left of the faults of the one before."""

from tests.faults.cell import await_ready
from verify.clusters.controlplane import ControlPlane
from verify.clusters.tutti_process import Tutti
from verify.faults.proxy import FaultProxy
from verify.faults.script import parse

NODES_ARE_LATE = "answer=503 @ watch nodes #1-3 by tutti-scheduler"


def test_a_workflow_begins_when_the_scheduler_watches_nodes_again(
    control_plane: ControlPlane, proxy: FaultProxy, tutti: Tutti
) -> None:
    proxy.follow(parse(NODES_ARE_LATE))
    proxy.break_watches()
    await_ready(tutti, control_plane, proxy)
    assert ("tutti-scheduler", "nodes") in proxy.watched()
