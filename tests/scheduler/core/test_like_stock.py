"""What kube-scheduler 1.37 answered on a real control plane, case by case: the core answers the same.

One difference is meant: we name the taint that keeps a pod away.
"""

import re

import pytest

from tests.placement.case import Case, Running, named
from tests.placement.table import CASES, IDS
from tests.scheduler.core.build import NAMESPACE, pod_key
from tests.scheduler.core.world import World


def build(case: Case) -> World:
    world = World()
    world.apply(world.state.upsert_namespace("other", {"team": "red"}))
    for index, chosen in enumerate(case.services):
        world.state.default_spreads.set_service(NAMESPACE, f"s{index}", chosen)
    for index, machine in enumerate(case.machines):
        world.node(
            f"n{index}",
            cpu=machine.cpu,
            labels=machine.labels,
            taints=list(machine.taints),
            unschedulable=machine.is_cordoned,
            images=[{"names": [name], "sizeBytes": size * 2**20} for name, size in machine.images],
        )
    for index, one in enumerate(case.running):
        _run(world, index, one)
    world.pod("p", cpu=case.cpu, labels=case.labels, spec=named(case.spec, "other"))
    return world


def _run(world: World, index: int, one: Running) -> None:
    more = {"namespace": "other"} if one.other else {}
    name = f"r{index}"
    world.pod(
        name,
        cpu=one.cpu,
        labels=one.labels,
        spec=named(one.spec, "other"),
        on=f"n{one.at}",
        scheduler="foreign",
        **more,
    )


@pytest.mark.parametrize(("group", "case"), CASES, ids=IDS)
def test_a_pod_gets_the_node_or_the_reasons_that_the_stock_scheduler_gives(group: str, case: Case) -> None:
    world = build(case)
    world.run()
    if case.node is None:
        message = re.sub(r"taint \{.*?\}", "taint(s)", world.held(pod_key("p"))[1])
        assert message == f"0/{len(case.machines)} nodes are available: {case.reasons}."
    else:
        assert world.bound().get("p") == f"n{case.node}"
