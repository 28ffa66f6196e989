"""Claims that are made for extended resources: all of a gang's before its first bind, none is left of one that does not start."""

from typing import Any

import pytest

from api.constants import CLAIM_FINALIZER, EXTENDED_CLAIM
from kube.client.errors import Conflict, Forbidden, KubeError, OutcomeUnknown, Unreachable
from tests.devices.build import device, device_class, resource_slice
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.fake_api import always, once
from tests.scheduler.shell.manifests import gang, node, pod

Object = dict[str, Any]

GPU = "example.com/gpu"
PATIENT: Object = {"initial_backoff_seconds": 600, "max_backoff_seconds": 600}
"""Nothing is tried again because time passed."""


class WithExtendedResources(Cluster):
    """A cluster whose class `gpu` stands for an extended resource."""

    def __init__(self) -> None:
        super().__init__()
        self.follows_devices = True
        backing = device_class("gpu")
        backing["spec"]["extendedResourceName"] = GPU
        self.api.put("deviceclasses", backing)

    def add_node(self, name: str, devices: int, *, offers: int = 0) -> None:
        """A node with devices, or one that offers the resource itself."""
        made = node(name)
        if offers:
            made["status"]["allocatable"][GPU] = str(offers)
        self.api.put("nodes", made)
        if devices:
            offered = [device(f"g{number}") for number in range(devices)]
            self.api.put("resourceslices", resource_slice(f"slice-{name}", offered, node=name))

    def members(self, size: int, *, amount: int = 1, group: str = "g") -> None:
        self.api.put("podgroups", gang(group, size))
        for number in range(size):
            made = pod(f"{group}-{number}", group=group, owned=True, gpus=0)
            made["spec"]["containers"] = [{"name": "main", "resources": {"requests": {"cpu": "1", GPU: str(amount)}}}]
            self.api.put("pods", made)

    def claims(self) -> list[Object]:
        return [self.api.peek("resourceclaims", "ns", name) for name in self.api.names("resourceclaims")]

    def told(self, pod_name: str) -> Object:
        """What the status of a pod says of its claim."""
        found: Object = self.api.peek("pods", "ns", pod_name)["status"].get("extendedResourceClaimStatus", {})
        return found

    def says(self, words: str) -> bool:
        conditions = self.api.peek("podgroups", "ns", "g").get("status", {}).get("conditions", [])
        return any(words in one.get("message", "") for one in conditions)

    def writes(self) -> list[tuple[str, str]]:
        """What was written of claims, and binds, in order."""
        told = ("resourceclaims", "pods/binding")
        return [(verb, what) for verb, what, _ in self.api.log if verb in {"create", "patch"} and what.startswith(told)]


@pytest.fixture
async def cluster() -> WithExtendedResources:
    return WithExtendedResources()


async def test_a_claim_is_made_for_each_pod_and_its_status_names_it_before_the_first_bind(
    cluster: WithExtendedResources,
) -> None:
    cluster.add_node("n0", 2)
    cluster.add_node("n1", 2)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2, amount=2)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    assert len(cluster.claims()) == 2
    for found in cluster.claims():
        meta, status = found["metadata"], found["status"]
        (owner,) = meta["ownerReferences"]
        assert owner == {**owner, "apiVersion": "v1", "kind": "Pod", "controller": True}
        assert meta["annotations"] == {EXTENDED_CLAIM: "true"}
        assert meta["generateName"] == f"{owner['name']}-extended-resources-"
        assert meta["name"].startswith(meta["generateName"])
        assert len(meta["name"]) == len(meta["generateName"]) + 5
        assert meta["finalizers"] == [CLAIM_FINALIZER]
        assert [one["uid"] for one in status["reservedFor"]] == [owner["uid"]]
        results = status["allocation"]["devices"]["results"]
        assert {one["request"] for one in results} == {"container-0-request-1"}
        assert {one["pool"] for one in results} == {f"slice-{cluster.api.bound()[owner['name']]}"}
        assert len(results) == 2
        mapping = {"containerName": "main", "resourceName": GPU, "requestName": "container-0-request-1"}
        assert cluster.told(owner["name"]) == {"resourceClaimName": meta["name"], "requestMappings": [mapping]}
    writes = cluster.writes()
    assert sorted(writes[:4]) == [*[("create", "resourceclaims")] * 2, *[("patch", "resourceclaims/status")] * 2]
    assert writes[4:] == [("create", "pods/binding")] * 2


