"""`fit` of JobSets, whole LeaderWorkerSets and trees: yes exactly when the same groups and pods would start when they exist."""

import random
from collections import Counter
from typing import Any

import pytest
import yaml

from api.constants import PARENT_COMPOSITE, POD_GROUP, SCOPE
from api.errors import ConfigurationError
from explain.admitted import Refused
from explain.answer import GroupState
from explain.fit import FitAnswer
from scheduler.algorithm.schedule_pod_group import decide
from tests.explain.test_fit import asked, job
from tests.jobsets.builders import jobset, part
from tests.scheduler.core import build
from tests.scheduler.core.world import World

Object = dict[str, Any]


def world(nodes: int, cpu: int = 4) -> World:
    made = World()
    for number in range(nodes):
        made.node(f"n{number}", cpu=cpu)
    return made


def fits(there: World, *documents: Object, evicts: bool = False) -> FitAnswer:
    return asked(there.state, yaml.safe_dump_all(documents), evicts=evicts)


def told(found: FitAnswer) -> list[tuple[str, bool]]:
    return [(one.name, one.fits) for one in found.items]


# --- JobSets ---------------------------------------------------------------------------------------------------------


def job_set(*parts: Object, scope: str = "", **more: Any) -> Object:
    made = jobset(*parts, annotations={SCOPE: scope} if scope else None, **more)
    made["metadata"] = {key: value for key, value in made["metadata"].items() if key in {"name", "annotations"}}
    made.pop("status")
    return made


LEADER_AND_WORKERS = (part("leader", pods=1), part("worker", replicas=2, pods=2))
"""Five pods of one cpu each, in three Jobs."""


@pytest.mark.parametrize(("cpu", "starts"), [(4, False), (5, True)])
def test_a_whole_job_set_starts_only_with_room_for_the_pods_of_all_its_jobs(cpu: int, starts: bool) -> None:
    found = fits(world(1, cpu), job_set(*LEADER_AND_WORKERS, scope="set"))
    assert told(found) == [("jobset/pair", starts)]
    if starts:
        assert sum(share.pods for share in found.items[0].nodes) == 5
    else:
        answer = found.items[0].answer
        assert answer is not None
        assert answer.message.startswith("minCount (5) cannot be satisfied: 4 of 5 pods can be placed")


def test_each_replicated_job_is_an_item_where_the_scope_says_so() -> None:
    pair = job_set(part("left", pods=2), part("right", replicas=2, pods=2), scope="replicated-job")
    assert told(fits(world(1, 4), pair)) == [("jobset/pair left", True), ("jobset/pair right", False)]
    assert told(fits(world(1, 6), pair)) == [("jobset/pair left", True), ("jobset/pair right", True)]


def test_each_job_is_an_item_without_a_word() -> None:
    found = fits(world(1, 4), job_set(part("worker", replicas=3, pods=2)))
    names = [("jobset/pair worker-0", True), ("jobset/pair worker-1", True), ("jobset/pair worker-2", False)]
    assert told(found) == names


def test_jobs_that_come_one_after_the_other_are_said_to_do_so() -> None:
    parts = (part("first", pods=2), part("then", pods=2))
    ordered = job_set(*parts, scope="replicated-job", startupPolicy={"startupPolicyOrder": "InOrder"})
    assert all("one after the other" in one.note for one in fits(world(1, 8), ordered).items)
    with pytest.raises(Refused, match=r"JobSet pair: .*the set would wait for ever"):
        fits(world(1, 8), job_set(*parts, scope="set", startupPolicy={"startupPolicyOrder": "InOrder"}))


def test_an_exclusive_topology_of_a_job_set_cannot_be_looked_at() -> None:
    made = job_set(part("worker", pods=2))
    made["metadata"]["annotations"] = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "zone"}
    with pytest.raises(
        ConfigurationError, match=r"JobSet pair: the annotation alpha\.jobset.* cannot be looked at here"
    ):
        fits(world(1), made)


def test_pods_of_a_job_set_that_is_no_gang_are_not_ours() -> None:
    found = fits(world(1, 8), job_set(part("one", pods=1)))
    assert told(found) == [("jobset/pair pod/pair-one-0-0", False)]
    assert "default-scheduler" in found.items[0].note


# --- LeaderWorkerSets ------------------------------------------------------------------------------------------------


