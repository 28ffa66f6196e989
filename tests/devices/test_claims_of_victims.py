"""Which devices come free when somebody leaves, and who keeps theirs after all."""

from scheduler.cache.records import EntityKey
from scheduler.preemption.dry_run import dry_run_preemption
from scheduler.preemption.victims import Candidate, Refusal, RefusalCode
from tests.devices.build import Json, claim, device, request, resource_slice
from tests.devices.cluster import Cluster, gpu_template, places
from tests.scheduler.core import build

HIGH = 5


def offering(*devices: str, nodes: tuple[str, ...] = ("n0",)) -> Cluster:
    """Nodes; the first of them has these devices."""
    made = Cluster()
    for name in nodes:
        made.node(name)
    made.offer(resource_slice("s", [device(name) for name in devices], node=nodes[0]))
    return made


def shares(cluster: Cluster, name: str, amount: int, **users: int) -> None:
    """A claim with so much of the only device, and the pods that use it with their priorities."""
    one: Json = {"request": "r", "driver": "d", "pool": "s", "device": "nic", "shareID": f"share-of-{name}"}
    one["consumedCapacity"] = {"bandwidth": str(amount)}
    reserved = [{"resource": "pods", "name": user, "uid": f"uid-of-{user}"} for user in users]
    status = {"allocation": {"devices": {"results": [one]}}, "reservedFor": reserved}
    cluster.claim(claim(name, request("r"), status=status))
    spec = {"resourceClaims": [{"name": "own", "resourceClaimName": name}]}
    for user, priority in users.items():
        cluster.state.upsert_pod(build.pod(user, on="n0", priority=priority, spec=spec))


def offering_bandwidth(amount: int) -> Cluster:
    """A node with one device that several may share."""
    made = Cluster()
    made.node("n0")
    nic = device("nic") | {"allowMultipleAllocations": True, "capacity": {"bandwidth": {"value": str(amount)}}}
    made.offer(resource_slice("s", [nic], node="n0"))
    return made


def wanting(amount: int) -> Json:
    return claim("t", request("r", capacity={"requests": {"bandwidth": str(amount)}}))


def searched(cluster: Cluster, key: EntityKey) -> Candidate | Refusal:
    members = cluster.state.item(key)
    assert members is not None
    assert not cluster.decide(key).bindings
    return dry_run_preemption(cluster.state, members)


def leaving(found: Candidate | Refusal) -> list[str]:
    assert isinstance(found, Candidate), found
    return sorted(pod.name for pod in found.pods)


def test_whoever_holds_a_device_of_another_node_than_its_own_leaves_for_who_wants_it_there() -> None:
    cluster = offering("g0", nodes=("n0", "n1"))
    cluster.runs("elsewhere", "n1", "s/g0")
    cluster.runs("beside", "n0")
    found = searched(cluster, cluster.gang("new", 1, gpu_template(), priority=HIGH))
    assert leaving(found) == ["elsewhere"]
    assert isinstance(found, Candidate)
    assert [node for _, node in found.places] == ["n0"]


def test_devices_of_a_claim_that_the_gang_uses_itself_are_not_counted_on_for_another_claim() -> None:
    cluster = offering("g0")
    cluster.runs("low", "n0", "s/g0", claim_name="common")
    cluster.state.upsert_group(build.group("new", 2, priority=HIGH))
    cluster.member("new-0", "new", gpu_template(), named=("common",), priority=HIGH)
    cluster.member("new-1", "new", priority=HIGH)
    found = searched(cluster, build.group_key("new"))
    assert isinstance(found, Refusal)
    assert found.code is RefusalCode.TOO_FEW


def test_devices_that_others_keep_are_not_counted_on_when_somebody_is_to_stay() -> None:
    cluster = offering("g0", "g1", "g2", "g3")
    cluster.runs("boss", "n0", "s/g0", priority=9)
    for number in range(1, 4):
        cluster.runs(f"low-{number}", "n0", f"s/g{number}")
    two = claim("t", request("one"), request("other"))
    key = cluster.gang("new", 1, two, priority=HIGH)
    found = searched(cluster, key)
    assert len(leaving(found)) == 2
    for name in leaving(found):
        cluster.gone(name)
        cluster.free(f"{name}-own")
    assert places(cluster.decide(key)) == {"new-0": "n0"}


def test_a_share_that_somebody_more_important_keeps_anyway_is_no_reason_to_leave() -> None:
    cluster = offering_bandwidth(10)
    shares(cluster, "common", 6, boss=9, low=0)
    shares(cluster, "other", 4, single=1)
    assert leaving(searched(cluster, cluster.gang("new", 1, wanting(4), priority=HIGH))) == ["single"]


def test_a_share_of_several_who_stay_is_counted_once() -> None:
    cluster = offering_bandwidth(10)
    shares(cluster, "common", 4, one=0, two=0)
    shares(cluster, "other", 6, single=1)
    assert leaving(searched(cluster, cluster.gang("new", 1, wanting(6), priority=HIGH))) == ["single"]
