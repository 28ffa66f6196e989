"""Who is deleted so that a gang leaves whole: the leader that owns a replica's group, else everybody who runs."""

from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.records import GroupRecord
from scheduler.preemption.restarts import pods_to_delete
from tests.scheduler.core import build
from tests.scheduler.core.world import World


def _leaving(world: World) -> list[str]:
    members: PodGroupState | None = world.state.item(build.group_key("g"))
    assert members is not None
    group: GroupRecord | None = members.group
    assert group is not None
    return sorted(pod.name for pod in pods_to_delete(members, group))


def _replica() -> World:
    world = World()
    world.group("g", 3, owner="uid-of-g-leader")
    world.pod("g-leader", group="g", on="n0")
    world.apply(world.state.set_controller("uid-of-g-workers", "uid-of-g-leader"))
    for number in (1, 2):
        world.pod(f"g-{number}", group="g", on=f"n{number}", controller=("StatefulSet", "g-workers"))
    return world


def test_of_a_replica_its_leader() -> None:
    assert _leaving(_replica()) == ["g-leader"]


def test_of_a_replica_that_was_begun_with_its_workers_the_leader_that_waits() -> None:
    world = World()
    world.group("g", 3, owner="uid-of-g-leader")
    world.pod("g-leader", group="g")
    world.apply(world.state.set_controller("uid-of-g-workers", "uid-of-g-leader"))
    world.pod("g-1", group="g", on="n1", controller=("StatefulSet", "g-workers"))
    assert _leaving(world) == ["g-leader"]


def test_of_a_replica_that_has_lost_its_leader_the_others() -> None:
    world = _replica()
    world.pod("g-leader", group="g", on="n0", deleted=True)
    assert _leaving(world) == ["g-1", "g-2"]


def test_of_a_group_made_by_hand_all_that_run() -> None:
    world = World()
    world.group("g", 3)
    world.pod("g-0", group="g", on="n0")
    world.pod("g-1", group="g", on="n1", deleted=True)
    world.pod("g-2", group="g")
    world.pod("g-3", group="g", on="n3", phase="Succeeded")
    assert _leaving(world) == ["g-0"]