async def test_no_claim_is_made_where_the_node_offers_the_resource(cluster: WithExtendedResources) -> None:
    cluster.add_node("n0", 1)
    cluster.add_node("n1", 0, offers=1)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    by_node = {where: name for name, where in cluster.api.bound().items()}
    (made,) = cluster.claims()
    assert made["metadata"]["ownerReferences"][0]["name"] == by_node["n0"]
    assert cluster.told(by_node["n1"]) == {}


async def test_a_gang_that_finds_too_few_devices_makes_no_claim_and_starts_when_a_slice_comes(
    cluster: WithExtendedResources,
) -> None:
    cluster.add_node("n0", 1)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: cluster.says("cannot allocate all claims"))
        assert cluster.claims() == []
        cluster.add_node("n1", 1)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)


async def test_a_gang_starts_when_a_class_comes_that_stands_for_its_resource(cluster: WithExtendedResources) -> None:
    cluster.api.remove("deviceclasses", "", "gpu")
    cluster.add_node("n0", 2)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: cluster.says("Insufficient example.com/gpu"))
        backing = device_class("gpu")
        backing["spec"]["extendedResourceName"] = GPU
        cluster.api.put("deviceclasses", backing)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)


WRITES = [
    ("create", "resourceclaims"),
    ("patch", "resourceclaims/status"),
    ("patch", "pods/status"),
]


@pytest.mark.parametrize("trouble", ["the answer is lost", "the server is away"])
@pytest.mark.parametrize(("verb", "what"), WRITES)
async def test_trouble_with_one_write_delays_the_gang_and_makes_no_second_claim(
    cluster: WithExtendedResources, verb: str, what: str, trouble: str
) -> None:
    cluster.add_node("n0", 2)
    if trouble == "the answer is lost":
        cluster.api.after.append(once(verb, what, OutcomeUnknown("cut off")))
    else:
        cluster.api.before.append(once(verb, what, Unreachable("away")))
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    assert len(cluster.claims()) == 2


@pytest.mark.parametrize(("verb", "what"), WRITES)
async def test_a_gang_of_which_one_write_is_refused_does_not_start_and_leaves_no_claim(
    cluster: WithExtendedResources, verb: str, what: str
) -> None:
    cluster.add_node("n0", 3)
    refusal = Forbidden(403, "Forbidden", "not by you")

    def of_one(done: str, target: str, name: str) -> KubeError | None:
        return refusal if (done, target) == (verb, what) and name.startswith("g-1") else None

    cluster.api.before.append(of_one)
    async with cluster.scheduler(**PATIENT):
        cluster.members(3)
        await cluster.api.until(lambda: cluster.says("not by you"))
        await cluster.api.until(lambda: cluster.claims() == [])
        assert cluster.api.bound() == {}
    cluster.api.before.clear()
    async with cluster.scheduler(**PATIENT):
        await cluster.api.until(lambda: len(cluster.api.bound()) == 3)
    assert len(cluster.claims()) == 3


async def test_the_claim_of_a_pod_that_could_not_be_bound_is_deleted(cluster: WithExtendedResources) -> None:
    cluster.add_node("n0", 1)
    cluster.api.before.append(always("create", "pods/binding", Forbidden(403, "Forbidden", "no binds")))
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: bool(cluster.api.sent("create", "pods/binding")))
        await cluster.api.until(lambda: cluster.claims() == [])


