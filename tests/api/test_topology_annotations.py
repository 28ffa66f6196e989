"""What annotations say of the topology: several levels and slices, every mistake with a text that says what would do."""

from typing import Any

import pytest

from api.constants import SLICE_SIZE, SLICE_TOPOLOGY, TOPOLOGY
from api.errors import InvalidGangSettings
from api.meta import Metadata
from api.podgroup import GangPolicy, PodGroup, PodGroupSpec, SchedulingConstraints, SchedulingPolicy, TopologyConstraint
from api.topology import ANYWHERE, TopologyLevel, TopologyRequest
from api.topology_annotations import check_group_topology, topology_annotations, topology_request

BLOCK, RACK = TopologyLevel("topology.k8s.io/block"), TopologyLevel("topology.k8s.io/rack")
FEW_RACKS = TopologyLevel(RACK.key, is_required=False)
SLICES = {SLICE_SIZE: "4", SLICE_TOPOLOGY: RACK.key}


def said(**annotations: str) -> Metadata:
    keys = {"topology": TOPOLOGY, "size": SLICE_SIZE, "key": SLICE_TOPOLOGY}
    return Metadata(annotations={keys[name]: value for name, value in annotations.items()})


@pytest.mark.parametrize(
    ("annotations", "meant"),
    [
        ({}, ANYWHERE),
        ({TOPOLOGY: RACK.key}, TopologyRequest((RACK,))),
        ({TOPOLOGY: f"{BLOCK.key},preferred:{RACK.key}"}, TopologyRequest((BLOCK, FEW_RACKS))),
        ({TOPOLOGY: f" {BLOCK.key} , preferred: {RACK.key} "}, TopologyRequest((BLOCK, FEW_RACKS))),
        ({TOPOLOGY: f"preferred:{RACK.key}"}, TopologyRequest((FEW_RACKS,))),
        ({TOPOLOGY: f"{BLOCK.key}, {RACK.key}"}, TopologyRequest((BLOCK, RACK))),
        (SLICES, TopologyRequest((), 4, RACK.key)),
        ({TOPOLOGY: BLOCK.key, **SLICES}, TopologyRequest((BLOCK,), 4, RACK.key)),
        ({TOPOLOGY: ", ".join(f"preferred:k{n}" for n in range(8))}, None),
    ],
)
def test_levels_stand_widest_first_each_required_or_preferred(
    annotations: dict[str, str], meant: TopologyRequest | None
) -> None:
    found = topology_request(Metadata(annotations=annotations))
    assert found == meant if meant is not None else len(found.levels) == 8


@pytest.mark.parametrize(
    ("annotations", "text"),
    [
        ({TOPOLOGY: "no key"}, f"[{TOPOLOGY}]: 'no key' is not a label key such as topology.kubernetes.io/rack"),
        ({TOPOLOGY: ""}, f"[{TOPOLOGY}]: '' is not a label key such as topology.kubernetes.io/rack"),
        ({TOPOLOGY: "rack,,zone"}, f"[{TOPOLOGY}]: '' is not a label key"),
        ({TOPOLOGY: "preferred:"}, f"[{TOPOLOGY}]: '' is not a label key"),
        ({TOPOLOGY: "required:rack"}, f"[{TOPOLOGY}]: 'required:rack' is not a label key"),
        ({TOPOLOGY: "UPPER/rack"}, "'UPPER/rack' is not a label key: the part before the slash is no DNS name"),
        ({TOPOLOGY: "rack, preferred:rack"}, "it names rack twice; each level stands there once, widest first"),
        ({TOPOLOGY: ",".join(f"k{n}" for n in range(9))}, "it names 9 levels; up to 8 work"),
        (
            {TOPOLOGY: "preferred:block, rack"},
            "is inside one block too, which is only preferred: write block, or preferred:rack; levels stand there widest first",
        ),
        ({SLICE_SIZE: "4"}, f"[{SLICE_SIZE}]: it needs {SLICE_TOPOLOGY} beside it"),
        ({SLICE_TOPOLOGY: "rack"}, f"[{SLICE_TOPOLOGY}]: it needs {SLICE_SIZE} beside it"),
        ({**SLICES, SLICE_TOPOLOGY: "no key"}, f"[{SLICE_TOPOLOGY}]: 'no key' is not a label key"),
        ({**SLICES, SLICE_SIZE: "0"}, f"[{SLICE_SIZE}]: '0' is not a whole number from 1"),
        ({**SLICES, SLICE_SIZE: "-4"}, f"[{SLICE_SIZE}]: '-4' is not a whole number from 1"),
        ({**SLICES, SLICE_SIZE: "2.0"}, f"[{SLICE_SIZE}]: '2.0' is not a whole number from 1"),
        ({**SLICES, SLICE_SIZE: "２"}, f"[{SLICE_SIZE}]: '２' is not a whole number from 1"),
        ({**SLICES, SLICE_SIZE: "9" * 5000}, "9…' is not a whole number from 1"),
    ],
)
def test_a_mistake_is_refused_with_what_would_do(annotations: dict[str, str], text: str) -> None:
    with pytest.raises(InvalidGangSettings, match=r"metadata\.annotations\[tutti\.scheduler/") as refused:
        topology_request(Metadata(annotations=annotations))
    assert text in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("request_", "written"),
    [
        (ANYWHERE, {}),
        (TopologyRequest((RACK,)), {}),
        (TopologyRequest((FEW_RACKS,)), {TOPOLOGY: f"preferred:{RACK.key}"}),
        (TopologyRequest((BLOCK, FEW_RACKS), 4, RACK.key), {TOPOLOGY: f"{BLOCK.key}, preferred:{RACK.key}", **SLICES}),
        (TopologyRequest((BLOCK,), 4, RACK.key), SLICES),
    ],
)
def test_a_group_gets_the_annotations_that_its_field_has_no_room_for(
    request_: TopologyRequest, written: dict[str, str]
) -> None:
    assert topology_annotations(request_) == written
    key = request_.required_key
    group = pod_group(Metadata(annotations=written), key)
    assert group.topology == request_
    assert group.topology_key == key


