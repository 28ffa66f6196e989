"""What is said of the topology: on the PodGroup that a Job gets, refused where it means nothing, understood as Kueue has it."""

import contextlib
from collections.abc import Iterator

import pytest

from tests.conformance.kueue import DEFINITION
from verify.clusters.client import Api, ApiError, Object
from verify.clusters.eventually import eventually
from verify.clusters.groups import pod_group
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.lws import Sets, leader_worker_set
from verify.clusters.tutti_process import Tutti

BLOCK, RACK = "example.com/block", "example.com/rack"
TOPOLOGY, SLICE_SIZE, SLICE_TOPOLOGY = (
    f"tutti.scheduler/{name}" for name in ("topology", "slice-size", "slice-topology")
)
SLICES = {SLICE_SIZE: "2", SLICE_TOPOLOGY: RACK}
LEVELS = f"{BLOCK}, preferred:{RACK}"
KUEUE = "kueue.x-k8s.io/podset-"
TOPOLOGIES = "topologies.kueue.x-k8s.io"
SETTLE_SECONDS = 60


def said_of(group: Object) -> dict[str, str]:
    """The annotations of a group that speak of the topology."""
    annotations = group["metadata"].get("annotations", {})
    return {key: annotations[key] for key in (TOPOLOGY, SLICE_SIZE, SLICE_TOPOLOGY) if key in annotations}


def required_of(group: Object) -> list[Object]:
    """The constraints in the field of a group."""
    constraints: list[Object] = group["spec"].get("schedulingConstraints", {}).get("topology", [])
    return constraints


def test_the_group_of_a_job_has_the_required_level_in_its_field_and_the_rest_in_annotations(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti
) -> None:
    nodes.add(4, cpu="1", labels={BLOCK: "b1", RACK: "r1"})
    jobs.create(indexed_job("close", 4, annotations={TOPOLOGY: LEVELS, **SLICES}))
    eventually(lambda: jobs.whole("close"), within_seconds=SETTLE_SECONDS)
    assert required_of(jobs.group("close")) == [{"key": BLOCK}]
    assert said_of(jobs.group("close")) == {TOPOLOGY: LEVELS, **SLICES}


def test_each_replica_of_a_set_has_what_the_set_says(sets: Sets, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(4, cpu="1", labels={BLOCK: "b1", RACK: "r1"})
    sets.create(leader_worker_set("serve", size=2, replicas=2, annotations={TOPOLOGY: LEVELS, **SLICES}))
    eventually(lambda: sets.whole("serve") and sets.sound("serve"), within_seconds=SETTLE_SECONDS)
    groups = sets.groups("serve")
    assert [required_of(group) for group in groups] == [[{"key": BLOCK}]] * 2
    assert [said_of(group) for group in groups] == [{TOPOLOGY: LEVELS, **SLICES}] * 2


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        ({TOPOLOGY: f"preferred:{BLOCK}, {RACK}"}, f"is inside one {BLOCK} too"),
        ({TOPOLOGY: f"{BLOCK}, {BLOCK}"}, "twice"),
        ({**SLICES, SLICE_SIZE: "3"}, "4 pods are no whole number of slices of 3"),
        ({SLICE_SIZE: "2"}, f"it needs {SLICE_TOPOLOGY} beside it"),
        ({"tutti.scheduler/spare-nodes": "9"}, "'9' is not a whole number from 0 to 8"),
    ],
)
def test_a_mistake_is_refused_on_the_job_and_on_a_group_made_by_hand(
    jobs: Jobs, tutti: Tutti, annotations: dict[str, str], why: str
) -> None:
    with pytest.raises(ApiError) as refused:
        jobs.create(indexed_job("wrong", 4, annotations=annotations))
    assert why in refused.value.message
    with pytest.raises(ApiError) as refused:
        jobs.api.create("podgroups", by_hand(jobs.api, annotations), jobs.namespace)
    assert why.replace("4 pods are", "minCount 4 is") in refused.value.message


def test_a_group_made_by_hand_keeps_to_its_field(jobs: Jobs, tutti: Tutti) -> None:
    inside = {"schedulingConstraints": {"topology": [{"key": BLOCK}]}}
    with pytest.raises(ApiError, match="has to be the same"):
        jobs.api.create("podgroups", by_hand(jobs.api, {TOPOLOGY: RACK}, **inside), jobs.namespace)
    jobs.api.create("podgroups", by_hand(jobs.api, {TOPOLOGY: LEVELS}, **inside), jobs.namespace)


def by_hand(api: Api, annotations: dict[str, str], **spec: object) -> Object:
    return pod_group(api, "by-hand", 4, annotations=annotations, **spec)


@pytest.fixture
def kueue_topology(jobs: Jobs) -> Iterator[None]:
    """A Topology of Kueue's with three levels, and its definition."""
    names = {"plural": "topologies", "singular": "topology", "kind": "Topology", "listKind": "TopologyList"}
    spec = {**DEFINITION["spec"], "scope": "Cluster", "names": names}
    jobs.api.create("customresourcedefinitions", {**DEFINITION, "metadata": {"name": TOPOLOGIES}, "spec": spec})
    path = "/apis/kueue.x-k8s.io/v1beta2/topologies"

    def is_served() -> bool:
        with contextlib.suppress(ApiError):
            return bool(jobs.api.request("GET", path))
        return False

    try:
        eventually(is_served, within_seconds=SETTLE_SECONDS)
        levels = [{"nodeLabel": key} for key in (BLOCK, RACK, "kubernetes.io/hostname")]
        jobs.api.request(
            "POST",
            path,
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "Topology",
                "metadata": {"name": "default"},
                "spec": {"levels": levels},
            },
        )
        yield
    finally:
        jobs.api.delete("customresourcedefinitions", TOPOLOGIES)


@pytest.mark.usefixtures("kueue_topology")
def test_a_manifest_for_kueue_means_what_it_meant_there(jobs: Jobs, nodes: HollowNodes, tutti: Tutti) -> None:
    nodes.add(4, cpu="1", labels={BLOCK: "b1", RACK: "r1"})
    job = indexed_job("moved", 4)
    job["spec"]["template"]["metadata"]["annotations"] |= {
        f"{KUEUE}required-topology": BLOCK,
        f"{KUEUE}slice-required-topology": RACK,
        f"{KUEUE}slice-size": "2",
    }
    jobs.create(job)
    eventually(lambda: jobs.whole("moved"), within_seconds=SETTLE_SECONDS)
    assert required_of(jobs.group("moved")) == [{"key": BLOCK}]
    levels = f"{BLOCK}, preferred:{RACK}, preferred:kubernetes.io/hostname"
    assert said_of(jobs.group("moved")) == {TOPOLOGY: levels, **SLICES}
