"""Who is a member of a group that belongs to a JobSet: the pods of its Jobs, by the UID of the JobSet."""

from api.constants import JOBSET_UID
from tests.scheduler.core.build import group_key
from tests.scheduler.core.world import World

OF_SET = {JOBSET_UID: "uid-of-set"}


def test_pods_of_different_jobs_of_one_set_are_members_of_its_group() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.group("g", 2, owner="uid-of-set")
    world.pod("left-0", group="g", owner="uid-of-left", labels=OF_SET)
    assert world.run() == []
    world.pod("right-0", group="g", owner="uid-of-right", labels=OF_SET)
    world.run()
    assert set(world.bound()) == {"left-0", "right-0"}


def test_pods_of_another_set_of_the_name_and_pods_without_a_job_are_none() -> None:
    world = World()
    world.node("n1", cpu=8)
    world.group("g", 2, owner="uid-of-set")
    world.pod("left-0", group="g", owner="uid-of-left", labels=OF_SET)
    world.pod("former-0", group="g", owner="uid-of-former", labels={JOBSET_UID: "uid-of-a-former-set"})
    world.pod("copied", group="g", labels=OF_SET)
    world.pod("unlabelled", group="g", owner="uid-of-right")
    assert world.run() == []
    assert {pod.name for pod in world.state.entities.barred(group_key("g"))} == {"former-0", "copied", "unlabelled"}
