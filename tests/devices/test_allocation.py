"""Which devices a pod's claims get on a node: all or nothing, in kube-scheduler's order."""

import pytest

from scheduler.algorithm.devices.errors import AllocationError, InvalidPools, SearchLimit
from scheduler.algorithm.devices.result import allocation_results
from scheduler.cache.devices.held import HeldDevices
from scheduler.cache.devices.records import DeviceId, HeldDevice
from tests.devices.build import (
    Json,
    allocated,
    asked,
    claim,
    classes,
    device,
    device_class,
    first_available,
    names,
    node_facts,
    pools_of,
    request,
    resource_slice,
    slices,
)

TAINT = {"key": "sick", "value": "yes", "effect": "NoSchedule"}


def holding(*devices: str, pool: str = "s") -> HeldDevices:
    return HeldDevices(HeldDevice(DeviceId("d", pool, one)) for one in devices)


def gpus(count: int, **attributes: int) -> list[Json]:
    return [device(f"g{number}", **attributes) for number in range(count)]


def test_devices_are_taken_in_the_order_of_pools_slices_and_devices() -> None:
    offers = slices(
        resource_slice("b", gpus(2), node="n1", pool="p2"),
        resource_slice("z", gpus(1), node="n1", pool="p1", count=2),
        resource_slice("a", [device("last")], node="n1", pool="p1", count=2),
    )
    assert names(allocated(asked(claim("c", request("r", 3))), offers)) == [["r=last", "r=g0", "r=g0"]]


def test_what_others_hold_is_not_taken() -> None:
    offers = slices(resource_slice("s", gpus(3), node="n1"))
    claims = asked(claim("c", request("r", 2)))
    assert names(allocated(claims, offers, holding("g0"))) == [["r=g1", "r=g2"]]
    assert allocated(claims, offers, holding("g0", "g1")) is None


def test_earlier_claims_give_way_when_later_ones_would_find_nothing() -> None:
    offers = slices(resource_slice("s", [device("g0", model="h"), device("g1", model="a")], node="n1"))
    claims = asked(claim("any", request()), claim("h", request("r", 1, 'device.attributes.d.model == "h"')))
    assert names(allocated(claims, offers)) == [["r=g1"], ["r=g0"]]


def test_devices_of_one_claim_share_an_attribute_or_differ_in_it() -> None:
    offers = slices(resource_slice("s", [device(f"g{n}", numa=n % 2) for n in range(4)], node="n1"))
    alike = claim("c", request("r", 2), constraints=[{"matchAttribute": "d/numa"}])
    apart = claim("c", request("r", 2), constraints=[{"distinctAttribute": "d/numa"}])
    assert names(allocated(asked(alike), offers, holding("g0"))) == [["r=g1", "r=g3"]]
    assert names(allocated(asked(apart), offers, holding("g0"))) == [["r=g1", "r=g2"]]


def test_a_device_without_the_attribute_breaks_the_constraint() -> None:
    offers = slices(resource_slice("s", gpus(2), node="n1"))
    assert allocated(asked(claim("c", request(), constraints=[{"matchAttribute": "d/numa"}])), offers) is None


def test_the_first_alternative_with_which_everything_works_is_taken() -> None:
    offers = slices(resource_slice("s", [device("f0", kind="fast"), device("s0", kind="slow")], node="n1"))
    fast = request("fast", 1, 'device.attributes.d.kind == "fast"')
    slow = request("slow", 1, 'device.attributes.d.kind == "slow"')
    choice = claim("c", first_available("r", fast, slow))
    assert names(allocated(asked(choice), offers)) == [["r/fast=f0"]]
    needed = claim("other", fast)
    assert names(allocated(asked(choice, needed), offers)) == [["r/slow=s0"], ["fast=f0"]]


def test_all_means_every_device_that_matches_or_none() -> None:
    offers = slices(resource_slice("s", gpus(3), node="n1"))
    everything = asked(claim("c", request("r", allocationMode="All")))
    assert names(allocated(everything, offers)) == [["r=g0", "r=g1", "r=g2"]]
    assert allocated(everything, offers, holding("g1")) is None


