"""Which nodes volumes prefer: those that keep the most of what is there for a claim, in a share of hundred."""

from api.constants import NO_PROVISIONER
from scheduler.algorithm.free_after_nominations import snapshot_for
from scheduler.algorithm.partition import partition_by_signature
from tests.placement.case import Object
from tests.placement.storage import DYNAMIC, D, capacity, claim, driver, mounts, storage_class, volume
from tests.scheduler.core.build import pod_key
from tests.scheduler.core.world import World

TRACKED = driver(D, storageCapacity=True)
MANUAL = storage_class("@manual", provisioner=NO_PROVISIONER)


def _asks(name: str, size: int | None, storage_class: str = "@sc") -> Object:
    """A claim for so many bytes."""
    requests = {} if size is None else {"requests": {"storage": str(size)}}
    return claim(name, storage_class=storage_class, spec={"resources": requests})


def _holds(name: str, size: int, node: int, storage_class: str = "@sc") -> Object:
    """A volume of so many bytes that only this node reaches."""
    return volume(name, on=(node,), storage_class=storage_class, spec={"capacity": {"storage": str(size)}})


def _has_left(name: str, size: int, node: int, **more: object) -> Object:
    """So many bytes of which volumes can be made on this node."""
    return capacity(name, None, node, capacity=str(size), **more)


def _world(*objects: Object) -> World:
    world = World()
    for index in range(2):
        world.node(f"@n{index}")
    for manifest in (DYNAMIC, MANUAL, *objects):
        world.stored(manifest)
    world.pod("p", spec=mounts(*(one["metadata"]["name"] for one in objects if one["kind"].endswith("Claim"))))
    return world


def _scores(*objects: Object) -> list[int] | None:
    """Of a pod with all these claims on two nodes."""
    world = _world(*objects)
    members = world.state.item(pod_key("p"))
    assert members is not None
    found = partition_by_signature(world.state, members)
    state = snapshot_for(world.state, members, topology=found.topology).topology_state
    assert state is not None
    assert state.volumes is not None
    scores = state.volumes.scores(next(iter(found.pending)))
    return None if scores is None else scores[[world.state.nodes.slot_of[name] for name in ("@n0", "@n1")]].tolist()


# --- volumes that exist --------------------------------------------------------------------------------------------


def test_what_a_claim_leaves_of_its_volume_counts() -> None:
    assert _scores(_asks("c", 49), _holds("@a", 100, 0), _holds("@b", 490, 1)) == [51, 90]


def test_a_volume_that_is_used_up_counts_nothing_as_a_node_without_volumes_does() -> None:
    assert _scores(_asks("c", 1), _holds("@a", 1, 0)) == [0, 0]


def test_claims_of_one_class_are_counted_together() -> None:
    volumes = [_holds("@a", 100, 0), _holds("@b", 200, 0), _holds("@c", 300, 1), _holds("@d", 300, 1)]
    assert _scores(_asks("c", 49), _asks("d", 101), *volumes) == [50, 75]


def test_classes_are_counted_each_for_itself_and_the_mean_is_taken() -> None:
    volumes = [_holds("@a", 100, 0), _holds("@b", 100, 0, "@manual"), _holds("@c", 100, 1, "@manual")]
    assert _scores(_asks("c", 50), _asks("d", 90, "@manual"), *volumes) == [30, 10]


def test_a_claim_for_which_a_volume_has_to_be_made_takes_nothing_of_the_volume_of_another_one() -> None:
    volumes = [_holds("@a", 100, 0), _holds("@b", 100, 1), _holds("@c", 100, 1)]
    assert _scores(_asks("c", 49), _asks("d", 60), *volumes) == [51, 46]


def test_a_claim_that_asks_for_no_size_takes_nothing() -> None:
    assert _scores(_asks("c", None), _holds("@a", 100, 0)) == [100, 0]


# --- volumes to be made --------------------------------------------------------------------------------------------


def test_what_is_left_after_volumes_were_made_counts() -> None:
    room = [_has_left("a", 100, 0), _has_left("b", 490, 1)]
    assert _scores(TRACKED, _asks("c", 49), *room) == [51, 90]
    assert _scores(TRACKED, _asks("c", 19), _asks("d", 30), *room) == [51, 90]


def test_where_a_volume_exists_what_could_be_made_does_not_count() -> None:
    assert _scores(TRACKED, _asks("c", 30), _asks("d", 49), _holds("@a", 60, 0), _has_left("a", 100, 0)) == [50, 0]


def test_one_byte_that_is_left_is_used_up() -> None:
    assert _scores(TRACKED, _asks("c", 1), _has_left("a", 1, 0), _has_left("b", 2, 1)) == [0, 50]


def test_a_driver_that_does_not_say_what_is_left_prefers_no_node() -> None:
    assert _scores(_asks("c", 49), _has_left("a", 100, 0)) is None


def test_a_driver_that_makes_volumes_of_some_size_but_does_not_say_how_many_is_asked() -> None:
    world = _world(TRACKED, _asks("c", 49), capacity("a", None, 1, maximumVolumeSize="50"))
    world.run()
    assert world.bound() == {"p": "@n1"}
