"""How close members are to be, as Jobs and LeaderWorkerSets say it: slices of ranks, Kueue's annotations, an exclusive topology."""

from typing import Any

import msgspec
import pytest

from api.compile import pod_group_for_job, workload_for_job
from api.constants import KUEUE_QUEUE, LWS_EXCLUSIVE_TOPOLOGY, SLICE_SIZE, SLICE_TOPOLOGY, TOPOLOGY
from api.errors import InvalidGangSettings
from api.gang import GroupIntent, job_intent
from api.job import Job
from api.lws import LeaderWorkerSet
from api.owner_topology import said_of_topology
from api.podgroup import PodGroup, Workload
from api.replica import replica_intent
from api.topology import ANYWHERE, TopologyLevel, TopologyRequest

SLICES = {SLICE_SIZE: "4", SLICE_TOPOLOGY: "rack"}
KUEUE = "kueue.x-k8s.io/podset-"


def job(annotations: dict[str, str] | None = None, *, kueue: dict[str, str] | None = None, **spec: Any) -> Job:
    template = {"metadata": {"annotations": {KUEUE + key: value for key, value in (kueue or {}).items()}}}
    return msgspec.convert(
        {
            "metadata": {"name": "train", "namespace": "team", "uid": "u", "annotations": annotations or {}},
            "spec": {"parallelism": 8, "completions": 8, "completionMode": "Indexed", "template": template, **spec},
        },
        Job,
    )


def replicas(
    annotations: dict[str, str] | None = None, *, leader: dict[str, str] | None = None, **spec: Any
) -> LeaderWorkerSet:
    worker = spec.pop("worker", {})
    template = {"size": 8, "workerTemplate": {"metadata": {"annotations": worker}}}
    if leader is not None:
        template["leaderTemplate"] = {"metadata": {"annotations": leader}}
    return msgspec.convert(
        {
            "metadata": {"name": "serve", "namespace": "team", "uid": "u", "annotations": annotations or {}},
            "spec": {"leaderWorkerTemplate": template, **spec},
        },
        LeaderWorkerSet,
    )


def topology_of(owner: Job | LeaderWorkerSet) -> TopologyRequest:
    intent = job_intent(owner) if isinstance(owner, Job) else replica_intent(owner)
    assert isinstance(intent, GroupIntent)
    return intent.topology


def levels(*names: str) -> tuple[TopologyLevel, ...]:
    return tuple(TopologyLevel(name.removeprefix("~"), is_required=not name.startswith("~")) for name in names)