async def test_a_claim_that_is_being_deleted_is_read_again_when_it_has_changed(cluster: WithExtendedResources) -> None:
    cluster.add_node("n0", 1)
    cluster.api.before.append(always("create", "pods/binding", Forbidden(403, "Forbidden", "no binds")))
    cluster.api.before.append(once("delete", "resourceclaims", Conflict(409, "Conflict", "changed")))
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: len(cluster.api.sent("delete", "resourceclaims")) == 2)
        await cluster.api.until(lambda: cluster.claims() == [])


@pytest.mark.parametrize("is_allocated", [False, True])
async def test_what_a_process_that_died_had_made_is_deleted_before_its_pods_are_placed(
    cluster: WithExtendedResources, is_allocated: bool
) -> None:
    cluster.add_node("n0", 2)
    cluster.members(2)
    uid = cluster.api.peek("pods", "ns", "g-0")["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "g-0", "uid": uid, "controller": True}
    result = {"request": "container-0-request-1", "driver": "d", "pool": "slice-n0", "device": "g0"}
    status = {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": "g-0", "uid": uid}],
    }
    metadata = {
        "name": "g-0-extended-resources-abcde",
        "namespace": "ns",
        "annotations": {EXTENDED_CLAIM: "true"},
        "ownerReferences": [owner],
        "finalizers": [CLAIM_FINALIZER],
    }
    asked = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    spec = {"devices": {"requests": [{"name": "container-0-request-1", "exactly": asked}]}}
    left = {"metadata": metadata, "spec": spec, "status": status if is_allocated else {}}
    cluster.api.put("resourceclaims", left)
    async with cluster.scheduler():
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    assert "g-0-extended-resources-abcde" not in cluster.api.names("resourceclaims")
    assert len(cluster.claims()) == 2


async def test_a_claim_that_comes_late_is_deleted_when_its_pod_is_looked_at_again(
    cluster: WithExtendedResources,
) -> None:
    """It was created by a process that has died since, and arrives when the next one is at work already."""
    cluster.add_node("n0", 1)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: cluster.says("cannot allocate all claims"))
        uid = cluster.api.peek("pods", "ns", "g-0")["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "g-0", "uid": uid, "controller": True}
        metadata = {
            "name": "late",
            "namespace": "ns",
            "annotations": {EXTENDED_CLAIM: "true"},
            "ownerReferences": [owner],
        }
        cluster.api.put("resourceclaims", {"metadata": metadata, "spec": {"devices": {}}, "status": {}})
        cluster.add_node("n1", 1)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    assert len(cluster.claims()) == 2
    assert "late" not in cluster.api.names("resourceclaims")


async def test_a_server_that_does_not_keep_the_status_is_named_and_nothing_starts(
    cluster: WithExtendedResources, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.add_node("n0", 1)
    patch = cluster.api.patch

    async def without_field(resource: Any, body: Any, *more: Any, **options: Any) -> Object:
        if "extendedResourceClaimStatus" in body.get("status", {}):
            body = {**body, "status": {}}
        return await patch(resource, body, *more, **options)

    monkeypatch.setattr(cluster.api, "patch", without_field)
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.says("DRAExtendedResource"))
        await cluster.api.until(lambda: cluster.claims() == [])
    assert cluster.api.bound() == {}


async def test_devices_on_their_way_are_not_given_to_the_next_gang(cluster: WithExtendedResources) -> None:
    cluster.add_node("n0", 3)
    async with cluster.scheduler(**PATIENT):
        cluster.api.hold_watches = True
        cluster.members(2)
        cluster.api.hold_watches = False
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
        cluster.members(2, group="h")
        await cluster.api.until(
            lambda: bool(cluster.api.condition("podgroups", "ns", "h", "PodGroupInitiallyScheduled"))
        )
    assert len(cluster.api.bound()) == 2
    assert len(cluster.claims()) == 2
