"""What may help a gang that waits for devices is tried at once; what cannot wakes nobody. No test here waits for time to pass."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from api.constants import MANAGED_BY, MANAGED_BY_TUTTI, MIN_RESOURCES
from api.devices import DeviceTaintRule, ResourceClaim, ResourceSlice
from kube.client.errors import OutcomeUnknown
from tests.devices.build import claim, device, device_class, request, resource_slice
from tests.devices.cluster import Cluster, gpu_template
from tests.devices.test_writes import PATIENT, WithDevices
from tests.devices.upstream import typed
from tests.scheduler.core import build
from tests.scheduler.shell.fake_api import once
from tests.scheduler.shell.manifests import gang, node, pod

Object = dict[str, Any]
Mend = Callable[[WithDevices], None]

NO_ROOM = "cannot allocate all claims"
SICK = {"key": "sick", "value": "yes", "effect": "NoSchedule"}


def held(pool: str, name: str, node_name: str = "") -> Object:
    allocation: Object = {"devices": {"results": [{"request": "r", "driver": "d", "pool": pool, "device": name}]}}
    if node_name:
        fields = [{"key": "metadata.name", "operator": "In", "values": [node_name]}]
        allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return allocation


@pytest.fixture
async def cluster() -> WithDevices:
    """Node n0 with one device that somebody holds, by the claim `other`."""
    made = WithDevices()
    made.add_node("n0", 1)
    consumer = {"resource": "pods", "name": "other", "uid": "uid-other"}
    made.add_claim("other", status={"allocation": held("slice-n0", "g0"), "reservedFor": [consumer]})
    return made


def release(cluster: WithDevices) -> None:
    cluster.api.put("resourceclaims", {**cluster.claim("other"), "status": {}})


def delete(cluster: WithDevices) -> None:
    cluster.api.remove("resourceclaims", "ns", "other")


def offer_more(cluster: WithDevices) -> None:
    cluster.api.put("resourceslices", resource_slice("slice-n0", [device("g0"), device("g1")], node="n0"))


def offer_elsewhere(cluster: WithDevices) -> None:
    cluster.add_node("n1", 1)


@pytest.mark.parametrize("mend", [release, delete, offer_more, offer_elsewhere])
async def test_devices_that_become_free_or_are_new_start_the_gang(cluster: WithDevices, mend: Mend) -> None:
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.says(NO_ROOM))
        mend(cluster)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)


async def test_a_class_that_comes_starts_the_gang(cluster: WithDevices) -> None:
    cluster.api.remove("deviceclasses", "", "gpu")
    release(cluster)
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.says("device class gpu does not exist"))
        cluster.api.put("deviceclasses", device_class("gpu"))
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)


async def test_a_class_that_means_other_devices_now_starts_the_gang(cluster: WithDevices) -> None:
    cluster.api.put("deviceclasses", device_class("gpu", "false"))
    release(cluster)
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.says(NO_ROOM))
        cluster.api.put("deviceclasses", device_class("gpu", "true"))
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)


@pytest.mark.parametrize("is_deleted", [True, False])
async def test_a_taint_that_goes_starts_the_gang(cluster: WithDevices, *, is_deleted: bool) -> None:
    rule: Object = {"metadata": {"name": "sick"}, "spec": {"deviceSelector": {"driver": "d"}, "taint": SICK}}
    cluster.api.put("devicetaintrules", rule)
    release(cluster)
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.says(NO_ROOM))
        if is_deleted:
            cluster.api.remove("devicetaintrules", "", "sick")
        else:
            spec = {**rule["spec"], "deviceSelector": {"driver": "another"}}
            cluster.api.put("devicetaintrules", {**rule, "spec": spec})
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)


async def test_a_claim_by_name_that_comes_starts_the_gang(cluster: WithDevices) -> None:
    release(cluster)
    async with cluster.scheduler(**PATIENT):
        cluster.members(2, shared="late")
        await cluster.api.until(lambda: cluster.says('could not find ResourceClaim "ns/late"'))
        cluster.add_claim("late")
        await cluster.api.until(lambda: len(cluster.api.bound()) == 2)


@pytest.mark.parametrize("is_claim_first", [True, False])
async def test_claims_from_templates_start_the_gang_in_whatever_order_they_are_told(
    cluster: WithDevices, *, is_claim_first: bool
) -> None:
    release(cluster)
    async with cluster.scheduler(**PATIENT):
        cluster.members(1, are_made=False)
        await cluster.api.until(lambda: cluster.says('to be made from the template "t"'))
        found = cluster.api.peek("pods", "ns", "g-0")

        def tell() -> None:
            statuses = [{"name": "c", "resourceClaimName": "c-0"}]
            cluster.api.put("pods", {**found, "status": {**found["status"], "resourceClaimStatuses": statuses}})

        if not is_claim_first:
            tell()
            await cluster.api.until(lambda: cluster.says('could not find ResourceClaim "ns/c-0"'))
        cluster.add_claim("c-0", owner=found["metadata"])
        if is_claim_first:
            tell()
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)


async def test_labels_with_which_a_node_reaches_devices_start_the_gang(cluster: WithDevices) -> None:
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
    cluster.api.put(
        "resourceslices", resource_slice("zonal", [device("z0")], nodeSelector={"nodeSelectorTerms": terms})
    )
    async with cluster.scheduler(**PATIENT):
        cluster.members(1)
        await cluster.api.until(lambda: cluster.says(NO_ROOM))
        labelled = node("n0")
        labelled["metadata"].setdefault("labels", {})["zone"] = "a"
        cluster.api.put("nodes", labelled)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)


# --- claims that nobody uses -------------------------------------------------------------------------------------------


def pinned(cluster: WithDevices) -> None:
    """The claim `mine` has the device of n0; the pod that names it can go to n1 only."""
    release(cluster)
    cluster.add_node("n1", 1)
    cluster.add_claim("mine", status={"allocation": held("slice-n0", "g0", "n0")})
    cluster.api.put("podgroups", gang("g", 1))
    made = pod("g-0", group="g", owned=True, gpus=0)
    made["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": "mine"}]
    made["spec"]["nodeName"] = ""
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    made["spec"]["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}
        }
    }
    cluster.api.put("pods", made)


@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_claim_that_nobody_uses_gives_up_its_devices_for_a_place(
    cluster: WithDevices, *, is_lost: bool
) -> None:
    pinned(cluster)
    if is_lost:
        cluster.api.after.append(once("patch", "resourceclaims/status", OutcomeUnknown("cut off")))
    async with cluster.scheduler(**PATIENT):
        await cluster.api.until(lambda: cluster.api.bound() == {"g-0": "n1"})
    assert cluster.devices() == {"mine": "slice-n1/g0"}


async def test_a_claim_that_somebody_begins_to_use_meanwhile_keeps_its_devices(cluster: WithDevices) -> None:
    pinned(cluster)
    taken = {"resource": "pods", "name": "faster", "uid": "uid-faster"}

    def somebody_is_faster(verb: str, what: str, name: str) -> None:
        found = cluster.claim(name) if (verb, what) == ("patch", "resourceclaims/status") else {"status": {}}
        if found["status"].get("allocation") and not found["status"].get("reservedFor"):
            cluster.api.put("resourceclaims", {**found, "status": {**found["status"], "reservedFor": [taken]}})

    cluster.api.before.append(somebody_is_faster)
    async with cluster.scheduler(**PATIENT) as scheduler:
        await cluster.api.until(lambda: cluster.consumers("mine") == ["faster"])
        await scheduler.dispatcher.idle()
        assert cluster.devices() == {"mine": "slice-n0/g0"}
        assert cluster.api.bound() == {}


# --- what wakes nobody -------------------------------------------------------------------------------------------------


@pytest.fixture
def waiting() -> Cluster:
    """A gang waits for the only device, which `low` holds."""
    made = Cluster()
    made.node("n1")
    made.offer(resource_slice("s", [device("g0")], node="n1"))
    made.runs("low", "n1", "s/g0")
    made.gang("g", 1, gpu_template())
    made.state.upsert_pod(build.pod("plain"))
    return made


WAITS = {"uid-of-g-0"}
RULE = typed({"metadata": {"name": "sick"}, "spec": {"deviceSelector": {}, "taint": SICK}}, DeviceTaintRule)


def test_only_pods_with_claims_hear_of_devices(waiting: Cluster) -> None:
    assert waiting.free("low-own") == WAITS


def test_what_changes_nothing_that_decides_wakes_nobody(waiting: Cluster) -> None:
    devices = waiting.state.devices
    same = resource_slice("s", [device("g0")], node="n1")
    same["metadata"]["annotations"] = {"seen": "again"}
    assert devices.set_slice("s", devices.slim_slice(typed(same, ResourceSlice))) == set()
    own = devices.claims["team-a", "g-0-own-0"]
    assert devices.set_claim(own.key, own) == set()


def test_what_only_takes_devices_away_wakes_nobody(waiting: Cluster) -> None:
    devices = waiting.state.devices
    assert devices.set_class("gpu", None) == set()
    assert devices.set_rule("sick", RULE) == set()
    assert devices.set_rule("sick", None) == WAITS


def test_the_claim_of_somebody_else_wakes_nobody_while_it_frees_no_device(waiting: Cluster) -> None:
    devices = waiting.state.devices
    made = devices.slim_claim(typed(claim("another", request()), ResourceClaim))
    assert devices.set_claim(("team-a", "another"), made) == set()


# --- a preemption, from the refusal to the start ------------------------------------------------------------------------


async def test_a_gang_starts_on_the_devices_of_its_victims_when_these_are_released_and_evicts_once() -> None:
    cluster = WithDevices()
    cluster.add_node("n0", 2)
    for number in range(2):
        low = pod(f"low-{number}", gpus=0)
        low["spec"] |= {"nodeName": "n0", "resourceClaims": [{"name": "c", "resourceClaimName": f"held-{number}"}]}
        low["status"]["phase"] = "Running"
        uid = cluster.api.put("pods", low)["metadata"]["uid"]
        user = {"resource": "pods", "name": f"low-{number}", "uid": uid}
        status = {"allocation": held("slice-n0", f"g{number}", "n0"), "reservedFor": [user]}
        cluster.add_claim(f"held-{number}", status=status)
    async with cluster.scheduler(**PATIENT) as scheduler:
        cluster.api.put("podgroups", {**gang("g", 1), "spec": {**gang("g", 1)["spec"], "priority": 9}})
        high = pod("g-0", group="g", owned=True, gpus=0)
        high["spec"] |= {"priority": 9, "resourceClaims": [{"name": "c", "resourceClaimName": "mine"}]}
        cluster.add_claim("mine")
        cluster.api.put("pods", high)
        await cluster.api.until(lambda: len(cluster.api.sent("delete", "pods")) == 1)
        await scheduler.dispatcher.idle()
        (victim,) = (name for name in ("low-0", "low-1") if not cluster.api.exists("pods", "ns", name))
        assert cluster.api.bound() == {("low-1" if victim == "low-0" else "low-0"): "n0"}
        cluster.api.put("nodes", node("n9"))
        await cluster.api.until(lambda: cluster.says("ongoing preemption"))
        claim_name = victim.replace("low", "held")
        cluster.api.put("resourceclaims", {**cluster.claim(claim_name), "status": {}})
        await cluster.api.until(lambda: cluster.api.bound().get("g-0") == "n0")
    assert len(cluster.api.sent("delete", "pods")) == 1
    assert cluster.devices()["mine"] == f"slice-n0/g{victim[-1]}"


def announce(cluster: WithDevices) -> None:
    """A leader without claims comes, whose two workers will have one each."""
    worker = {"role": "worker", "count": 2, "requests": {}}
    uses = [{"name": "c", "resourceClaimTemplateName": "t"}]
    made = gang("g", 1)
    annotations = {
        MANAGED_BY: MANAGED_BY_TUTTI,
        MIN_RESOURCES: json.dumps([worker | {"placement": {"resourceClaims": uses}}]),
    }
    cluster.api.put("podgroups", {**made, "metadata": {**made["metadata"], "annotations": annotations}})
    cluster.api.put("pods", pod("g-0", group="g", owned=True, gpus=0))


def template() -> Object:
    return {"metadata": {"name": "t", "namespace": "ns"}, "spec": {"spec": {"devices": {"requests": [request()]}}}}


def offer_a_third(cluster: WithDevices) -> None:
    offered = [device("g0"), device("g1"), device("g2")]
    cluster.api.put("resourceslices", resource_slice("slice-n0", offered, node="n0"))


@pytest.mark.parametrize("mend", [release, delete, offer_a_third, offer_elsewhere])
async def test_devices_that_become_free_or_are_new_start_a_leader_whose_workers_need_them(
    cluster: WithDevices, mend: Mend
) -> None:
    cluster.api.put("resourceclaimtemplates", template())
    cluster.api.put("resourceslices", resource_slice("slice-n0", [device("g0"), device("g1")], node="n0"))
    async with cluster.scheduler(**PATIENT):
        announce(cluster)
        await cluster.api.until(lambda: cluster.says(NO_ROOM))
        mend(cluster)
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)


async def test_a_template_that_comes_starts_a_leader_whose_workers_name_it(cluster: WithDevices) -> None:
    cluster.add_node("n1", 2)
    async with cluster.scheduler(**PATIENT):
        announce(cluster)
        await cluster.api.until(lambda: cluster.says('could not find ResourceClaimTemplate "ns/t"'))
        cluster.api.put("resourceclaimtemplates", template())
        await cluster.api.until(lambda: len(cluster.api.bound()) == 1)
