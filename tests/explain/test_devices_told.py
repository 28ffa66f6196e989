"""What is told of devices: by class of nodes, and which pods wait for which claims."""

import msgspec

from explain.answer import ClassCount, Verdict
from explain.reasons import Reason
from explain.text import screen
from explain.why import why
from scheduler.algorithm.devices.decided_claims import decided_claims
from tests.devices.build import device, device_class, resource_slice
from tests.devices.cluster import Cluster, gpu_template
from tests.explain.reason_table import SCENES
from tests.explain.scene_devices import asking
from tests.explain.scenes import GANG, NOW_SECONDS, Scene
from tests.scheduler.core import build


def test_nodes_are_told_apart_by_how_many_pods_they_have_devices_for() -> None:
    nodes = {f"a{number}": {"devices": 4} for number in range(2)} | {f"b{number}": {} for number in range(3)}
    residents = {"r": {"on": "a0", "devices": ["g0", "g1", "g2", "g3"]}, "s": {"on": "a1", "devices": ["g0"]}}
    answer = why(
        Scene(nodes=nodes, residents=residents, size=3, need=3, pod={"devices": 2}).world().state, KEY, NOW_SECONDS
    )
    (told,) = answer.blocking
    assert (answer.verdict, told.reason) == (Verdict.WAITS, Reason.DEVICES)
    assert told.nodes == (
        ClassCount("cpu=4, no devices", 3, refused=3, too_small=3),
        ClassCount("cpu=4, devices for 2 pods", 2, refused=1, room_for=1),
    )
    lines = screen(answer).splitlines()
    assert "  blocks    devices for its resource claims: 5 cannot allocate all claims" in lines
    assert "              3 of 3 nodes: cpu=4, no devices (free for 0 pods, too few even when nobody has any)" in lines
    assert "              1 of 2 nodes: cpu=4, devices for 2 pods (free for 1 pod)" in lines
    assert lines[-1] == "  hint      `count: 1` instead of 2 devices of class gpu in each claim fits"


KEY = Scene().key


def test_more_devices_than_there_are_never_start() -> None:
    scene = Scene(nodes={"n": {"devices": 2}}, size=1, need=1, pod={"devices": 5})
    assert why(scene.world().state, KEY, NOW_SECONDS).verdict is Verdict.NEVER


def test_claims_that_do_not_exist_yet_are_told_with_counts_of_pods() -> None:
    _, _, scene = SCENES["a claim that nobody has made yet"]
    answer = why(scene.world().state, scene.key, NOW_SECONDS)
    assert answer.verdict is Verdict.WAITS
    (told,) = answer.blocking
    text = 'waiting for the resourceclaim "device" to be made from the template "one"'
    assert told.message == f"its resource claims: 2 pods: {text}"


def test_a_claim_that_is_being_deleted_is_waited_for() -> None:
    scene = Scene(nodes={"n": {"devices": 2}}, size=1, need=1, exists=0)
    world = scene.world()
    world.pod(f"{GANG}-0", group=GANG, **asking(world.state, f"{GANG}-0", {"devices": 1}))
    (key,) = world.state.devices.claims
    claim = world.state.devices.claims[key]
    metadata = msgspec.structs.replace(claim.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
    world.state.devices.set_claim(key, msgspec.structs.replace(claim, metadata=metadata))
    answer = why(world.state, scene.key, NOW_SECONDS)
    assert (answer.verdict, answer.reason) == (Verdict.WAITS, Reason.CLAIMS)
    assert 'resourceclaim "wanting-0-device" is being deleted' in answer.message


def test_an_answer_about_devices_leaves_claims_and_slices_as_they_were() -> None:
    for name in ("devices that a gang has", "more nodes with devices", "fewer devices for each pod"):
        _, _, scene = SCENES[name]
        devices = scene.world().state.devices
        state = scene.world().state
        why(state, scene.key, NOW_SECONDS)
        assert state.devices.claims.keys() == devices.claims.keys()
        assert len(state.devices.held) == len(devices.held)
        assert state.devices.slices.keys() == devices.slices.keys()
        assert not state.devices.assumed


def with_extended_resource(pods: int, amount: int = 1) -> Cluster:
    """n1 has two devices of the class that stands for the resource, n2 offers it once itself; a gang asks for it."""
    cluster = Cluster()
    backing = device_class("gpu")
    backing["spec"]["extendedResourceName"] = EXTENDED
    cluster.device_class(backing)
    cluster.node("n1")
    cluster.state.upsert_node(build.node("n2", cpu=16, resources={EXTENDED: "1"}))
    cluster.offer(resource_slice("s1", [device("g0"), device("g1")], node="n1"))
    cluster.state.upsert_group(build.group("g", pods))
    for number in range(pods):
        requests = {"cpu": "1", EXTENDED: str(amount)}
        cluster.state.upsert_pod(build.pod(f"g-{number}", requests=requests, group="g"))
    return cluster


EXTENDED = "example.com/gpu"


def test_devices_for_extended_resources_are_told_as_those_for_claims() -> None:
    answer = why(with_extended_resource(4).state, build.group_key("g"), NOW_SECONDS)
    assert answer.verdict is Verdict.NEVER
    devices, room = answer.blocking
    assert (devices.reason, room.reason, room.resource) == (Reason.DEVICES, Reason.ROOM, EXTENDED)
    assert devices.nodes == (ClassCount("cpu=16 example.com/gpu=0, devices for 2 pods", 1, refused=0, room_for=2),)
    assert [(one.nodes, one.room_for, one.most_free) for one in room.nodes] == [("cpu=16 example.com/gpu=1", 1, "1")]


def test_a_gang_that_waits_for_devices_which_others_have_for_an_extended_resource_may_start_later() -> None:
    cluster = with_extended_resource(2, amount=1)
    cluster.runs("other", "n1", "s1/g0", "s1/g1", priority=100)
    answer = why(cluster.state, build.group_key("g"), NOW_SECONDS)
    assert answer.verdict is Verdict.WAITS
    assert "1 cannot allocate all claims" in "\n".join(screen(answer).splitlines())


def test_a_decision_about_an_extended_resource_is_seen_by_the_next_one_in_a_copy() -> None:
    cluster = with_extended_resource(3)
    key = build.group_key("g")
    decision = cluster.decide(key)
    cluster.state.devices.assume(decided_claims(cluster.state, decision))
    for uid, node in decision.bindings:
        cluster.state.assume(uid, node, float("inf"))
    assert len(cluster.state.devices.held) == 2
    assert cluster.decide(cluster.gang("h", 1, gpu_template())).bindings == ()