def serve(scope: str, replicas: int = 2, size: int = 2, **more: Any) -> Object:
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "serve", "annotations": {SCOPE: scope}},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {"size": size, "workerTemplate": template}, **more},
    }


def test_a_set_that_starts_as_a_whole_is_one_item_and_says_which_replica_has_no_room() -> None:
    assert told(fits(world(1, 4), serve("set"))) == [("lws/serve", True)]
    found = fits(world(1, 3), serve("set"))
    assert told(found) == [("lws/serve", False)]
    answer = found.items[0].answer
    assert answer is not None
    assert answer.message.startswith("minGroupCount (2) cannot be satisfied: 1 of 2 groups can start")
    assert Counter(one.state for one in answer.groups) == {GroupState.FITS: 1, GroupState.WAITS: 1}


def test_the_same_set_by_replicas_is_several() -> None:
    found = fits(world(1, 3), serve("replica"))
    assert told(found) == [("lws/serve replica 0", True), ("lws/serve replica 1", False)]


def test_a_set_that_cannot_start_as_a_whole_is_refused_as_by_admission() -> None:
    with pytest.raises(Refused, match=r"LeaderWorkerSet serve: .*LeaderReady"):
        fits(world(1), serve("set", startupPolicy="LeaderReady"))


# --- trees made by hand ----------------------------------------------------------------------------------------------


def composite(name: str, need: int | None, parent: str = "") -> Object:
    policy: Object = {"gang": {"minGroupCount": need}} if need is not None else {"basic": {}}
    spec: Object = {"workloadRef": {"workloadName": "w", "templateName": "t"}, "schedulingPolicy": policy}
    if parent:
        spec["parentCompositePodGroupName"] = parent
    return {
        "apiVersion": "tutti.scheduler/v1beta1",
        "kind": "CompositePodGroup",
        "metadata": {"name": name},
        "spec": spec,
    }


