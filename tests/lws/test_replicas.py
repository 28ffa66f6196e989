"""What a LeaderWorkerSet means as gangs, the names and the objects of its replicas."""

import json
from typing import Any

import msgspec
import pytest

from api.compile_replica import Replica, pod_group_for_replica, workload_for_set
from api.constants import LWS_EXCLUSIVE_TOPOLOGY, MIN_RESOURCES, POD_GROUP, POLICY, TOPOLOGY
from api.errors import InvalidGangSettings, InvalidQuantity
from api.features import KNOWN_FEATURES, required_features
from api.gang import GroupIntent, Plain
from api.meta import Metadata
from api.names import new_token, replica_group_name
from api.podgroup import Workload
from api.replica import group_index, is_managed_set, replica_intent
from api.revision import pod_spec_of, read_roles, roles_of, write_roles
from tests.lws import builders
from tests.lws.builders import lws, pod_template, revision, typed, typed_revision

VERSION = "tutti.scheduler/v1beta1"
LABELS = {"leaderworkerset.sigs.k8s.io/name": "serve"}


def intent(**more: Any) -> GroupIntent:
    found = replica_intent(typed(lws(**more)))
    assert isinstance(found, GroupIntent)
    return found


def plain(**more: Any) -> str:
    found = replica_intent(typed(lws(**more)))
    assert isinstance(found, Plain)
    return found.reason


def test_a_replica_of_several_pods_is_a_gang_of_its_size() -> None:
    found = intent(size=4)
    assert (found.policy, found.min_count, found.disruption_mode) == ("gang", 4, "all")


def test_a_replica_of_one_pod_is_plain_unless_asked_for() -> None:
    assert plain(size=1, managed=None) == plain(size=None, managed=None) == "its replicas are single pods"
    assert intent(size=1).min_count == 1
    assert intent(size=1, annotations={POLICY: "gang"}).min_count == 1


def test_basic_and_none_are_as_on_jobs() -> None:
    found = intent(annotations={POLICY: "basic"})
    assert (found.policy, found.min_count, found.disruption_mode) == ("basic", 1, "single")
    assert "is none" in plain(annotations={POLICY: "none"})


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"leader": {"priorityClassName": "high"}}, "differ in priorityClassName (high and none)"),
        ({"leader": {"schedulerName": "a"}, "worker": {"schedulerName": "b"}}, "different schedulers (a and b)"),
        ({"worker": {"schedulingGroup": {"podGroupName": "g"}}}, "names a group of its own (spec.schedulingGroup)"),
    ],
)
def test_combinations_that_cannot_be_one_gang_say_why(more: dict[str, Any], reason: str) -> None:
    assert reason in plain(**more)


