"""What kube-scheduler 1.37 answered on a real control plane, case by case: the core answers the same.

Two differences are meant: we name the taint that keeps a pod away, and what is said of scheduling gates is said by the API server.
"""

import re

import pytest

from api.constants import REASON_SCHEDULING_GATED
from scheduler.cache.scoring import Scoring
from scheduler.profiles import ProfileSettings
from tests.placement.case import Case, Running, named, own_names
from tests.placement.table import CASES, IDS
from tests.scheduler.core.build import NAMESPACE, pod_key
from tests.scheduler.core.world import World
from verify.clusters.profiles import PROFILES


def build(case: Case) -> World:
    scheduler = f"tutti-{case.profile}" if case.profile else "tutti"
    world = World(scheduler, scorings=_scorings(case.profile))
    world.apply(world.state.upsert_namespace("other", {"team": "red"}))
    for index, chosen in enumerate(case.services):
        world.state.default_spreads.set_service(NAMESPACE, f"s{index}", chosen)
    for index, machine in enumerate(case.machines):
        world.node(
            f"n{index}",
            cpu=machine.cpu,
            memory=f"{machine.memory}Gi",
            pods=machine.pods,
            resources=machine.more,
            labels=machine.labels,
            taints=list(machine.taints),
            unschedulable=machine.is_cordoned,
            features=machine.features,
            images=[{"names": [name], "sizeBytes": size * 2**20} for name, size in machine.images],
        )
    for index, one in enumerate(case.running):
        _run(world, index, one)
    for manifest in case.objects:
        world.stored(own_names(manifest, _name))
    spec = own_names(named(case.spec, "other"), _name)
    if "containers" in spec and _requests(case):
        spec["containers"][0]["resources"] = {"requests": _requests(case)}
    world.pod("asked", requests=_requests(case), labels=case.labels, spec=spec, scheduler=scheduler)
    return world


def _scorings(profile: str) -> dict[str, Scoring]:
    if not profile:
        return {}
    settings = ProfileSettings(scheduler_name=f"tutti-{profile}", **PROFILES[profile].settings)
    return {settings.scheduler_name: settings.scoring()}


def _requests(asks: Case | Running) -> dict[str, str]:
    return {**({"cpu": str(asks.cpu)} if asks.cpu else {}), **asks.requests}


def _name(short: str) -> str:
    return NAMESPACE if short == "namespace" else short


def _run(world: World, index: int, one: Running) -> None:
    more = {"namespace": "other"} if one.other else {}
    name = f"r{index}"
    world.pod(
        name,
        requests=_requests(one),
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
    if case.is_whole:
        assert (world.bound().get("asked"), world.held(pod_key("asked"))[0]) == (None, REASON_SCHEDULING_GATED)
    elif case.node is None:
        message = re.sub(r"taint \{.*?\}", "taint(s)", world.held(pod_key("asked"))[1])
        assert message == own_names(case.message(), _name)
    else:
        assert world.bound().get("asked") == f"n{case.node}"
