"""What admission makes of the pods of a group."""

import hashlib

import pytest

from localcluster.controllers.leaderworkersets.admission.pods import Unfit, admitted, subgroup_of
from tests.localcluster.leaderworkersets.values import PREFIX, Object, new_pod

RACK = "rack"


def key_of(scope: str, name: str) -> str:
    return hashlib.sha1(f"{scope}/{name}".encode(), usedforsecurity=False).hexdigest()


def own_labels(pod: Object) -> dict[str, str]:
    return {
        key.removeprefix(PREFIX): value
        for key, value in pod["metadata"]["labels"].items()
        if key.startswith(PREFIX) and key != f"{PREFIX}name"
    }


def variables(pod: Object, container: int = 0) -> dict[str, str]:
    return {each["name"]: each["value"] for each in pod["spec"]["containers"][container].get("env", [])}


def near(label: str, key: str) -> Object:
    expression = {"key": PREFIX + label, "operator": "In", "values": [key]}
    return {"labelSelector": {"matchExpressions": [expression]}, "topologyKey": RACK}


def far(label: str, key: str) -> Object:
    expressions = [
        {"key": PREFIX + label, "operator": "Exists"},
        {"key": PREFIX + label, "operator": "NotIn", "values": [key]},
    ]
    return {"labelSelector": {"matchExpressions": expressions}, "topologyKey": RACK}


def required(pod: Object, kind: str) -> list[Object]:
    terms: list[Object] = pod["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"]
    return terms


def test_a_leader_gets_its_index_from_its_name_and_a_key_of_its_own() -> None:
    pod = admitted(new_pod("g-3"), "ns")
    assert own_labels(pod) == {"worker-index": "0", "group-index": "3", "group-key": key_of("ns", "g-3")}


def test_a_worker_gets_its_index_from_its_name() -> None:
    pod = admitted(new_pod("g-3-2"), "ns")
    assert own_labels(pod) == {"worker-index": "2", "group-index": "3", "group-key": "key"}


def test_other_pods_stay_as_they_are() -> None:
    pod = new_pod("g-0")
    del pod["metadata"]["labels"][f"{PREFIX}name"]
    assert admitted(pod, "ns") is pod


def test_the_request_is_left_alone() -> None:
    pod = new_pod("g-0")
    admitted(pod, "ns")
    assert pod == new_pod("g-0")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"annotations": {}}, "size annotation is unexpectedly missing for pod g-0"),
        ({"annotations": {f"{PREFIX}size": "many"}}, "size annotation is unexpectedly missing for pod g-0"),
        ({"name": "leader"}, "parsing pod ordinal for pod leader"),
    ],
)
def test_a_pod_without_what_it_needs_is_refused(change: Object, message: str) -> None:
    pod = new_pod("g-0")
    pod["metadata"] |= change
    with pytest.raises(Unfit, match=message):
        admitted(pod, "ns")


def test_variables_come_first_in_every_container_and_win() -> None:
    pod = new_pod("g-3-2", size=5)
    mine = [{"name": "A", "value": "$(LWS_LEADER_ADDRESS)"}, {"name": "LWS_GROUP_SIZE", "value": "7"}]
    pod["spec"]["containers"][0]["env"] = mine
    pod["spec"]["initContainers"] = [{"name": "first", "image": "x"}]
    made = admitted(pod, "ns")
    expected = [
        {"name": "LWS_LEADER_ADDRESS", "value": "g-3.g.ns"},
        {"name": "LWS_GROUP_SIZE", "value": "5"},
        {"name": "LWS_WORKER_INDEX", "value": "2"},
    ]
    assert made["spec"]["containers"][0]["env"] == [*expected, mine[0]]
    assert made["spec"]["initContainers"][0]["env"] == expected


def test_a_leader_with_its_own_subdomain_is_its_own_subdomain() -> None:
    made = admitted(new_pod("g-3", {"subdomainPolicy": "UniquePerReplica"}), "ns")
    assert made["spec"]["subdomain"] == "g-3"
    assert variables(made)["LWS_LEADER_ADDRESS"] == "g-3.g-3.ns"


def test_leaders_of_groups_that_are_kept_apart_get_affinity() -> None:
    made = admitted(new_pod("g-1", {"exclusive-topology": RACK}), "ns")
    key = key_of("ns", "g-1")
    assert required(made, "podAffinity") == [near("group-key", key)]
    assert required(made, "podAntiAffinity") == [far("group-key", key)]


def test_workers_of_groups_that_are_kept_apart_get_none() -> None:
    made = admitted(new_pod("g-1-1", {"exclusive-topology": RACK}), "ns")
    assert "affinity" not in made["spec"]


def test_affinity_is_not_added_twice_and_what_the_user_wants_stays() -> None:
    pod = new_pod("g-1", {"exclusive-topology": RACK})
    zone = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "zone"}
    node: Object = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}
    pod["spec"]["affinity"] = {
        "nodeAffinity": node,
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [zone]},
    }
    once = admitted(pod, "ns")
    assert required(once, "podAffinity") == [zone, near("group-key", key_of("ns", "g-1"))]
    assert once["spec"]["affinity"]["nodeAffinity"] == node
    assert admitted(once, "ns") == once


@pytest.mark.parametrize(
    ("size", "step", "expected"),
    [
        (5, 2, ["0", "0", "1", "1"]),
        (4, 2, ["0", "1", "1"]),
        (6, 3, ["0", "0", "1", "1", "1"]),
        (3, 1, ["1", "2"]),
    ],
)
def test_workers_are_divided_into_subgroups(size: int, step: int, expected: list[str]) -> None:
    assert [str(subgroup_of(size, step, worker)) for worker in range(1, size)] == expected
    made = admitted(new_pod("g-0-1", {"subgroup-size": str(step)}, size=size), "ns")
    labels = own_labels(made)
    assert (labels["subgroup-index"], labels["subgroup-key"]) == (expected[0], key_of("g-0", expected[0]))


def test_a_leader_is_in_the_first_subgroup_unless_it_is_excluded() -> None:
    inside = own_labels(admitted(new_pod("g-0", {"subgroup-size": "2"}), "ns"))
    assert (inside["subgroup-index"], inside["subgroup-key"]) == ("0", key_of("g-0", "0"))
    excluded = {"subgroup-size": "2", "subgroup-policy-type": "LeaderExcluded"}
    outside = own_labels(admitted(new_pod("g-0", excluded), "ns"))
    assert "subgroup-index" not in outside


def test_subgroups_that_are_kept_apart_get_affinity_leader_and_workers() -> None:
    apart = {"subgroup-size": "2", "subgroup-exclusive-topology": RACK}
    for name, subgroup in (("g-0", "0"), ("g-0-3", "1")):
        made = admitted(new_pod(name, apart, size=5), "ns")
        key = key_of("g-0", subgroup)
        assert required(made, "podAffinity") == [near("subgroup-key", key)]
        assert required(made, "podAntiAffinity") == [far("subgroup-key", key)]