def test_a_template_that_names_a_group_names_it_for_all_replicas_alike() -> None:
    document = lws()
    document["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["annotations"] = {POD_GROUP: "mine"}
    found = replica_intent(typed(document))
    assert isinstance(found, Plain)
    assert "each replica needs another one" in found.reason


def test_exclusive_topology_keeps_a_replica_inside_one_value() -> None:
    assert intent(annotations={LWS_EXCLUSIVE_TOPOLOGY: "pool"}).topology_key == "pool"
    assert intent(annotations={LWS_EXCLUSIVE_TOPOLOGY: "pool", TOPOLOGY: "pool"}).topology_key == "pool"
    with pytest.raises(InvalidGangSettings, match="cannot be kept inside one rack as well"):
        intent(annotations={LWS_EXCLUSIVE_TOPOLOGY: "pool", TOPOLOGY: "rack"})


def test_unusable_annotations_are_refused() -> None:
    with pytest.raises(InvalidGangSettings, match="gangs"):
        intent(annotations={POLICY: "gangs"})


def test_a_set_is_managed_when_all_its_templates_are() -> None:
    assert is_managed_set(typed(lws()))
    assert not is_managed_set(typed(lws(managed=None)))


def test_group_names_differ_by_index_revision_and_incarnation() -> None:
    names = {
        replica_group_name("serve", index, rev, token) for index in (0, 1) for rev in ("a", "b") for token in ("x", "y")
    }
    assert len(names) == 8
    assert all(name.startswith(("serve-0-", "serve-1-")) for name in names)
    assert len(replica_group_name("n" * 300, 1_000_000, "r", "t")) == 253


def test_tokens_are_ten_letters_and_differ() -> None:
    assert len({new_token(number) for number in range(1000)}) == 1000
    assert len(new_token(2**64 - 1)) == 10


@pytest.mark.parametrize(
    ("change", "index"),
    [
        ({}, 7),
        ({"name": "serve-07"}, None),
        ({"name": "other-7"}, None),
        ({"labels": {}}, None),
        ({"ownerReferences": [builders.owner("ReplicaSet", "serve", "u")]}, None),
        ({"ownerReferences": []}, None),
    ],
)
def test_the_index_of_a_leader_is_in_its_name(change: dict[str, Any], index: int | None) -> None:
    metadata = msgspec.convert({**builders.leader(7)["metadata"], **change}, Metadata)
    assert group_index(metadata) == index


def test_the_workload_of_a_set() -> None:
    found = workload_for_set(typed(lws(size=4)), intent(size=4), api_version=VERSION)
    assert found["spec"] == {
        "controllerRef": {"apiGroup": "leaderworkerset.x-k8s.io", "kind": "LeaderWorkerSet", "name": "serve"},
        "podGroupTemplates": [
            {
                "name": "replica",
                "schedulingPolicy": {"gang": {"minCount": 4}},
                "disruptionMode": {"all": {}},
            }
        ],
    }
    (reference,) = found["metadata"]["ownerReferences"]
    assert (reference["kind"], reference["uid"], reference["controller"]) == ("LeaderWorkerSet", "set-uid", True)


def test_leader_created_size_3_gives_a_group_of_three_owned_by_the_leader_pod() -> None:
    found = group(min_count=3)
    assert found["spec"]["schedulingPolicy"] == {"gang": {"minCount": 3}}
    assert found["spec"]["workloadRef"] == {"workloadName": "serve-x", "templateName": "replica"}
    assert found["metadata"]["ownerReferences"] == [builders.owner("Pod", "serve-0", "leader-0-uid")]
    assert found["metadata"]["labels"] == {
        "leaderworkerset.sigs.k8s.io/name": "serve",
        "leaderworkerset.sigs.k8s.io/group-index": "0",
        "leaderworkerset.sigs.k8s.io/template-revision-hash": "rev1",
    }
    assert MIN_RESOURCES not in found["metadata"]["annotations"]


def test_leader_ready_size_3_gives_a_minimum_of_one_and_says_what_the_workers_ask_for() -> None:
    roles = roles_of(typed_revision(revision()).templates, size=3, labels=LABELS)
    found = group(min_count=1, min_resources=write_roles(roles))
    assert found["spec"]["schedulingPolicy"] == {"gang": {"minCount": 1}}
    assert json.loads(found["metadata"]["annotations"][MIN_RESOURCES]) == [
        {"role": "leader", "count": 1, "requests": {"cpu": "100m"}},
        {"role": "worker", "count": 2, "requests": {"cpu": "100m"}, "labels": {"app": "x", **LABELS}},
    ]


def group(**more: Any) -> dict[str, Any]:
    manifest = workload_for_set(typed(lws()), intent(), api_version=VERSION)
    manifest["metadata"]["name"] = "serve-x"
    replica = Replica(leader=msgspec.convert(builders.leader()["metadata"], Metadata), group_name="group-0", **more)
    return pod_group_for_replica(replica, msgspec.convert(manifest, Workload), api_version=VERSION)


def test_what_pods_ask_for_is_read_like_that_of_real_pods() -> None:
    worker = pod_template(
        cpu=2,
        initContainers=[{"name": "i", "resources": {"requests": {"cpu": 5}}}],
        nodeSelector={"pool": "gpu"},
        tolerations=[{"operator": "Exists"}],
    )
    worker["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81}]
    templates = typed_revision(revision(leader=pod_template(cpu="1"), worker=worker)).templates
    leader, workers = read_roles(write_roles(roles_of(templates, size=3, labels={})))
    assert leader.requests == {"cpu": "1"}
    assert workers.requests == {"cpu": "5"}
    assert workers.placement == {
        "nodeSelector": {"pool": "gpu"},
        "tolerations": [{"operator": "Exists"}],
        "hostPorts": [{"containerPort": 80, "hostPort": 80}],
    }
    spec = pod_spec_of(workers)
    assert json.loads(bytes(spec.node_selector)) == {"pool": "gpu"}
    assert b"80" in bytes(spec.containers[0].ports)


def test_workers_to_come_need_the_features_that_real_ones_will() -> None:
    worker = pod_template(
        hostNetwork=True,
        hostUsers=False,
        initContainers=[{"name": "i", "volumeMounts": [{"name": "v", "bindMountOptions": ["nodev"]}]}],
    )
    worker["spec"]["containers"][0]["restartPolicyRules"] = [{"action": "RestartAllContainers"}]
    templates = typed_revision(revision(worker=worker)).templates
    _, workers = read_roles(write_roles(roles_of(templates, size=3, labels={})))
    assert workers.placement == {"features": sorted(KNOWN_FEATURES)}
    assert required_features(pod_spec_of(workers)) == KNOWN_FEATURES


def test_quantities_nobody_can_mean_are_refused() -> None:
    templates = typed_revision(revision(worker=pod_template(cpu="1e1000000"))).templates
    with pytest.raises(InvalidQuantity):
        roles_of(templates, size=3, labels={})


def test_roles_nobody_can_read_are_none() -> None:
    for text in ("", "{}", "[1]", '[{"role":"w"}]', "[" * 100_000):
        assert read_roles(text) == ()
