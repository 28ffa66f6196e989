"""What a tree of groups says on each of its levels, and what is written about it."""

from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.manifests import composite, gang

STARTED = ("True", "Scheduled")
REFUSED = ("False", "Unschedulable")
WAITS = ("False", "WaitingForMembers")


async def test_a_tree_that_starts_says_so_on_each_level() -> None:
    cluster = Cluster()
    cluster.add_nodes(4)
    cluster.api.put("compositepodgroups", composite("root", 1))
    cluster.api.put("compositepodgroups", composite("inner", 2, parent="root"))
    for name in ("a", "b"):
        cluster.api.put("podgroups", gang(name, 2, owned=False, parent="inner"))
        cluster.add_members(name, 2)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.tree_says("root") == STARTED)
        await cluster.api.until(lambda: cluster.tree_says("inner") == STARTED)
        await cluster.api.until(lambda: cluster.group_says("a") == cluster.group_says("b") == STARTED)
    assert len(cluster.api.bound()) == 4


async def test_a_tree_without_room_says_so_on_each_level_and_its_owner_hears_it_once() -> None:
    cluster = Cluster()
    cluster.add_nodes(3)
    groups = cluster.add_tree("tree", groups=2, size=2, min_groups=2)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.tree_says("tree") == REFUSED)
        await cluster.api.until(lambda: all(cluster.group_says(name) == REFUSED for name in groups))
        await cluster.api.until(lambda: all(cluster.pod_says(f"{name}-0") == "Unschedulable" for name in groups))
        await cluster.api.until(lambda: bool(cluster.events("FailedScheduling", "Job")))
        message = cluster.api.condition("compositepodgroups", "ns", "tree", "CompositePodGroupInitiallyScheduled")[
            "message"
        ]
        assert message.startswith(
            "minGroupCount (2) cannot be satisfied: 1 of 2 groups can start: 0/3 nodes are available"
        )
        assert cluster.group_message(groups[0]) == f"composite pod group tree: {message}"
        attempts = cluster.metrics.attempts
        cluster.add_members(groups[1], 1, first=2)
        await cluster.api.until(lambda: cluster.metrics.attempts > attempts)
        assert cluster.api.bound() == {}
    (event,) = cluster.events("FailedScheduling", "Job")
    assert event["note"] == f"composite pod group tree: {message}"
    (itself,) = cluster.events("FailedScheduling", "CompositePodGroup")
    assert itself["regarding"]["apiVersion"] == "tutti.scheduler/v1beta1"


async def test_a_tree_that_is_not_complete_says_what_it_waits_for() -> None:
    cluster = Cluster()
    cluster.add_nodes(4)
    cluster.api.put("compositepodgroups", composite("tree", 2))
    cluster.api.put("podgroups", gang("a", 2, owned=False, parent="tree"))
    cluster.add_members("a", 2)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.tree_says("tree") == WAITS)
        await cluster.api.until(lambda: cluster.group_says("a") == WAITS)
        cluster.api.put("podgroups", gang("b", 2, owned=False, parent="tree"))
        cluster.add_members("b", 2)
        await cluster.api.until(lambda: cluster.tree_says("tree") == STARTED)


async def test_groups_whose_root_does_not_exist_say_so() -> None:
    cluster = Cluster()
    cluster.add_nodes(4)
    cluster.api.put("podgroups", gang("a", 2, owned=False, parent="nobody"))
    cluster.add_members("a", 2)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.group_says("a") == ("False", "WaitingForPodGroup"))
    assert cluster.group_message("a") == 'composite pod group nobody: waiting for CompositePodGroup "nobody"'


async def test_another_priority_in_a_tree_is_an_error_on_each_level() -> None:
    cluster = Cluster()
    cluster.add_nodes(4)
    (group,) = cluster.add_tree("tree", groups=1, size=2, min_groups=1, priority=7)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.tree_says("tree") == ("False", "SchedulerError"))
        await cluster.api.until(lambda: cluster.group_says(group) == ("False", "SchedulerError"))
    assert cluster.api.bound() == {}


async def test_from_1_38_on_each_kind_has_a_reason_of_its_own_for_that() -> None:
    cluster = Cluster()
    cluster.group_error_reason = "PodGroupError"
    cluster.add_nodes(4)
    (group,) = cluster.add_tree("tree", groups=1, size=2, min_groups=1, priority=7)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.tree_says("tree") == ("False", "CompositePodGroupError"))
        await cluster.api.until(lambda: cluster.group_says(group) == ("False", "PodGroupError"))


async def test_a_scheduler_that_starts_late_says_what_its_predecessor_did_not() -> None:
    cluster = Cluster()
    cluster.add_nodes(4)
    cluster.add_tree("tree", groups=2, size=2, min_groups=2)
    async with cluster.scheduler():
        await cluster.api.until(lambda: len(cluster.api.bound()) == 4)
    stored = cluster.api.peek("compositepodgroups", "ns", "tree")
    stored.pop("status", None)
    cluster.api.put("compositepodgroups", stored)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.tree_says("tree") == STARTED)


async def test_groups_beyond_the_minimum_follow_one_by_one() -> None:
    cluster = Cluster()
    cluster.add_nodes(5)
    groups = cluster.add_tree("tree", groups=3, size=2, min_groups=2)
    async with cluster.scheduler():
        await cluster.api.until(lambda: cluster.tree_says("tree") == STARTED)
        await cluster.api.until(lambda: [cluster.group_says(name) for name in groups].count(STARTED) == 2)
        assert len(cluster.api.bound()) == 4
        cluster.add_nodes(1, first=5)
        await cluster.api.until(lambda: all(cluster.group_says(name) == STARTED for name in groups))
