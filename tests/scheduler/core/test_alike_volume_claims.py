"""Which pods are alike although each has a claim of its own: those whose volumes are all yet to be made, for nobody else."""

from collections.abc import Sequence

import pytest

from scheduler.algorithm.volume_claims import MemberVolumeClaims, PodVolumeClaims, volume_claims_of_pod
from scheduler.plugins.messages import message
from tests.placement.case import Object
from tests.placement.storage import DYNAMIC, claim, csi_node, mounts, storage_class, volume
from tests.scheduler.core import build
from tests.scheduler.core.build import pod_key
from tests.scheduler.core.world import World

EPHEMERAL: Object = {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim()["spec"]}}}]}
OTHER = storage_class("@other", provisioner="@d.example")
RESERVED = volume(claim="a-v", storage_class="@sc", spec={"claimRef": {"namespace": "team-a", "name": "a-v"}})
CHOSEN = {"volume.kubernetes.io/selected-node": "@n0"}


def _world(*objects: Object, a: Object | None = None, b: Object | None = None) -> World:
    """Pods `a` and `b` with an ephemeral claim each, as given or like any other."""
    world = World()
    world.node("@n0")
    for manifest in (DYNAMIC, OTHER, *objects, a or claim("a-v", owner="a"), b or claim("b-v", owner="b")):
        world.stored(manifest)
    for name in "ab":
        world.pod(name, spec=EPHEMERAL)
    return world


def _claims_of(world: World, name: str) -> PodVolumeClaims:
    pod = world.state.pod(f"uid-of-{name}")
    assert pod is not None
    return volume_claims_of_pod(world.state.storage, pod)


def _are_alike(world: World) -> bool:
    return _claims_of(world, "a").key == _claims_of(world, "b").key


def test_pods_whose_volumes_will_be_made_for_each_are_alike() -> None:
    assert _are_alike(_world())


@pytest.mark.parametrize(
    "special",
    [
        pytest.param(claim("a-v", owner="a", size=6), id="of another size"),
        pytest.param(claim("a-v", owner="a", storage_class="@other"), id="of another class"),
        pytest.param(claim("a-v", owner="a", modes=("ReadWriteMany",)), id="for many nodes"),
        pytest.param(claim("a-v", owner="a", spec={"volumeMode": "Block"}), id="a block device"),
        pytest.param(claim("a-v", owner="a", annotations=CHOSEN), id="being made for a node"),
    ],
)
def test_a_claim_for_something_else_makes_its_pod_another_one(special: Object) -> None:
    assert not _are_alike(_world(a=special))


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([volume()], id="a free volume of the class"),
        pytest.param([RESERVED], id="a volume that is reserved for one of them"),
        pytest.param([csi_node(0, d=5)], id="a limit of volumes of the driver"),
    ],
)
def test_where_it_matters_which_claim_it_is_each_pod_is_another_one(objects: Sequence[Object]) -> None:
    assert not _are_alike(_world(*objects))


def test_a_claim_that_a_running_pod_uses_makes_its_pod_another_one() -> None:
    world = _world()
    world.pod("there", on="@n0", scheduler="other", spec=mounts("a-v"))
    assert not _are_alike(world)


def test_a_limit_of_another_driver_does_not_matter() -> None:
    assert _are_alike(_world(csi_node(0, other=5)))


# --- claims that cannot be used ------------------------------------------------------------------------------------


def test_a_pod_whose_own_claim_is_not_made_yet_waits_for_it() -> None:
    world = _world()
    world.pod("c", spec=EPHEMERAL)
    world.run()
    assert "waiting for ephemeral volume controller to create the persistentvolumeclaim" in world.held(pod_key("c"))[1]
    world.stored(claim("c-v", owner="c"))
    world.run()
    assert "c" in world.bound()


def test_a_pod_whose_own_claim_has_a_volume_that_is_gone_can_run_nowhere() -> None:
    world = _world(a=claim("a-v", owner="a", volume="@gone", phase="Bound"))
    assert _claims_of(world, "a").gone
    (decision,) = (one for one in world.run() if one.key == pod_key("a"))
    assert message(decision.status).startswith("0/1 nodes are available: 1 node(s) unavailable due to ")


# --- who limits others ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pods", "are_fixed"), [(1, True), (2, False)])
def test_a_claim_for_one_pod_limits_the_others_only_where_there_are_others(pods: int, are_fixed: bool) -> None:
    world = _world(a=claim("a-v", owner="a", modes=("ReadWriteOncePod",)))
    signature = world.state.slim_pod(build.pod("c")).signature
    assert signature is not None
    members = MemberVolumeClaims(world.state.storage, {signature: (_claims_of(world, "a"), pods)})
    assert members.are_fixed is are_fixed