def test_more_devices_than_a_claim_can_name_are_refused_at_once() -> None:
    offers = slices(resource_slice("s", gpus(40), node="n1"))
    with pytest.raises(
        AllocationError, match="claim ns/c: number of requested devices 33 exceeds the claim limit of 32"
    ):
        allocated(asked(claim("c", request("r", 33))), offers)


def test_a_tainted_device_is_for_those_that_tolerate_it() -> None:
    offers = slices(resource_slice("s", [{**device("g0"), "taints": [TAINT]}], node="n1"))
    assert allocated(asked(claim("c", request())), offers) is None
    tolerant = request("r", tolerations=[{"key": "sick", "operator": "Exists"}])
    assert names(allocated(asked(claim("c", tolerant)), offers)) == [["r=g0"]]


def test_counters_are_shared_by_the_devices_of_a_pool() -> None:
    def part(name: str, amount: str) -> Json:
        return {**device(name), "consumesCounters": [{"counterSet": "m", "counters": {"memory": {"value": amount}}}]}

    offers = slices(
        resource_slice("s", [part("full", "80Gi"), part("h0", "40Gi"), part("h1", "40Gi")], pool="p", count=2),
        resource_slice(
            "t", pool="p", count=2, sharedCounters=[{"name": "m", "counters": {"memory": {"value": "80Gi"}}}]
        ),
    )
    two = asked(claim("c", request("r", 2)))
    assert names(allocated(two, offers)) == [["r=h0", "r=h1"]]
    assert allocated(two, offers, holding("h0", pool="p")) is None
    assert names(allocated(asked(claim("c", request())), offers, holding("h0", pool="p"))) == [["r=h1"]]


def test_a_shareable_device_serves_many_until_its_capacity_is_used_up() -> None:
    nic = {**device("nic"), "allowMultipleAllocations": True, "capacity": {"b": {"value": "10"}}}
    offers = slices(resource_slice("s", [nic], node="n1"))
    six, four = (request(name, capacity={"requests": {"b": name[1:]}}) for name in ("r6", "r4"))
    claims = asked(claim("c", six, four))
    solution = allocated(claims, offers)
    assert names(solution) == [["r6=nic", "r4=nic"]]
    assert solution is not None
    (result,) = allocation_results(claims, solution, "n1", iter(("one", "two")).__next__)
    shares = result.devices.results or ()
    assert [(one.share_id, one.consumed_capacity) for one in shares] == [("one", {"b": "6"}), ("two", {"b": "4"})]
    assert allocated(asked(claim("c", six, six)), offers) is None


def test_administrators_see_devices_that_others_hold() -> None:
    offers = slices(resource_slice("s", gpus(1), node="n1"))
    admin = asked(claim("c", request("r", adminAccess=True)))
    solution = allocated(admin, offers, holding("g0"))
    assert names(solution) == [["r=g0"]]
    assert solution is not None
    assert solution.devices[0][0].request.is_admin


def test_nothing_is_taken_of_a_pool_that_is_being_updated() -> None:
    offers = slices(resource_slice("s", gpus(1), node="n1", count=2))
    assert allocated(asked(claim("c", request())), offers) is None
    with pytest.raises(AllocationError, match="asks for all devices, but resource pool d/s is currently being updated"):
        allocated(asked(claim("c", request(allocationMode="All"))), offers)


def test_an_older_generation_of_a_pool_does_not_count() -> None:
    old = resource_slice("old", gpus(2), node="n1", pool="p", count=2)
    elsewhere = resource_slice("new", node="n2", pool="p", generation=2)
    assert pools_of(slices(old, elsewhere)) == []
    newer = resource_slice("new", [device("g9")], node="n1", pool="p", generation=2)
    assert names(allocated(asked(claim("c", request())), slices(old, newer))) == [["r=g9"]]


def test_an_invalid_pool_is_told_only_where_there_is_no_room_elsewhere() -> None:
    broken = resource_slice("broken", [device("x"), device("x")], node="n1")
    good = resource_slice("good", gpus(1), node="n1")
    claims = asked(claim("c", request()))
    assert names(allocated(claims, slices(broken, good))) == [["r=g0"]]
    with pytest.raises(InvalidPools, match="invalid resource pools were encountered"):
        allocated(claims, slices(broken))


