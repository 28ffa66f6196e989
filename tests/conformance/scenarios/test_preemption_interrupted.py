"""What goes wrong between a plan and the start of its preemptor, on a cluster that answers for itself."""

from tests.conformance.scenarios.preemption_stage import HIGH, LOW, SOON_SECONDS, TOP, Stage
from verify.clusters.eventually import eventually, throughout

STAYS_SECONDS = 1.0
STATEFUL_SETS = "/apis/apps/v1/namespaces/{}/statefulsets"


def evicting(stage: Stage, nodes: int = 1) -> str:
    """A gang of two whose two victims have been asked to leave and are on their way out; their node, one of `nodes` full ones."""
    full = [stage.node(2, tended=False) for _ in range(nodes)]
    for index, node in enumerate(full):
        for number in range(2):
            stage.pod(f"low-{index}-{number}", on=node)
    stage.gang("g", 2)
    eventually(lambda: len(stage.leaving()) == 2, within_seconds=SOON_SECONDS)
    (node,) = {stage.pods()[name]["spec"]["nodeName"] for name in stage.leaving()}
    return str(node)


def test_room_of_a_preemptor_that_is_deleted_goes_to_others(stage: Stage) -> None:
    evicting(stage)
    stage.pod("small-0", 2)
    stage.pod_refused("small-0")
    stage.end("g-0", "g-1", *stage.leaving())
    stage.runs("small", 1)


def test_a_more_important_gang_that_comes_meanwhile_takes_the_room_and_evicts_nobody_else(stage: Stage) -> None:
    evicting(stage)
    stage.pod("bystander-0", on=stage.node(1, tended=False))
    stage.gang("top", 2, priority=TOP)
    stage.refused("top")
    stage.end(*stage.leaving())
    stage.runs("top", 2)
    assert "bystander-0" in stage.staying()
    assert stage.places("g") == {}


def test_when_the_nominated_node_vanishes_another_is_cleared(stage: Stage) -> None:
    node = evicting(stage, nodes=2)
    first = stage.leaving()
    stage.api.delete("nodes", node)
    eventually(lambda: len(stage.leaving() - first) == 2, within_seconds=2 * SOON_SECONDS)
    stage.end(*(stage.leaving() - first))
    stage.runs("g", 2)
    assert node not in stage.places("g").values()


def test_a_victim_with_600_s_of_grace_is_waited_for_and_nobody_else_leaves(stage: Stage) -> None:
    evicting(stage, nodes=2)
    leaving = stage.leaving()
    assert {stage.pods()[name]["metadata"]["deletionGracePeriodSeconds"] for name in leaving} == {600}
    throughout(lambda: stage.leaving() == leaving, seconds=STAYS_SECONDS)
    stage.refused("g", "ongoing preemption on nominated nodes")


def test_a_victim_whose_owner_puts_it_back_under_another_scheduler_is_not_evicted_for_ever(stage: Stage) -> None:
    stage.node(1)
    template = {
        "metadata": {"labels": {"app": "again"}},
        "spec": {
            "priorityClassName": LOW,
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {"name": "main", "image": "registry.example/pause:1", "resources": {"requests": {"cpu": "1"}}}
            ],
        },
    }
    spec = {"replicas": 1, "serviceName": "again", "selector": {"matchLabels": {"app": "again"}}, "template": template}
    stage.api.request("POST", STATEFUL_SETS.format(stage.namespace), {"metadata": {"name": "again"}, "spec": spec})
    stage.runs("again", 1)
    stage.pod("g-0", priority=HIGH)
    eventually(lambda: stage.jobs.events("Pod", "again-0", "Preempted"), within_seconds=SOON_SECONDS)

    def rarely() -> bool:
        events = [event for event in stage.api.list("events", stage.namespace) if event["reason"] == "Preempted"]
        return sum(int((event.get("series") or {}).get("count", 1)) for event in events) <= 2

    throughout(rarely, seconds=4.5, poll_seconds=0.3)
    stage.api.request("DELETE", STATEFUL_SETS.format(stage.namespace) + "/again")
    stage.runs("g", 1)
