"""Who leaves for whom, and who stays."""

import pytest

from tests.conformance.scenarios.preemption_stage import HIGH, LOW, MID, NEVER, SOON_SECONDS, TOP, Stage
from verify.clusters.eventually import eventually, throughout

STAYS_SECONDS = 1.0

pytestmark = pytest.mark.usefixtures("nothing_wasted")


@pytest.mark.parametrize("need", [3, None])
def test_three_low_pods_leave_for_a_group_of_three(stage: Stage, need: int | None) -> None:
    node = stage.node(3, tended=False)
    victims = [f"low-{number}" for number in range(3)]
    for name in victims:
        stage.pod(name, on=node)
    # The group comes last: a basic one would start with its first pod.
    stage.members("g", 3)
    group = stage.group("g", need)
    eventually(lambda: stage.leaving() == set(victims), within_seconds=SOON_SECONDS)
    assert stage.nominations("g") == {node}
    assert stage.places("g") == {}
    stage.preempted(*victims)
    for name in victims:
        note = f"Preempted by podgroup {group['metadata']['uid']} on node cluster"
        assert stage.jobs.events("Pod", name, "Preempted") == [note]
        mark = next(
            entry for entry in stage.pods()[name]["status"]["conditions"] if entry["type"] == "DisruptionTarget"
        )
        assert (mark["status"], mark["reason"]) == ("True", "PreemptionByScheduler")
        assert mark["message"] == "tutti: preempting to accommodate a higher priority podgroup"
    stage.end(*victims)
    stage.runs("g", 3)


def test_only_victims_on_the_nodes_that_are_used_leave(stage: Stage) -> None:
    low_on = {stage.node(2): f"low-{number}" for number in range(4)}
    for node, name in low_on.items():
        stage.pod(name, 2, on=node)
    stage.gang("g", 2, 2)
    stage.runs("g", 2)
    stage.preempted(*(low_on[node] for node in stage.places("g").values()))
    assert len(stage.staying()) == 4


def test_pods_under_a_budget_stay_when_others_can_leave(stage: Stage) -> None:
    node = stage.node(3)
    stage.pod("low-1", on=node, labels={"app": "safe"})
    stage.pod("low-2", on=node, labels={"app": "safe"})
    stage.pod("low-3", on=node)
    stage.budget({"app": "safe"}, 2)
    stage.gang("g", 1)
    stage.runs("g", 1)
    stage.preempted("low-3")


def test_a_budget_is_broken_when_there_is_no_other_way(stage: Stage) -> None:
    node = stage.node(2)
    for number in range(2):
        stage.pod(f"low-{number}", on=node, labels={"app": "safe"})
    stage.budget({"app": "safe"}, 2)
    stage.gang("g", 2)
    stage.runs("g", 2)
    stage.preempted("low-0", "low-1")


def test_victims_are_spread_as_the_placement_needs(stage: Stage) -> None:
    for number in range(3):
        stage.pod(f"low-{number}", on=stage.node(2))
    stage.gang("g", 3, 2)
    stage.runs("g", 3)
    stage.preempted("low-0", "low-1", "low-2")


def test_nobody_leaves_when_a_more_important_pod_is_in_the_way(stage: Stage) -> None:
    node = stage.node(3)
    stage.pod("boss-0", on=node, priority=TOP)
    for number in range(2):
        stage.pod(f"low-{number}", on=node)
    stage.gang("g", 3)
    message = stage.refused("g", "pod group preemption: minCount (3) cannot be satisfied: 2 scheduled, 1 remaining")
    assert "minCount (3) cannot be satisfied" in message
    throughout(lambda: not stage.leaving() and not stage.places("g"), seconds=STAYS_SECONDS)


def test_the_more_important_of_two_stays(stage: Stage) -> None:
    node = stage.node(2)
    stage.pod("mid-0", on=node, priority=MID)
    stage.pod("low-0", on=node)
    stage.gang("g", 1)
    stage.runs("g", 1)
    stage.preempted("low-0")


