"""Which devices a claim gets on a real control plane: selectors, constraints, taints, alternatives, All, shares, partitions.

Pods are lone ones here, so each claim is seen by itself; beside the stock scheduler they are in `test_devices_like_stock.py`.
"""

import pytest

from tests.conformance.devices import TOLERATES_SICK, Devices, device, devices_of, own, results_of
from verify.clusters.eventually import eventually

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.one_api,
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30
FREED_SECONDS = 60
"""The claim controller takes devices back some seconds after a pod is gone."""


def runs(devices: Devices, pod: str, node: str, *, within_seconds: float = SOON_SECONDS) -> list[str]:
    """Waits until the pod is on this node; the devices of its first claim."""

    def is_there() -> bool:
        assert devices.place(pod) == node, devices.told(pod)
        return True

    eventually(is_there, within_seconds=within_seconds)
    return devices_of(devices.of_pod(pod))


def refused(devices: Devices, pod: str, word: str = "cannot allocate all claims") -> str:
    """Waits until the pod is told in these words, and others, that it can run nowhere; it has no node then."""

    def told() -> str:
        text = devices.told(pod)
        assert word in text, text
        return text

    found = eventually(told, within_seconds=SOON_SECONDS)
    assert devices.place(pod) == ""
    return found


def test_07_two_devices_of_one_numa_node_are_on_n2_and_there_once(devices: Devices) -> None:
    devices.base()
    pair = devices.request("r", 2)
    devices.template("pair", pair, constraints=[{"matchAttribute": "{driver}/numa"}])
    devices.pod("first", own("pair"))
    assert runs(devices, "first", "n2") == ["n2/g0", "n2/g1"]
    devices.pod("second", own("pair"))
    assert "0/3 nodes are available" in refused(devices, "second", "3 cannot allocate all claims")


def test_08_two_devices_of_different_numa_nodes_are_on_n1(devices: Devices) -> None:
    devices.base()
    devices.template("apart", devices.request("r", 2), constraints=[{"distinctAttribute": "{driver}/numa"}])
    devices.pod("first", own("apart"))
    assert runs(devices, "first", "n1") == ["n1/g0", "n1/g1"]


def test_09_a_sick_device_is_for_those_that_tolerate_it_and_their_claim_says_so(devices: Devices) -> None:
    devices.base()
    h100 = 'device.attributes["{driver}"].model == "h100"'
    devices.template("h100", devices.request("r", 1, h100))
    devices.template("tolerant", devices.request("r", 1, h100, tolerations=[TOLERATES_SICK]))
    devices.pod("careful", own("h100"))
    refused(devices, "careful")
    devices.pod("brave", own("tolerant"))
    assert runs(devices, "brave", "n2") == ["n2/g2"]
    (result,) = results_of(devices.of_pod("brave"))
    assert [one["key"] for one in result["tolerations"]] == ["sick"]


def test_16_a_selector_without_an_answer_leaves_out_the_nodes_that_have_such_a_device(devices: Devices) -> None:
    devices.add_node("n1")
    devices.add_node("n2")
    devices.add_class()
    devices.offer("n1", "g0")
    devices.offer("n2", device("g0", model="a100"))
    selector = 'device.attributes["{driver}"].model == "a100"'
    devices.template("a100", devices.request("r", 1, selector))
    devices.pod("free", own("a100"))
    assert runs(devices, "free", "n2") == ["n2/g0"]
    devices.pod("bound-to-n1", own("a100"), on="n1")
    refused(devices, "bound-to-n1", "no such key: model")


def test_17_the_first_alternative_is_taken_where_it_can_be_had_then_the_next(devices: Devices) -> None:
    for name in ("n1", "n2", "n3"):
        devices.add_node(name)
    for name in ("fast", "slow"):
        devices.add_class(name)
    devices.offer("n3", "f0", driver="fast")
    devices.offer("n1", "s0", "s1", driver="slow")
    either = devices.first_of("r", devices.request("fast", 1, of="fast"), devices.request("slow", 2, of="slow"))
    devices.template("either", either)
    devices.pod("first", own("either"))
    assert runs(devices, "first", "n3") == ["n3/f0"]
    devices.pod("second", own("either"))
    assert runs(devices, "second", "n1") == ["n1/s0", "n1/s1"]
    assert [one["request"] for one in results_of(devices.of_pod("first"))] == ["r/fast"]
    assert [one["request"] for one in results_of(devices.of_pod("second"))] == ["r/slow", "r/slow"]


