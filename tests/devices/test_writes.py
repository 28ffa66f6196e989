"""Claims are written before the binds, for the whole gang; what does not start leaves nothing behind."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from api.constants import CLAIM_FINALIZER
from kube.client.errors import Conflict, Forbidden, KubeError, OutcomeUnknown, Unreachable
from tests.devices.build import claim, device, device_class, request, resource_slice
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.fake_api import always, once
from tests.scheduler.shell.manifests import gang, node, pod

Object = dict[str, Any]

PATIENT: Object = {"initial_backoff_seconds": 600, "max_backoff_seconds": 600}
"""Nothing is tried again because time passed."""


class WithDevices(Cluster):
    """A cluster with devices; the test is the claim controller."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock=clock)
        self.follows_devices = True
        self.api.put("deviceclasses", device_class("gpu"))

    def add_node(self, name: str, devices: int) -> None:
        self.api.put("nodes", node(name))
        offered = [device(f"g{number}") for number in range(devices)]
        self.api.put("resourceslices", resource_slice(f"slice-{name}", offered, node=name))

    def add_claim(self, name: str, *, owner: Object | None = None, **more: Any) -> None:
        made = claim(name, request(), **more)
        made["metadata"].pop("uid")
        if owner is not None:
            reference = {"apiVersion": "v1", "kind": "Pod", "name": owner["name"], "uid": owner["uid"]}
            made["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
        self.api.put("resourceclaims", made)

    def members(self, size: int, *, shared: str = "", are_made: bool = True) -> None:
        """Members with a claim each, or with one that they share; `are_made`: the controller has made theirs."""
        self.api.put("podgroups", gang("g", size))
        for number in range(size):
            made = pod(f"g-{number}", group="g", owned=True, gpus=0)
            if shared:
                made["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": shared}]
                self.api.put("pods", made)
                continue
            made["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimTemplateName": "t"}]
            if not are_made:
                self.api.put("pods", made)
                continue
            made["status"]["resourceClaimStatuses"] = [{"name": "c", "resourceClaimName": f"c-{number}"}]
            stored = self.api.put("pods", made)
            self.add_claim(f"c-{number}", owner=stored["metadata"])

    def add_gang_with_claims(self, name: str, size: int) -> None:
        """A gang whose members have a claim each that is there already."""
        self.api.put("podgroups", gang(name, size))
        for number in range(size):
            made = pod(f"{name}-{number}", group=name, owned=True, gpus=0)
            made["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": f"{name}-{number}"}]
            self.add_claim(f"{name}-{number}")
            self.api.put("pods", made)

    def add_devices_to_prepare(self, number: int) -> None:
        """A node, and devices for it which a driver has to prepare first."""
        conditions = {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Failed"], "bindsToNode": True}
        self.api.put("nodes", node("n0"))
        slow = [{**device(f"g{each}"), **conditions} for each in range(number)]
        self.api.put("resourceslices", resource_slice("slow", slow))

    def driver_says(self, kind: str, claim_name: str, device_name: str) -> None:
        """The driver sets this condition of a device."""
        found = self.claim(claim_name)
        condition = {"type": kind, "status": "True", "reason": "broken", "message": "no cable"}
        said = {"driver": "d", "pool": "slow", "device": device_name, "conditions": [condition]}
        self.api.put("resourceclaims", {**found, "status": {**found["status"], "devices": [said]}})

    def claim(self, name: str) -> Object:
        return self.api.peek("resourceclaims", "ns", name)

    def condition(self, pod_name: str) -> Object:
        """What PodScheduled of a pod says."""
        found = self.api.peek("pods", "ns", pod_name).get("status", {}).get("conditions", [])
        return next((one for one in found if one["type"] == "PodScheduled"), {})

    def devices(self) -> dict[str, str]:
        """Allocated claims with their devices."""
        found = {name: self.claim(name)["status"].get("allocation") for name in self.api.names("resourceclaims")}
        return {
            name: "/".join(one["devices"]["results"][0][part] for part in ("pool", "device"))
            for name, one in found.items()
            if one
        }

    def consumers(self, name: str) -> list[str]:
        return [one["name"] for one in self.claim(name)["status"].get("reservedFor") or ()]

    def says(self, words: str) -> bool:
        conditions = self.api.peek("podgroups", "ns", "g").get("status", {}).get("conditions", [])
        return any(words in one.get("message", "") for one in conditions)


@pytest.fixture
async def cluster() -> WithDevices:
    return WithDevices()


async def test_pods_are_told_what_they_lack_once_their_claims_are_there(cluster: WithDevices) -> None:
    cluster.add_node("n0", 1)

    def told(reason: str, words: str) -> bool:
        conditions = [cluster.condition(f"g-{number}") for number in range(2)]
        return all(one.get("reason") == reason and words in one.get("message", "") for one in conditions)

    async with cluster.scheduler(**PATIENT):
        cluster.members(2, are_made=False)
        await cluster.api.until(lambda: told("WaitingForResourceClaims", 'to be made from the template "t"'))
        cluster.members(2)
        await cluster.api.until(lambda: told("Unschedulable", "cannot allocate all claims"))
        assert cluster.says("cannot allocate all claims")


async def test_all_claims_of_a_gang_are_written_before_its_first_bind(cluster: WithDevices) -> None:
    cluster.add_node("n0", 2)
    cluster.add_node("n1", 2)
    async with cluster.scheduler(**PATIENT):
        cluster.members(4)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 4)
    assert len(set(cluster.devices().values())) == 4
    for number in range(4):
        written = cluster.claim(f"c-{number}")
        assert written["metadata"]["finalizers"] == [CLAIM_FINALIZER]
        assert written["status"]["allocation"]["allocationTimestamp"].startswith("2026-01-01T00:00:")
        assert cluster.consumers(f"c-{number}") == [f"g-{number}"]
        node_name = cluster.api.bound()[f"g-{number}"]
        assert cluster.devices()[f"c-{number}"].startswith(f"slice-{node_name}/")
    writes = [(verb, what) for verb, what, _ in cluster.api.log if what in {"resourceclaims/status", "pods/binding"}]
    assert writes == [("patch", "resourceclaims/status")] * 4 + [("create", "pods/binding")] * 4