@pytest.mark.parametrize("need", [3, None])
def test_a_group_that_leaves_whole_leaves_whole(stage: Stage, need: int | None) -> None:
    node = stage.node(3)
    stage.group("v", need, LOW, whole=True)
    stage.members("v", 3, priority=LOW, on=node)
    stage.gang("g", 1)
    stage.runs("g", 1)
    stage.preempted("v-0", "v-1", "v-2")


@pytest.mark.parametrize("preemptor", ["group", "pod"])
def test_a_group_of_single_mode_gives_what_is_needed(stage: Stage, preemptor: str) -> None:
    node = stage.node(3)
    stage.group("v", 3, LOW)
    stage.members("v", 3, priority=LOW, on=node)
    if preemptor == "group":
        stage.gang("g", 1)
    else:
        stage.pod("g-0", priority=HIGH)
    stage.runs("g", 1)
    eventually(lambda: len(stage.pods()) == 3, within_seconds=SOON_SECONDS)


def test_a_pod_evicts_a_whole_group_on_all_its_nodes(stage: Stage) -> None:
    stage.group("v", 2, LOW, whole=True)
    for number in range(2):
        stage.pod(f"v-{number}", on=stage.node(1), group="v")
    stage.pod("g-0", priority=HIGH)
    stage.runs("g", 1)
    stage.preempted("v-0", "v-1")
    uid = stage.pods()["g-0"]["metadata"]["uid"]
    assert stage.jobs.events("Pod", "v-0", "Preempted")[0].startswith(f"Preempted by pod {uid} on node ")


def test_a_member_that_only_a_more_important_pod_could_make_room_for_waits(stage: Stage) -> None:
    node = stage.node(3)
    stage.pod("boss-0", on=node, priority=TOP)
    for number in range(2):
        stage.pod(f"low-{number}", on=node)
    stage.gang("g", 3, need=2)
    stage.runs("g", 2)
    stage.preempted("low-0", "low-1")
    (waiting,) = {f"g-{number}" for number in range(3)} - stage.places("g").keys()
    stage.pod_refused(waiting)
    assert "boss-0" in stage.staying()


def test_a_less_important_group_does_not_stay_in_the_place_of_a_more_important_one(stage: Stage) -> None:
    for name, priority in (("v", LOW), ("w", MID)):
        stage.group(name, 2, priority, whole=True)
        stage.members(name, 2, priority=priority, on=stage.node(2))
    stage.gang("g", 2)
    stage.runs("g", 2)
    stage.preempted("v-0", "v-1")


def test_room_that_is_freed_beyond_the_need_serves_others(stage: Stage) -> None:
    node = stage.node(3)
    stage.group("v", 3, LOW, whole=True)
    stage.members("v", 3, priority=LOW, on=node)
    stage.pod("other-0", 2)
    stage.pod_refused("other-0")
    stage.gang("g", 1)
    stage.runs("g", 1)
    stage.runs("other", 1)
    assert stage.nominations("other") == {""}


@pytest.mark.parametrize("preempts", [True, False])
def test_who_never_preempts_evicts_nobody(stage: Stage, preempts: bool) -> None:
    stage.pod("low-0", on=stage.node(1))
    priority = HIGH if preempts else NEVER
    stage.gang("g", 1, priority=priority)
    if preempts:
        stage.runs("g", 1)
        stage.preempted("low-0")
    else:
        stage.refused("g", "pod group preemption: not eligible due to preemptionPolicy=Never.")
        throughout(lambda: not stage.leaving() and not stage.places("g"), seconds=STAYS_SECONDS)


@pytest.mark.parametrize("of_pod", [False, True])
def test_other_resources_count_in_the_reprieve(stage: Stage, of_pod: bool) -> None:
    node = stage.node(8, memory="8Gi")
    stage.pod("low-0", on=node, requests={"cpu": "1", "memory": "6Gi"})
    stage.pod("low-1", 4, on=node)
    stage.group("g", 1)
    wants = {"cpu": "1", "memory": "5Gi"}
    if of_pod:
        stage.members("g", 1, requests={}, resources={"requests": wants})
    else:
        stage.members("g", 1, requests=wants)
    stage.runs("g", 1)
    stage.preempted("low-0")
