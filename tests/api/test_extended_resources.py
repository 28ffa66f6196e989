"""What a claim for extended resources asks for, and which container uses what; expectations are those of Kubernetes 1.37."""

from typing import Any

import msgspec
import pytest

from api.extended_resources import ExtendedResources, is_extended, parse_extended_resources, requests_for
from api.pod import PodSpec

GPU, NIC = "example.com/gpu", "example.com/nic"
CLASSES = {GPU: "gpu-class", NIC: "nic-class"}


def container(name: str, *, always: bool = False, **amounts: int) -> dict[str, Any]:
    """A container that asks for cpu and for so many of these; `always`: it restarts always."""
    names = {"gpu": GPU, "nic": NIC}
    requests = {"cpu": "1", **{names[key]: str(amount) for key, amount in amounts.items()}}
    return {"name": name, "resources": {"requests": requests}, **({"restartPolicy": "Always"} if always else {})}


def asked(*containers: dict[str, Any], starting: tuple[dict[str, Any], ...] = ()) -> ExtendedResources | None:
    spec = {"containers": list(containers), "initContainers": list(starting)}
    return parse_extended_resources(msgspec.json.decode(msgspec.json.encode(spec), type=PodSpec))


def told(extended: ExtendedResources | None, classes: dict[str, str] = CLASSES) -> tuple[dict[str, int], list[str]]:
    """Devices by request, and `container resource request` of each use."""
    assert extended is not None
    requests, mappings = requests_for(extended, classes)
    assert [one.name for one in requests] == sorted(one.name for one in requests)
    counts = {one.name: one.exactly.count for one in requests if one.exactly is not None}
    return counts, [f"{one.container_name} {one.resource_name[12:]} {one.request_name}" for one in mappings]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("example.com/gpu", True),
        ("deviceclass.resource.kubernetes.io/gpu", True),
        ("cpu", False),
        ("hugepages-2Mi", False),
        ("attachable-volumes.kubernetes.io/x", False),
        ("requests.example.com/gpu", False),
    ],
)
def test_classes_stand_for_extended_resources_only(name: str, is_one: bool) -> None:
    assert is_extended(name) is is_one


def test_most_pods_ask_for_none() -> None:
    assert asked(container("main")) is None
    assert asked(container("main", gpu=0)) is None


def test_each_container_has_a_request_of_its_own_by_its_place_and_that_of_the_resource() -> None:
    counts, uses = told(asked(container("a", gpu=2), container("b", gpu=1, nic=3)))
    assert counts == {"container-0-request-1": 2, "container-1-request-1": 1, "container-1-request-2": 3}
    assert uses == [
        "a gpu container-0-request-1",
        "b gpu container-1-request-1",
        "b nic container-1-request-2",
    ]


def test_only_resources_that_come_by_claim_are_asked_for() -> None:
    counts, uses = told(asked(container("a", gpu=2, nic=1)), {NIC: "nic-class"})
    assert counts == {"container-0-request-2": 1}
    assert uses == ["a nic container-0-request-2"]


def test_init_containers_use_what_those_after_them_have() -> None:
    counts, uses = told(asked(container("main", gpu=2), starting=(container("init", gpu=2),)))
    assert counts == {"container-1-request-1": 2}
    assert uses == ["main gpu container-1-request-1", "init gpu container-1-request-1"]


def test_of_several_init_containers_the_most_that_one_needs_besides_is_asked_for_once() -> None:
    starting = (container("small", gpu=3), container("large", gpu=5), container("as-large", gpu=5))
    counts, uses = told(asked(container("main", gpu=2), starting=starting))
    assert counts == {"container-1-request-1": 3, "container-3-request-1": 2}
    assert uses == [
        "main gpu container-3-request-1",
        *(f"{name} gpu container-{request}-request-1" for name in ("small", "large", "as-large") for request in (3, 1)),
    ]


def test_a_sidecar_keeps_its_devices_and_those_before_it_may_use_them() -> None:
    starting = (container("before", gpu=1), container("sidecar", gpu=1, always=True), container("after", gpu=1))
    counts, uses = told(asked(container("main"), starting=starting))
    assert counts == {"container-1-request-1": 1, "container-2-request-1": 1}
    assert uses == [
        "sidecar gpu container-1-request-1",
        "before gpu container-1-request-1",
        "after gpu container-2-request-1",
    ]