async def test_a_claim_that_members_share_is_written_once_for_all(cluster: WithDevices) -> None:
    cluster.add_node("n0", 1)
    cluster.add_claim("shared")
    async with cluster.scheduler(**PATIENT):
        cluster.members(3, shared="shared")
        await cluster.api.until(lambda: len(cluster.api.bound()) == 3)
    assert sorted(cluster.consumers("shared")) == ["g-0", "g-1", "g-2"]
    assert len(cluster.api.sent("patch", "resourceclaims/status")) == 1


async def test_a_gang_without_devices_for_all_writes_nothing_and_starts_when_a_slice_comes(
    cluster: WithDevices,
) -> None:
    cluster.add_node("n0", 1)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: cluster.says("cannot allocate all claims"))
        assert cluster.devices() == {}
        cluster.add_node("n1", 1)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)


async def test_a_released_device_goes_to_the_gang_that_waits_for_it(cluster: WithDevices) -> None:
    cluster.add_node("n0", 1)
    held = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "slice-n0", "device": "g0"}]}}
    consumer = {"resource": "pods", "name": "other", "uid": "uid-other"}
    cluster.add_claim("other", status={"allocation": held, "reservedFor": [consumer]})
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.says("cannot allocate all claims"))
        cluster.api.remove("resourceclaims", "ns", "other")
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)