@pytest.mark.parametrize("make", [job, replicas])
def test_an_owner_asks_for_levels_and_slices(make: Any) -> None:
    assert topology_of(make()) == ANYWHERE
    assert topology_of(make({TOPOLOGY: "block, preferred:rack", **SLICES})) == TopologyRequest(
        levels("block", "~rack"), 4, "rack"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"annotations": {**SLICES, SLICE_SIZE: "9"}}, "'9' is not a whole number from 1 to 8"),
        (
            {"annotations": {**SLICES, SLICE_SIZE: "3"}},
            "8 pods are no whole number of slices of 3; use a size that divides 8",
        ),
        (
            {"annotations": {**SLICES, "tutti.scheduler/min-count": "6"}},
            "[tutti.scheduler/min-count]: a minimum of 6 is no whole number of slices of 4; use a multiple of 4",
        ),
        ({"annotations": {**SLICES, "tutti.scheduler/policy": "basic"}}, "slices need a gang, and the policy is basic"),
        (
            {"annotations": {**SLICES, "tutti.scheduler/policy": "gang"}, "completionMode": "NonIndexed"},
            "the pods of this Job have none; set spec.completionMode to Indexed",
        ),
        (
            {"kueue": {"slice-required-topology": "rack", "slice-size": "3"}},
            "spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: 8 pods are no whole number of slices of 3",
        ),
        (
            {"kueue": {"slice-size": "3"}},
            "[kueue.x-k8s.io/podset-slice-size]: it needs kueue.x-k8s.io/podset-slice-required-topology beside it",
        ),
        (
            {"kueue": {"slice-required-topology": "rack"}},
            "[kueue.x-k8s.io/podset-slice-required-topology]: it needs kueue.x-k8s.io/podset-slice-size beside it",
        ),
        (
            {"kueue": {"required-topology": "no key"}},
            "spec.template.metadata.annotations[kueue.x-k8s.io/podset-required-topology]: 'no key' is not a label key",
        ),
        (
            {"kueue": {"required-topology": "rack", "preferred-topology": "rack"}},
            "kueue.x-k8s.io/podset-required-topology and kueue.x-k8s.io/podset-preferred-topology exclude each other",
        ),
        (
            {"kueue": {"required-topology": "rack", "unconstrained-topology": "true"}},
            "kueue.x-k8s.io/podset-required-topology and kueue.x-k8s.io/podset-unconstrained-topology exclude each other",
        ),
        (
            {"kueue": {"slice-required-topology-constraints": "[]"}},
            "slices of several levels are not understood here",
        ),
    ],
)
def test_a_job_that_cannot_have_it_is_told_what_would_do(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidGangSettings) as refused:
        job_intent(job(**changes))
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"annotations": {**SLICES, SLICE_SIZE: "3"}}, "8 pods are no whole number of slices of 3"),
        ({"annotations": SLICES, "startupPolicy": "LeaderReady"}, "made once their leader has its node (LeaderReady)"),
        ({"annotations": {**SLICES, LWS_EXCLUSIVE_TOPOLOGY: "block"}}, f"(annotation {LWS_EXCLUSIVE_TOPOLOGY})"),
        (
            {"annotations": {TOPOLOGY: "rack", LWS_EXCLUSIVE_TOPOLOGY: "block"}},
            "inside one rack as well; use one of the two",
        ),
        ({"annotations": {**SLICES, "tutti.scheduler/policy": "basic"}}, "slices need a gang, and the policy is basic"),
    ],
)
def test_a_set_that_cannot_have_it_is_told_what_would_do(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidGangSettings) as refused:
        replica_intent(replicas(**changes))
    assert text in str(refused.value)


def test_an_exclusive_topology_is_the_required_level_beside_preferred_ones() -> None:
    exclusive = {LWS_EXCLUSIVE_TOPOLOGY: "block"}
    assert topology_of(replicas(exclusive)) == TopologyRequest(levels("block"))
    assert topology_of(replicas({TOPOLOGY: "zone, block, preferred:rack", **exclusive})).levels == levels(
        "zone", "block", "~rack"
    )
    assert topology_of(replicas({TOPOLOGY: "preferred:block, preferred:rack", **exclusive})).levels == levels(
        "block", "~rack"
    )


def test_a_job_without_pods_has_no_slices_to_fill() -> None:
    idle = job({**SLICES, "tutti.scheduler/policy": "gang"}, parallelism=0)
    assert topology_of(idle).slice_size == 4


# --- Kueue -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kueue", "meant"),
    [
        ({"required-topology": "rack"}, TopologyRequest(levels("rack"))),
        ({"preferred-topology": "rack"}, TopologyRequest(levels("~rack"))),
        ({"unconstrained-topology": "true"}, ANYWHERE),
        ({"required-topology": "rack", "unconstrained-topology": "false"}, TopologyRequest(levels("rack"))),
        (
            {"required-topology": "block", "slice-required-topology": "rack", "slice-size": "4"},
            TopologyRequest(levels("block"), 4, "rack"),
        ),
        ({"slice-required-topology": "rack", "slice-size": "2"}, TopologyRequest((), 2, "rack")),
    ],
)
def test_what_kueue_understands_on_a_pod_template_is_understood(kueue: dict[str, str], meant: TopologyRequest) -> None:
    assert topology_of(job(kueue=kueue)) == meant
    assert topology_of(replicas(worker={KUEUE + key: value for key, value in kueue.items()})) == meant


def test_our_own_annotations_win_over_those_of_kueue() -> None:
    both = job({TOPOLOGY: "block"}, kueue={"required-topology": "rack", "slice-size": "wrong"})
    assert topology_of(both) == TopologyRequest(levels("block"))


