"""What a pod asks of a node, checked against the rules of KEP-753 (sidecars) and KEP-2837 (pod-level resources)."""

import json
from typing import Any

import msgspec
import pytest

from api.errors import InvalidQuantity
from api.pod import PodSpec
from api.requests import effective_requests, parse_amount, parse_amounts

Amounts = dict[str, str]


def container(
    cpu: str, more: Amounts | None = None, *, limits: Amounts | None = None, sidecar: bool = False
) -> dict[str, Any]:
    requests = {"cpu": cpu, **(more or {})}
    resources = {"requests": requests, **({"limits": limits} if limits else {})}
    return {"name": "c", "resources": resources, **({"restartPolicy": "Always"} if sidecar else {})}


def asked(*containers: dict[str, Any], init: list[dict[str, Any]] | None = None, **spec: Any) -> dict[str, int]:
    document = {"containers": list(containers), "initContainers": init or [], **spec}
    return effective_requests(msgspec.json.decode(json.dumps(document).encode(), type=PodSpec))


def cpu(*containers: dict[str, Any], **spec: Any) -> int:
    return asked(*containers, **spec).get("cpu", 0)


def test_a_pod_that_asks_for_nothing_takes_a_place() -> None:
    assert asked({"name": "c"}) == {"pods": 1}
    assert asked({"name": "c", "resources": {}}) == {"pods": 1}
    assert asked({"name": "c", "resources": None}) == {"pods": 1}


def test_containers_are_summed_per_resource() -> None:
    found = asked(container("500m", {"memory": "1Gi"}), container("250m", {"memory": "512Mi", "nvidia.com/gpu": "2"}))
    assert found == {"cpu": 750, "memory": 1536 * 1024**2, "nvidia.com/gpu": 2, "pods": 1}


def test_an_amount_of_zero_is_left_out() -> None:
    assert asked(container("0", {"memory": "0"})) == {"pods": 1}


def test_a_limit_without_a_request_counts_as_the_request() -> None:
    only_limits = {"name": "c", "resources": {"limits": {"cpu": "2", "nvidia.com/gpu": "1"}}}
    assert asked(only_limits) == {"cpu": 2000, "nvidia.com/gpu": 1, "pods": 1}
    assert cpu(container("1", limits={"cpu": "2"})) == 1000


@pytest.mark.parametrize(
    ("init", "expected"),
    [
        ([], 1000),
        ([container("3")], 3000),
        ([container("3"), container("2")], 3000),
        ([container("500m")], 1000),
        ([container("1", sidecar=True)], 2000),
        ([container("1", sidecar=True), container("3")], 4000),
        ([container("3"), container("1", sidecar=True)], 3000),
        ([container("1", sidecar=True), container("1", sidecar=True), container("2")], 4000),
        ([container("4"), container("2", sidecar=True), container("1", sidecar=True)], 4000),
        ([container("5", sidecar=True), container("100m")], 6000),
    ],
    ids=[
        "none",
        "larger one",
        "one after the other",
        "smaller one",
        "sidecar",
        "one beside a sidecar",
        "one before a sidecar",
        "one beside two sidecars",
        "a large one before two sidecars",
        "sidecars beside the containers",
    ],
)
def test_init_containers_and_sidecars(init: list[dict[str, Any]], expected: int) -> None:
    assert cpu(container("1"), init=init) == expected


def test_each_resource_has_its_own_peak() -> None:
    init = [container("4", {"memory": "1Gi"}), container("1", {"memory": "8Gi"})]
    found = asked(container("2", {"memory": "2Gi", "example.com/x": "1"}), init=init)
    assert found == {"cpu": 4000, "memory": 8 * 1024**3, "example.com/x": 1, "pods": 1}


def test_overhead_is_added_at_the_end() -> None:
    assert cpu(container("1"), init=[container("3")], overhead={"cpu": "250m"}) == 3250
    assert cpu(container("1"), resources={"requests": {"cpu": "2"}}, overhead={"cpu": "250m"}) == 2250
    assert cpu(container("1"), overhead=None) == 1000


def test_what_the_pod_states_as_a_whole_replaces_the_sum() -> None:
    found = asked(container("1", {"memory": "1Gi"}), resources={"requests": {"cpu": "500m"}})
    assert found == {"cpu": 500, "memory": 1024**3, "pods": 1}


def test_the_pod_as_a_whole_may_state_cpu_memory_and_huge_pages_only() -> None:
    whole = {"requests": {"cpu": "2", "memory": "1Gi", "hugepages-2Mi": "4Mi", "nvidia.com/gpu": "8"}}
    found = asked(container("1", {"nvidia.com/gpu": "1"}), resources=whole)
    expected = {"cpu": 2000, "memory": 1024**3, "hugepages-2Mi": 4 * 1024**2, "nvidia.com/gpu": 1, "pods": 1}
    assert found == expected


def test_an_absurd_quantity_is_refused() -> None:
    with pytest.raises(InvalidQuantity):
        asked(container("1e1000000"))


def test_only_cpu_is_counted_in_thousandths() -> None:
    assert parse_amount("cpu", "1500m") == 1500
    assert parse_amount("memory", "1500m") == 2
    assert parse_amounts({"cpu": "1", "pods": "110", "x": "0"}) == {"cpu": 1000, "pods": 110}