@pytest.mark.parametrize("what", ["resourceclaims", "resourceclaims/status"])
@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_write_whose_answer_is_a_conflict_or_lost_is_read_and_done(
    cluster: WithDevices, what: str, is_lost: bool
) -> None:
    cluster.add_node("n0", 2)
    if is_lost:
        cluster.api.after.append(once("patch", what, OutcomeUnknown("cut off")))
    else:
        cluster.api.before.append(once("patch", what, Conflict(409, "Conflict", "changed")))
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    assert len(set(cluster.devices().values())) == 2


async def test_a_server_that_is_away_for_a_moment_delays_the_gang(cluster: WithDevices) -> None:
    cluster.add_node("n0", 2)
    cluster.api.before.append(once("patch", "resourceclaims/status", Unreachable("away")))
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)


async def test_without_the_right_to_write_nobody_starts_and_the_reason_is_told(cluster: WithDevices) -> None:
    cluster.add_node("n0", 2)
    refusal = Forbidden(403, "Forbidden", 'requires resource="resourceclaims/binding"')
    cluster.api.before.append(always("patch", "resourceclaims/status", refusal))
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: cluster.says("resourceclaims/binding"))
        assert cluster.api.bound() == {}
        assert cluster.devices() == {}


async def test_a_gang_of_which_one_claim_is_taken_gives_all_its_devices_back(cluster: WithDevices) -> None:
    cluster.add_node("n0", 3)
    taken = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "elsewhere", "device": "x"}]}}

    def somebody_is_faster(verb: str, what: str, name: str) -> None:
        if (verb, what, name) == ("patch", "resourceclaims/status", "c-1"):
            found = cluster.claim("c-1")
            if not found["status"].get("allocation"):
                cluster.api.put("resourceclaims", {**found, "status": {"allocation": taken}})

    cluster.api.before.append(somebody_is_faster)
    async with cluster.scheduler(**PATIENT):
        cluster.members(3)
        await cluster.api.until(lambda: cluster.says("got allocated elsewhere in the meantime"))
        await cluster.api.until(lambda: cluster.devices() == {"c-1": "elsewhere/x"})
        assert cluster.api.bound() == {}


async def test_the_devices_of_a_pod_that_could_not_be_bound_are_given_back(cluster: WithDevices) -> None:
    cluster.add_node("n0", 1)
    cluster.api.before.append(always("create", "pods/binding", Forbidden(403, "Forbidden", "no binds")))
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: bool(cluster.api.sent("create", "pods/binding")))
        await cluster.api.until(lambda: cluster.devices() == {})
        assert cluster.consumers("c-0") == []


@pytest.mark.parametrize("written", [1, 2])
async def test_what_a_process_that_died_had_allocated_is_taken_back_and_decided_anew(
    cluster: WithDevices, written: int
) -> None:
    """It had written `written` of two claims for a gang that has no room on that node any more."""
    cluster.add_node("n0", 2)
    cluster.members(2)
    for number in range(written):
        found = cluster.claim(f"c-{number}")
        uid = cluster.api.peek("pods", "ns", f"g-{number}")["metadata"]["uid"]
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]
        allocation = {
            "devices": {"results": [{"request": "r", "driver": "d", "pool": "gone", "device": f"g{number}"}]},
            "nodeSelector": {"nodeSelectorTerms": terms},
        }
        status = {"allocation": allocation, "reservedFor": [{"resource": "pods", "name": f"g-{number}", "uid": uid}]}
        cluster.api.put("resourceclaims", {**found, "status": status})
    async with cluster.scheduler():
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    assert set(cluster.devices().values()) == {"slice-n0/g0", "slice-n0/g1"}


