"""Random devices and claims, put to both schedulers on one real control plane: the same answer to each pod."""

import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conformance.devices import (
    OURS,
    SICK,
    STOCK,
    TOLERATES_SICK,
    Devices,
    device,
    devices_of,
    own,
    refusal_of,
    waits_for_claims,
)
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.tutti_process import Tutti

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.real_only("there is no stock scheduler on the embedded one"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

Object = dict[str, Any]

NODES = ("n1", "n2")
CLASSES = ("gpu", "nic")
PODS = 4
DECIDED_SECONDS = 30


@pytest.fixture
def two(devices: Devices) -> Iterator[dict[str, Devices]]:
    """Devices for each scheduler, on the same two nodes."""
    for node in NODES:
        devices.add_node(node)
    made = {}
    for scheduler in (STOCK, OURS):
        made[scheduler] = Devices(devices.api, devices.namespace, HollowNodes(devices.api, "none"))
        made[scheduler].nodes = devices.nodes
    yield made
    for each in made.values():
        each.remove()


def offered(devices: Devices, chance: random.Random) -> None:
    """Up to four devices of each class on each node, some of them sick."""
    for name in CLASSES:
        devices.add_class(name)
        for node in NODES:
            found = [
                device(
                    f"x{number}",
                    taints=[SICK] if chance.random() < 0.15 else (),
                    numa=chance.randrange(2),
                    model=chance.choice("ab"),
                )
                for number in range(chance.randrange(5))
            ]
            if found:
                devices.offer(f"{name}-{node}", *found, node=node, driver=name)


def request(devices: Devices, chance: random.Random, name: str) -> Object:
    """One request, as users write them."""
    of = chance.choice(CLASSES)
    selectors = [f'device.attributes["{{driver}}"].model == "{chance.choice("ab")}"'] if chance.random() < 0.3 else []
    more = {"tolerations": [TOLERATES_SICK]} if chance.random() < 0.3 else {}
    if chance.random() < 0.15:
        return devices.request(name, 1, *selectors, of=of, allocationMode="All", **more)
    return devices.request(name, chance.choice((1, 1, 2)), *selectors, of=of, **more)


def template(devices: Devices, chance: random.Random, name: str) -> None:
    """A claim of one or two requests, perhaps the first of two that can be had, perhaps with a constraint."""
    requests = [request(devices, chance, f"r{number}") for number in range(chance.choice((1, 1, 2)))]
    if chance.random() < 0.25:
        requests.append(devices.first_of("either", request(devices, chance, "a"), request(devices, chance, "b")))
    constraints = []
    if chance.random() < 0.4:
        of = next(name for name in CLASSES if requests[0]["exactly"]["deviceClassName"] == devices.cluster_name(name))
        attribute = f"{devices.driver(of)}/{chance.choice(('numa', 'model'))}"
        constraints.append({chance.choice(("matchAttribute", "distinctAttribute")): attribute, "requests": ["r0"]})
    devices.template(name, *requests, constraints=constraints)


def answered(devices: Devices, name: str) -> Callable[[], str]:
    """Whether a pod has its node, or was told why not."""

    def answer() -> str:
        pod = devices.api.get("pods", name, devices.namespace)
        return str(pod["spec"].get("nodeName") or ("" if waits_for_claims(pod) else refusal_of(pod)))

    return answer


def play(two: dict[str, Devices], seed: int) -> int:
    """One random cluster and its pods; how many of them were compared."""
    for devices in two.values():
        offered(devices, random.Random(seed))
    for number in range(PODS):
        given = {}
        for scheduler, devices in two.items():
            chance = random.Random(f"{seed}-{number}")
            name = f"{'ours' if scheduler == OURS else 'stock'}-{seed}-{number}"
            template(devices, chance, name)
            devices.pod(name, own(name), scheduler=scheduler, on=chance.choice(NODES), cpu="10m")
        for scheduler, devices in two.items():
            name = f"{'ours' if scheduler == OURS else 'stock'}-{seed}-{number}"
            answer = eventually(answered(devices, name), within_seconds=DECIDED_SECONDS)
            is_placed = answer in devices.nodes.values()
            given[scheduler] = (is_placed, sorted(devices_of(devices.of_pod(name))) if is_placed else answer)
        assert given[STOCK][0] == given[OURS][0], f"seed {seed}, pod {number}: {given}"
        if given[STOCK][0] and given[STOCK][1] != given[OURS][1]:
            # Both are right; from here on the two have other devices left.
            return number + 1
    return PODS


def compare(two: dict[str, Devices], chance: random.Random, rounds: int) -> None:
    compared = 0
    for _ in range(rounds):
        compared += play(two, chance.randrange(10**9))
        for devices in two.values():
            devices.remove()
    sys.stdout.write(f"{compared} pods of {rounds} clusters were answered alike\n")
    assert compared >= rounds


def test_random_claims_are_answered_alike(
    two: dict[str, Devices], control_plane: ControlPlane, tutti: Tutti, chance: random.Random
) -> None:
    compare(two, chance, rounds=4)


@pytest.mark.slow
def test_many_random_claims_are_answered_alike(
    two: dict[str, Devices], control_plane: ControlPlane, tutti: Tutti, chance: random.Random
) -> None:
    compare(two, chance, rounds=60)
