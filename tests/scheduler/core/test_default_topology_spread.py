"""Which pods are spread by default, and that it never costs a gang its place."""

from collections import Counter

from scheduler.cache.selectors import RawRequirement, RawSelector, Requirement, selector_of
from tests.scheduler.core import build
from tests.scheduler.core.world import World

A = {"app": "a"}


def test_owner_and_services_are_asked_for_together() -> None:
    world = World()
    spreads = world.state.default_spreads
    spreads.set_service(build.NAMESPACE, "s", {"tier": "t"})
    spreads.set_owner("StatefulSet", build.NAMESPACE, "db", RawSelector(A))
    pod = world.state.slim_pod(build.pod("p", labels={**A, "tier": "t"}, controller=("StatefulSet", "db")))
    host, zone = spreads.of(pod)
    assert (
        host.selector
        == zone.selector
        == selector_of([Requirement("app", "In", ("a",)), Requirement("tier", "In", ("t",))])
    )
    assert (host.max_skew, zone.max_skew, host.is_hard, zone.is_hard) == (3, 5, False, False)


def test_a_controller_of_another_kind_or_with_a_selector_nobody_can_read_spreads_nothing() -> None:
    world = World()
    spreads = world.state.default_spreads
    spreads.set_owner("StatefulSet", build.NAMESPACE, "db", RawSelector(None, (RawRequirement("a", "Wat"),)))
    spreads.set_owner("ReplicaSet", build.NAMESPACE, "web", RawSelector(A))
    for kind, name in (("StatefulSet", "db"), ("Job", "web")):
        assert spreads.of(world.state.slim_pod(build.pod("p", labels=A, controller=(kind, name)))) == ()


def test_a_gang_of_a_service_is_placed_whole_on_what_room_there_is() -> None:
    world = World()
    for index in range(3):
        world.node(f"n{index}", cpu=4)
    world.state.default_spreads.set_service(build.NAMESPACE, "s", A)
    world.pod("old", labels=A, on="n0", scheduler="other")
    world.group("g", 11)
    world.pods("g", 11, labels=A)
    world.run()
    assert Counter(world.bound("g").values()) == {"n0": 3, "n1": 4, "n2": 4}


def test_a_gang_of_a_service_goes_where_fewer_of_its_kind_run() -> None:
    world = World()
    for index in range(4):
        world.node(f"n{index}", cpu=8)
    world.state.default_spreads.set_service(build.NAMESPACE, "s", A)
    world.pod("old-0", labels=A, on="n0", scheduler="other", cpu=0)
    world.pod("old-1", labels=A, on="n1", scheduler="other", cpu=0)
    world.group("g", 2)
    world.pods("g", 2, labels=A)
    world.run()
    assert set(world.bound("g").values()) == {"n2", "n3"}