@pytest.mark.parametrize("is_slow", [False, True])
async def test_what_is_being_taken_back_is_not_used_meanwhile_even_if_the_same_pods_could(
    cluster: WithDevices, is_slow: bool
) -> None:
    """The process that died had written all of a gang's claims; what it wrote would do, but it is being taken back."""
    cluster.add_node("n0", 2)
    cluster.members(2)
    for number in range(2):
        uid = cluster.api.peek("pods", "ns", f"g-{number}")["metadata"]["uid"]
        terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]}]
        result = {"request": "r", "driver": "d", "pool": "slice-n0", "device": f"g{number}"}
        allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": terms}}
        status = {"allocation": allocation, "reservedFor": [{"resource": "pods", "name": f"g-{number}", "uid": uid}]}
        cluster.api.put("resourceclaims", {**cluster.claim(f"c-{number}"), "status": status})
    if is_slow:
        cluster.api.before.append(once("get", "resourceclaims", Unreachable("away")))
    async with cluster.scheduler():
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    assert set(cluster.devices().values()) == {"slice-n0/g0", "slice-n0/g1"}
    assert [cluster.consumers(f"c-{number}") for number in range(2)] == [["g-0"], ["g-1"]]


async def test_two_gangs_that_want_the_same_devices_do_not_share_them(cluster: WithDevices) -> None:
    """The watch of claims may be behind: what is on its way counts."""
    cluster.add_node("n0", 3)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
        cluster.add_gang_with_claims("h", 2)
        await cluster.api.until(
            lambda: bool(cluster.api.condition("podgroups", "ns", "h", "PodGroupInitiallyScheduled"))
        )
    assert len(cluster.api.bound()) == 2
    assert sorted(cluster.devices()) == ["c-0", "c-1"]


async def test_devices_on_their_way_to_one_gang_are_not_promised_to_another(cluster: WithDevices) -> None:
    """Nothing is written yet that a watch could show: the server does not answer."""

    def away(_verb: str, what: str, name: str) -> KubeError | None:
        return Unreachable("away") if what.startswith("resourceclaims") and name.startswith("c-") else None

    cluster.add_node("n0", 3)
    cluster.api.before.append(away)
    async with cluster.scheduler(**PATIENT) as scheduler:
        cluster.members(2)
        await cluster.api.until(lambda: len(scheduler.state.assumptions) == 2)
        cluster.add_gang_with_claims("h", 2)
        await cluster.api.until(
            lambda: bool(cluster.api.condition("podgroups", "ns", "h", "PodGroupInitiallyScheduled"))
        )
        cluster.api.before.remove(away)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)
    assert sorted(cluster.api.bound()) == ["g-0", "g-1"]
    assert sorted(cluster.devices()) == ["c-0", "c-1"]


async def test_pods_with_claims_are_refused_while_devices_are_not_followed(cluster: WithDevices) -> None:
    cluster.follows_devices = False
    cluster.add_node("n0", 1)
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.says("the API server does not serve resource.k8s.io/v1"))
    assert not [entry for entry in cluster.api.log if entry[1].startswith(("resourceclaims", "resourceslices"))]


async def test_devices_that_a_driver_prepares_are_waited_for_and_a_failure_gives_them_back(
    cluster: WithDevices,
) -> None:
    cluster.add_devices_to_prepare(1)
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.devices() == {"c-0": "slow/g0"})
        assert cluster.api.bound() == {}
        cluster.driver_says("Failed", "c-0", "g0")
        await cluster.api.until(
            lambda: cluster.says('device binding failed: claim=c-0, reason=broken, message="no cable"')
        )
        await cluster.api.until(lambda: cluster.devices() == {})
    async with cluster.scheduler(**PATIENT):
        await cluster.api.until(lambda: cluster.devices() == {"c-0": "slow/g0"})
        cluster.driver_says("Ready", "c-0", "g0")
        await cluster.api.until(lambda: cluster.api.bound() == {"g-0": "n0"})


async def test_a_gang_of_which_one_device_cannot_be_prepared_does_not_wait_for_the_other_drivers(
    cluster: WithDevices,
) -> None:
    cluster.add_devices_to_prepare(2)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2)
        await cluster.api.until(lambda: len(cluster.devices()) == 2)
        cluster.driver_says("Failed", "c-0", cluster.devices()["c-0"].removeprefix("slow/"))
        await cluster.api.until(lambda: cluster.devices() == {})
        assert cluster.api.bound() == {}