def test_18_all_devices_of_a_node_are_given_when_none_of_them_is_used_or_sick(devices: Devices) -> None:
    devices.base()
    devices.template("all", devices.request("r", allocationMode="All", tolerations=[TOLERATES_SICK]))
    devices.template("healthy", devices.request("r", allocationMode="All"))
    devices.pod("careful", own("healthy"), on="n2")
    refused(devices, "careful")
    devices.pod("first", own("all"), on="n2")
    assert runs(devices, "first", "n2") == ["n2/g0", "n2/g1", "n2/g2"]
    devices.pod("second", own("all"), on="n2")
    refused(devices, "second")


def test_18_all_devices_wait_for_the_one_that_is_used(devices: Devices) -> None:
    devices.base()
    devices.template("all", devices.request("r", allocationMode="All", tolerations=[TOLERATES_SICK]))
    devices.pod("user", own("t"), on="n2")
    assert runs(devices, "user", "n2") == ["n2/g0"]
    devices.pod("all", own("all"), on="n2")
    refused(devices, "all")
    devices.api.delete("pods", "user", devices.namespace)
    assert runs(devices, "all", "n2", within_seconds=FREED_SECONDS) == ["n2/g0", "n2/g1", "n2/g2"]


def test_19_shares_of_a_device_are_rounded_and_what_is_given_back_is_used_again(devices: Devices) -> None:
    devices.add_node("n1")
    devices.add_class("nic")
    policy = {"default": "1", "validRange": {"min": "1", "step": "2"}}
    nic = {
        "name": "port",
        "allowMultipleAllocations": True,
        "capacity": {"bandwidth": {"value": "10", "requestPolicy": policy}},
    }
    devices.offer("n1", nic, driver="nic")

    def ask(name: str, amount: str) -> None:
        requests = {"capacity": {"requests": {"bandwidth": amount}}} if amount else {}
        devices.template(name, devices.request("r", 1, of="nic", **requests))
        devices.pod(name, own(name))

    ask("four", "4")
    runs(devices, "four", "n1")
    ask("six", "6")
    refused(devices, "six")
    ask("default", "")
    runs(devices, "default", "n1")
    consumed = {name: results_of(devices.of_pod(name))[0] for name in ("four", "default")}
    assert {name: _amounts(one) for name, one in consumed.items()} == {"four": ["5"], "default": ["1"]}
    devices.api.delete("pods", "four", devices.namespace)
    runs(devices, "six", "n1", within_seconds=FREED_SECONDS)
    third = results_of(devices.of_pod("six"))[0]
    assert _amounts(third) == ["7"]
    assert len({one["shareID"] for one in (*consumed.values(), third)}) == 3


def _amounts(result: dict[str, dict[str, str]]) -> list[str]:
    return list(result["consumedCapacity"].values())


def test_20_partitions_share_the_memory_of_their_device(devices: Devices) -> None:
    devices.add_node("n1")
    devices.add_class()

    def part(name: str, gibibytes: int, size: str) -> dict[str, object]:
        counters = [{"counterSet": "card", "counters": {"memory": {"value": f"{gibibytes}Gi"}}}]
        return {**device(name, size=size), "consumesCounters": counters}

    card = [{"name": "card", "counters": {"memory": {"value": "80Gi"}}}]
    devices.offer("n1", number=0, slices=2, sharedCounters=card)
    parts = [part("full", 80, "full"), part("half0", 40, "half"), part("half1", 40, "half")]
    devices.offer("n1", *parts, number=1, slices=2)
    for size in ("full", "half"):
        devices.template(size, devices.request("r", 1, f'device.attributes["{{driver}}"].size == "{size}"'))
    for name in ("one", "two"):
        devices.pod(name, own("half"))
    for name in ("one", "two"):
        runs(devices, name, "n1")
    devices.pod("whole", own("full"))
    refused(devices, "whole")
    devices.api.delete("pods", "one", devices.namespace)
    eventually(lambda: len(devices.given()) == 1, within_seconds=FREED_SECONDS)
    refused(devices, "whole")
    devices.api.delete("pods", "two", devices.namespace)
    assert runs(devices, "whole", "n1", within_seconds=FREED_SECONDS) == ["n1/full"]


def test_a_claim_for_33_devices_is_refused_and_says_how_many_one_may_have(devices: Devices) -> None:
    devices.add_node("n1")
    devices.add_class()
    devices.offer("n1", *(f"g{number}" for number in range(40)))
    devices.template("many", devices.request("r", 33))
    devices.template("most", devices.request("r", 32))
    devices.pod("many", own("many"))
    refused(devices, "many", "number of requested devices 33 exceeds the claim limit of 32")
    devices.pod("most", own("most"))
    assert len(runs(devices, "most", "n1")) == 32
