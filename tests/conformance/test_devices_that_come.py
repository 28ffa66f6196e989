"""What gangs and pods wait for on a real control plane, and that they go on at once when it is there: nothing is polled.

Devices that others give back, taints that go, templates, claims and classes that are made later, pools that become whole.
"""

import pytest

from tests.conformance.devices import Devices, devices_of, named, own
from verify.clusters.eventually import eventually
from verify.clusters.jobs import CONDITION, Jobs, condition_entry

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30
FREED_SECONDS = 60
"""The claim controller takes devices back some seconds after a pod is gone."""


def run(devices: Devices, prefix: str, count: int, *, within_seconds: float = SOON_SECONDS) -> set[str]:
    """Waits until so many pods of this prefix have a node; the nodes."""
    eventually(lambda: len(devices.places(prefix)) == count, within_seconds=within_seconds)
    return set(devices.places(prefix).values())


def told(devices: Devices, prefix: str, *words: str) -> str:
    """Waits until one of the pods of this prefix, none of which has a node, is told these words."""

    def message() -> str:
        names = [one["metadata"]["name"] for one in devices.api.list("pods", devices.namespace)]
        found = [devices.told(name) for name in names if name.startswith(prefix)]
        assert any(all(word in text for word in words) for text in found), found
        return next(text for text in found if all(word in text for word in words))

    answer = eventually(message, within_seconds=SOON_SECONDS)
    assert devices.places(prefix) == {}
    return answer


def group_told(jobs: Jobs, name: str, word: str) -> None:
    """Waits until the group of a Job is told this word, and others."""

    def is_told() -> bool:
        found = condition_entry(jobs.group(name), CONDITION)
        assert found, "nothing was said"
        assert found["status"] == "False", found
        assert word in found["message"], found["message"]
        return True

    eventually(is_told, within_seconds=SOON_SECONDS)


def test_03_the_second_gang_starts_when_the_controller_has_freed_the_devices_of_the_first(
    devices: Devices, jobs: Jobs
) -> None:
    devices.base()
    devices.gang("first", 3, own("t"))
    run(devices, "first", 3)
    devices.gang("second", 3, own("t"))
    group_told(jobs, "second", "1 of 3 pods can be placed")
    assert len(devices.given()) == 3
    devices.api.delete("jobs", "first", devices.namespace)
    run(devices, "second", 3, within_seconds=FREED_SECONDS)
    assert len(set(devices.given())) == 3


def test_10_a_pod_whose_devices_are_tainted_starts_when_the_taint_goes(devices: Devices) -> None:
    devices.base()
    devices.taint("rule", pool="n1")
    devices.pod("p", own("t"), on="n1")
    told(devices, "p", "cannot allocate all claims")
    devices.withdraw("devicetaintrules", "rule")
    assert run(devices, "p", 1) == {"n1"}


def test_11_a_gang_says_which_member_waits_for_which_claim_until_its_template_is_there(
    devices: Devices, jobs: Jobs
) -> None:
    devices.base()
    devices.gang("early", 2, own("later"))
    told(devices, "early", 'waiting for the resourceclaim "claim-0" to be made from the template "later"')
    group_told(jobs, "early", 'the template "later"')
    devices.template("later", devices.request())
    run(devices, "early", 2, within_seconds=FREED_SECONDS)


def test_12_a_claim_that_is_missing_is_named_and_used_when_it_is_there(devices: Devices) -> None:
    devices.base()
    devices.pod("p", named("missing"))
    told(devices, "p", "could not find ResourceClaim", "missing")
    devices.claim("missing")
    run(devices, "p", 1)


def test_12_a_claim_that_is_being_deleted_is_not_used_but_the_next_one_of_its_name_is(devices: Devices) -> None:
    devices.base()
    keep = {"metadata": {"finalizers": ["example.com/keep"]}}
    devices.claim("c")
    devices.api.patch("resourceclaims", "c", keep, devices.namespace)
    devices.api.delete("resourceclaims", "c", devices.namespace)
    devices.pod("p", named("c"))
    told(devices, "p", 'resourceclaim "c" is being deleted')
    devices.api.patch("resourceclaims", "c", {"metadata": {"finalizers": None}}, devices.namespace)
    told(devices, "p", "could not find ResourceClaim")
    devices.claim("c")
    run(devices, "p", 1)