def pod_group(metadata: Metadata, spec_key: str | None = None, *, is_gang: bool = True) -> PodGroup:
    policy = SchedulingPolicy(gang=GangPolicy(8)) if is_gang else SchedulingPolicy(basic={})
    constraints = SchedulingConstraints((TopologyConstraint(spec_key),)) if spec_key else None
    return PodGroup(metadata, PodGroupSpec(scheduling_policy=policy, scheduling_constraints=constraints))


@pytest.mark.parametrize(
    ("annotations", "spec_key", "meant"),
    [
        ({TOPOLOGY: "block, preferred:rack"}, None, "block, preferred:rack"),
        ({TOPOLOGY: "block, preferred:rack"}, "block", "block, preferred:rack"),
        ({TOPOLOGY: "preferred:rack"}, "block", "block"),
        ({TOPOLOGY: "zone"}, "block", "block"),
        ({TOPOLOGY: "no key"}, "block", "block"),
        ({SLICE_SIZE: "4"}, "block", "block"),
        ({TOPOLOGY: "no key"}, None, ""),
    ],
)
def test_annotations_of_a_group_count_where_they_are_usable_and_keep_to_its_field(
    annotations: dict[str, str], spec_key: str | None, meant: str
) -> None:
    wanted = topology_request(said(topology=meant)) if meant else ANYWHERE
    assert pod_group(Metadata(annotations=annotations), spec_key).topology == wanted


def test_slices_stay_where_only_the_level_is_of_the_field() -> None:
    assert pod_group(Metadata(annotations=SLICES), "block").topology == TopologyRequest(
        (TopologyLevel("block"),), 4, RACK.key
    )
    assert pod_group(Metadata(annotations=SLICES), "block", is_gang=False).topology == TopologyRequest(
        (TopologyLevel("block"),)
    )


@pytest.mark.parametrize(
    ("annotations", "more", "text"),
    [
        ({TOPOLOGY: "zone"}, {"spec_key": "block"}, "keeps the group inside one block, so the narrowest level"),
        ({TOPOLOGY: "preferred:rack"}, {"spec_key": "block"}, "has to be the same; leave one of the two out otherwise"),
        (SLICES, {"minimum": None}, f"[{SLICE_SIZE}]: slices need a gang, and the policy is basic"),
        (SLICES, {"minimum": 6}, f"[{SLICE_SIZE}]: minCount 6 is no whole number of slices of 4"),
        ({TOPOLOGY: "no key"}, {}, "'no key' is not a label key"),
    ],
)
def test_a_group_that_contradicts_itself_is_refused(
    annotations: dict[str, str], more: dict[str, Any], text: str
) -> None:
    with pytest.raises(InvalidGangSettings) as refused:
        check_group_topology(Metadata(annotations=annotations), **{"spec_key": None, "minimum": 8, **more})
    assert text in str(refused.value)


def test_a_group_whose_annotations_keep_to_its_field_is_taken() -> None:
    annotations = {TOPOLOGY: "zone, block, preferred:rack", **SLICES}
    check_group_topology(Metadata(annotations=annotations), spec_key="block", minimum=8)
    check_group_topology(Metadata(), spec_key="block", minimum=None)