def test_a_slice_with_a_field_of_an_alpha_gate_is_not_used() -> None:
    grouped = {
        **device("g0"),
        "consumesCounters": [{"counterSet": "m", "counters": {}, "compatibilityGroups": ["a"]}],
    }
    (record,) = slices(resource_slice("s", [grouped], node="n1"))
    assert record.alpha_field == "compatibilityGroups"
    assert allocated(asked(claim("c", request())), [record]) is None


def test_a_request_with_derived_attributes_is_refused_by_that_name() -> None:
    derived = request(derivedAttributes=[{"name": "d/x", "expression": "1"}])
    with pytest.raises(AllocationError, match="derivedAttributes are not supported"):
        asked(claim("c", derived))


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (claim("c", request(class_name="none")), "claim ns/c, request r: could not retrieve device class none"),
        (claim("c", {"name": "r"}), "missing device class name"),
        (claim("c", request(allocationMode="Half")), "unsupported count mode Half"),
        (claim("c", request(selectors=[{}])), "selector #0: CEL expression empty"),
        (claim("c", request("r", 1, "1 +")), "claim ns/c: selector #0: CEL compile error"),
        (claim("c", request(), constraints=[{}]), "constraint #0: empty constraint"),
        (claim("c", request(capacity={"requests": {"b": "much"}})), "'much' is not a quantity"),
    ],
)
def test_what_is_wrong_with_a_claim_is_said(manifest: Json, words: str) -> None:
    with pytest.raises(AllocationError) as caught:
        asked(manifest)
    assert words in str(caught.value)


def test_a_selector_without_an_answer_ends_the_attempt_and_names_device_and_owner() -> None:
    offers = slices(resource_slice("s", gpus(1), node="n1"))
    known = classes(device_class("gpu", "device.attributes.d.missing"))
    with pytest.raises(
        AllocationError, match="class gpu: selector #0 on device d/s/g0: CEL runtime error: no such key"
    ):
        allocated(asked(claim("c", request()), of=known), offers)


def test_devices_that_are_alike_are_not_tried_one_after_the_other() -> None:
    """Thirty-two equal devices, and a last request that nothing meets: the number of ways would never be gone through."""
    offers = slices(resource_slice("s", gpus(32), node="n1"))
    nothing = request("last", 1, 'device.driver == "other"')
    assert allocated(asked(claim("c", request("r", 16), nothing)), offers, most_looks=2_000) is None


def test_a_search_that_would_take_too_long_is_given_up() -> None:
    offers = slices(resource_slice("s", [device(f"g{n}", serial=n) for n in range(32)], node="n1"))
    nothing = request("last", 1, 'device.driver == "other"')
    with pytest.raises(SearchLimit, match="an allocation may exist"):
        allocated(asked(claim("c", request("r", 16), nothing)), offers)


def test_an_allocation_names_the_nodes_on_which_it_can_be_used() -> None:
    def selector(solution_of: Json) -> bytes:
        claims = asked(claim("c", request()))
        solution = allocated(claims, slices(solution_of))
        assert solution is not None
        return bytes(allocation_results(claims, solution, "n1", str)[0].node_selector)

    only = b'{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}'
    assert selector(resource_slice("s", gpus(1), node="n1")) == only
    assert selector(resource_slice("s", [{**device("g"), "bindsToNode": True}])) == only
    assert selector(resource_slice("s", gpus(1))) == b""
    assert selector(resource_slice("s", [{**device("g"), "nodeName": "n1"}], perDeviceNodeSelection=True)) == only


def test_a_pool_for_nodes_with_a_label_is_seen_by_these() -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
    offers = slices(resource_slice("s", gpus(1), nodeSelector=terms))
    assert pools_of(offers, node_facts("n1", {"zone": "b"})) == []
    assert len(pools_of(offers, node_facts("n1", {"zone": "a"}))) == 1