def test_a_job_in_a_queue_is_left_to_kueue() -> None:
    queued = job(kueue={"required-topology": "rack"})
    labelled = msgspec.structs.replace(queued.metadata, labels={KUEUE_QUEUE: "team"})
    assert topology_of(msgspec.structs.replace(queued, metadata=labelled)) == ANYWHERE


def test_what_only_the_workers_of_a_set_say_is_not_said_of_the_replica() -> None:
    said = {KUEUE + "required-topology": "rack"}
    assert topology_of(replicas(worker=said, leader={})) == ANYWHERE
    assert topology_of(replicas(worker=said, leader=said)) == TopologyRequest(levels("rack"))


TOPOLOGIES = (("block", "rack", "host"), ("zone", "room"))


@pytest.mark.parametrize(
    ("kueue", "written"),
    [
        ({"preferred-topology": "rack"}, {TOPOLOGY: "preferred:block, preferred:rack, preferred:host"}),
        ({"preferred-topology": "block"}, {TOPOLOGY: "preferred:block, preferred:rack, preferred:host"}),
        ({"required-topology": "block"}, {TOPOLOGY: "block, preferred:rack, preferred:host"}),
        ({"required-topology": "rack"}, {TOPOLOGY: "rack, preferred:host"}),
        ({"required-topology": "host"}, {}),
        ({"preferred-topology": "row"}, {TOPOLOGY: "preferred:row"}),
        ({"unconstrained-topology": "true"}, {}),
    ],
)
def test_the_levels_of_the_cluster_stand_around_the_one_that_is_named(
    kueue: dict[str, str], written: dict[str, str]
) -> None:
    assert said_of_topology(job(kueue=kueue), TOPOLOGIES) == written


def test_a_level_that_several_topologies_name_stays_alone() -> None:
    asking = job(kueue={"preferred-topology": "rack"})
    assert said_of_topology(asking, (*TOPOLOGIES, ("rack", "host"))) == {TOPOLOGY: "preferred:rack"}


def test_our_own_levels_are_taken_as_they_are_whatever_kueue_has() -> None:
    assert said_of_topology(job({TOPOLOGY: "preferred:rack"}), TOPOLOGIES) == {TOPOLOGY: "preferred:rack"}
    assert said_of_topology(job({TOPOLOGY: "rack"}), TOPOLOGIES) == {}


def test_as_many_levels_as_there_may_be_are_taken_from_a_long_topology() -> None:
    asking = job(kueue={"preferred-topology": "k9"})
    found = said_of_topology(asking, (tuple(f"k{number}" for number in range(16)),))
    assert found[TOPOLOGY].split(", ")[-1] == "preferred:k9"
    assert len(found[TOPOLOGY].split(", ")) == 8


# --- objects -----------------------------------------------------------------------------------------------------------


def test_the_group_of_a_job_has_the_required_level_in_its_field_and_all_in_its_annotations() -> None:
    owner = job({TOPOLOGY: "zone, block, preferred:rack", **SLICES})
    group = made(owner)
    assert group.spec.topology_key == "block"
    assert group.topology == topology_of(owner) == TopologyRequest(levels("zone", "block", "~rack"), 4, "rack")


def test_one_required_level_needs_no_annotation() -> None:
    group = made(job({TOPOLOGY: "block"}))
    assert group.metadata.annotation(TOPOLOGY) is None
    assert group.topology == TopologyRequest(levels("block"))


def test_a_users_own_workload_is_taken_as_it_is() -> None:
    owner = job({TOPOLOGY: "block, preferred:rack"})
    theirs = workload(owner)
    theirs = msgspec.structs.replace(theirs, metadata=msgspec.structs.replace(theirs.metadata, owner_references=None))
    group = msgspec.convert(pod_group_for_job(owner, theirs, api_version="v"), PodGroup)
    assert group.topology == TopologyRequest(levels("block"))


def workload(owner: Job) -> Workload:
    intent = job_intent(owner)
    assert isinstance(intent, GroupIntent)
    return msgspec.convert(workload_for_job(owner, intent, api_version="v"), Workload)


def made(owner: Job) -> PodGroup:
    return msgspec.convert(pod_group_for_job(owner, workload(owner), api_version="v"), PodGroup)