def group(name: str, need: int, parent: str) -> Object:
    spec = {
        "workloadRef": {"workloadName": "w", "templateName": "t"},
        "schedulingPolicy": {"gang": {"minCount": need}},
        "parentCompositePodGroupName": parent,
    }
    return {"apiVersion": "tutti.scheduler/v1beta1", "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}


def job_of(name: str, size: int, cpu: str = "1") -> Object:
    """A Job whose pods are in the group of its name."""
    made = job(name, size, cpu=cpu, spec={"schedulerName": "tutti"})
    made["spec"]["template"]["metadata"]["annotations"] = {POD_GROUP: name}
    return made


def training(workers: int = 2) -> list[Object]:
    """A driver and its workers, which make sense only together; in an order in which nothing is there before it is named."""
    return [
        job_of("driver", 1),
        job_of("workers", workers),
        group("workers", workers, "training"),
        composite("training", 2),
        group("driver", 1, "training"),
    ]


@pytest.mark.parametrize(("cpu", "starts"), [(2, False), (3, True)])
def test_a_tree_of_jobs_is_one_item_wherever_its_parts_stand_in_the_file(cpu: int, starts: bool) -> None:
    found = fits(world(1, cpu), *training())
    assert told(found) == [("compositepodgroup/training", starts)]
    assert found.exit_code == (0 if starts else 4)


def test_groups_that_name_their_parent_by_the_annotation_are_in_it() -> None:
    documents = training()
    for one in documents:
        if one["kind"] == "PodGroup":
            one["metadata"]["annotations"] = {PARENT_COMPOSITE: one["spec"].pop("parentCompositePodGroupName")}
    assert told(fits(world(1, 3), *documents)) == [("compositepodgroup/training", True)]


def test_the_built_in_kind_is_taken_too() -> None:
    documents = training()
    documents[3]["apiVersion"] = "scheduling.k8s.io/v1alpha3"
    assert told(fits(world(1, 3), *documents)) == [("compositepodgroup/training", True)]


def test_levels_in_levels_are_one_item() -> None:
    documents = [
        composite("all", 2),
        composite("inner", 1, parent="all"),
        group("a", 1, "all"),
        group("b", 2, "inner"),
        job_of("a", 1),
        job_of("b", 2),
    ]
    assert told(fits(world(1, 3), *documents)) == [("compositepodgroup/all", True)]
    found = fits(world(1, 2), *documents)
    answer = found.items[0].answer
    assert answer is not None
    assert {one.name: one.parent for one in answer.groups} == {"a": "all", "b": "inner"}


def test_groups_beyond_the_minimum_that_have_no_room_are_named() -> None:
    found = fits(world(1, 3), *training(2), group("more", 2, "training"), job_of("more", 2, "9"))
    assert told(found) == [("compositepodgroup/training", True)]
    assert found.items[0].note == "without podgroup/more, for which it does not wait"


def test_a_group_that_lacks_its_pods_is_what_a_tree_waits_for() -> None:
    found = fits(world(1, 8), *training()[1:])
    (one,) = found.items
    assert not one.fits
    assert one.answer is not None
    assert {each.name: each.state for each in one.answer.groups}["driver"] is GroupState.INCOMPLETE


def test_a_tree_without_its_root_waits_for_it_unless_the_cluster_has_it() -> None:
    without = [one for one in training() if one["kind"] != "CompositePodGroup"]
    (one,) = fits(world(1, 8), *without).items
    assert one.answer is not None
    assert one.answer.message == 'waiting for CompositePodGroup "training"'
    there = world(1, 8)
    there.composite("training", 2)
    assert told(fits(there, *without)) == [("compositepodgroup/training", True)]


def test_a_composite_pod_group_alone_starts_nothing() -> None:
    found = fits(world(1), composite("training", 1))
    assert told(found) == [("compositepodgroup/training", False)]
    assert found.items[0].note == "no PodGroup is below it"


def test_a_priority_class_that_does_not_exist_is_refused() -> None:
    made = composite("training", 1)
    made["spec"]["priorityClassName"] = "none"
    with pytest.raises(Refused, match="CompositePodGroup training: no PriorityClass with name none was found"):
        fits(world(1), made)


def test_what_starts_takes_its_room_from_what_comes_after_it() -> None:
    found = fits(world(1, 4), *training(), job("later", 2))
    assert told(found) == [("compositepodgroup/training", True), ("job/later", False)]


def test_others_leave_for_a_tree() -> None:
    there = world(1, 3)
    there.pod("low", cpu=2, on="n0", priority=-5)
    assert told(fits(there, *training())) == [("compositepodgroup/training", False)]
    there = world(1, 3)
    there.pod("low", cpu=2, on="n0", priority=-5)
    (one,) = fits(there, *training(), evicts=True).items
    assert (one.fits, one.evicts) == (True, ("pod/low",))


# --- beside the scheduler --------------------------------------------------------------------------------------------


def grown(chance: random.Random) -> tuple[list[int], int, list[tuple[str, int, int]], int]:
    """Cpu of the nodes, the minimum of the root, its groups (parent, pods, cpu of each), the minimum of the inner level."""
    nodes = [chance.randint(1, 5) for _ in range(chance.randint(1, 4))]
    groups = [
        (chance.choice(["all", "all", "inner"]), chance.randint(1, 3), chance.randint(1, 3))
        for _ in range(chance.randint(1, 4))
    ]
    children = sum(parent == "all" for parent, _, _ in groups) + any(parent == "inner" for parent, _, _ in groups)
    inner = sum(parent == "inner" for parent, _, _ in groups)
    return nodes, chance.randint(1, children), groups, chance.randint(1, max(inner, 1))


@pytest.mark.parametrize("seed", range(60))
def test_it_says_of_a_tree_what_the_scheduler_decides_of_it_on_the_same_nodes(seed: int) -> None:
    nodes, need, groups, inner = grown(random.Random(seed))
    empty, there = World(), World()
    for made in (empty, there):
        for number, cpu in enumerate(nodes):
            made.node(f"n{number}", cpu=cpu)
    has_inner = any(parent == "inner" for parent, _, _ in groups)
    documents = [composite("all", need), *([composite("inner", inner, parent="all")] if has_inner else [])]
    there.composite("all", need)
    if has_inner:
        there.composite("inner", inner, parent="all")
    for number, (parent, size, cpu) in enumerate(groups):
        documents += [group(f"g{number}", size, parent), job_of(f"g{number}", size, str(cpu))]
        there.group(f"g{number}", size, parent=parent)
        there.pods(f"g{number}", size, cpu=cpu)
    expected = decide(there.state, build.composite_key("all"))
    (found,) = fits(empty, *documents).items
    assert found.fits == (expected.result == "scheduled"), found
    assert {one.node: one.pods for one in found.nodes} == Counter(node for _, node in expected.bindings)