def test_12_a_claim_made_for_another_pod_is_not_used_and_the_right_one_is_when_the_status_names_it(
    devices: Devices,
) -> None:
    devices.base()
    other = devices.pod("other", own("t"), scheduler="nobody")
    pod = devices.pod("p", own("not-there"))
    devices.claim("of-other", owner=_owner(other))
    status = {"resourceClaimStatuses": [{"name": "claim-0", "resourceClaimName": "of-other"}]}
    path = devices.api.path("pods", devices.namespace, "p") + "/status"
    devices.api.request("PATCH", path, {"status": status}, kind="merge")
    told(devices, "p", "was not created for Pod", "(Pod is not owner)")
    devices.claim("mine", owner=_owner(pod))
    status["resourceClaimStatuses"][0]["resourceClaimName"] = "mine"
    devices.api.request("PATCH", path, {"status": status}, kind="merge")
    run(devices, "p", 1)
    assert len(devices_of(devices.get("mine"))) == 1
    assert devices_of(devices.get("of-other")) == []


def _owner(pod: dict[str, dict[str, str]]) -> dict[str, object]:
    meta = pod["metadata"]
    return {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}


def test_13_a_class_that_is_missing_is_named_and_the_gang_starts_when_it_is_there(devices: Devices, jobs: Jobs) -> None:
    devices.base()
    devices.offer("npus", "x0", "x1", node="n3", driver="npu")
    devices.template("npu", devices.request(of="npu"))
    devices.gang("g", 2, own("npu"))
    group_told(jobs, "g", f"request r: device class {devices.cluster_name('npu')} does not exist")
    devices.add_class("npu")
    assert run(devices, "g", 2) == {"n3"}


def test_14_nothing_is_taken_from_a_pool_of_which_a_slice_is_missing_and_all_when_it_is_there(devices: Devices) -> None:
    devices.add_node("n1")
    devices.add_class()
    devices.template("one", devices.request())
    devices.template("all", devices.request(allocationMode="All"))
    devices.offer("n1", "g0", number=0, slices=2)
    devices.pod("one", own("one"))
    devices.pod("all", own("all"))
    told(devices, "one", "cannot allocate all claims")
    pool = f"{devices.driver()}/n1"
    told(devices, "all", f"asks for all devices, but resource pool {pool} is currently being updated")
    devices.api.delete("pods", "one", devices.namespace)
    devices.offer("n1", "g1", number=1, slices=2)
    run(devices, "all", 1)
    assert devices.given() == ["n1/g0", "n1/g1"]


def test_14_one_device_of_a_pool_that_becomes_whole_is_given_at_once(devices: Devices) -> None:
    devices.add_node("n1")
    devices.add_class()
    devices.template("one", devices.request())
    devices.offer("n1", "g0", number=0, slices=2)
    devices.pod("one", own("one"))
    told(devices, "one", "cannot allocate all claims")
    devices.offer("n1", "g1", number=1, slices=2)
    run(devices, "one", 1)


def test_15_a_pool_with_a_name_twice_does_not_stop_gangs_that_want_others(devices: Devices, jobs: Jobs) -> None:
    devices.base()
    devices.add_class("broken")
    devices.offer("twice", "x0", node="n1", driver="broken", number=0, slices=2)
    devices.offer("twice", "x0", node="n1", driver="broken", number=1, slices=2)
    devices.template("broken", devices.request(of="broken"))
    devices.gang("good", 4, own("t"))
    assert run(devices, "good", 4) == {"n1", "n2"}
    devices.pod("bad", own("broken"), on="n1")
    told(devices, "bad", "invalid resource pools were encountered")


def test_a_device_that_is_offered_later_is_given_at_once(devices: Devices, jobs: Jobs) -> None:
    devices.base()
    devices.gang("five", 5, own("t"))
    group_told(jobs, "five", "4 of 5 pods can be placed; 0/3 nodes are available for the rest")
    devices.offer("n3", "g0")
    run(devices, "five", 5)
