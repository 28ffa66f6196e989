"""Pods that need a feature of a node's kubelet: which do, what changes for them with a node, and who shares what."""

from typing import Any

import pytest

from api.features import BIND_MOUNT_OPTIONS, RESTART_ALL_CONTAINERS, required_features
from scheduler.cache.pod_signature import PodSignature
from scheduler.plugins import node_declared_features
from tests.placement.declared_features import OWN_USERS, RESTARTING
from tests.scheduler.core import build
from tests.scheduler.core.build import group_key, pod_key
from tests.scheduler.core.world import World

FEATURES = (RESTART_ALL_CONTAINERS,)
REASON = node_declared_features.REASON.text


def _mounting(token: str, *options: str) -> dict[str, Any]:
    mounts = [{"name": f"kube-api-access-{token}", "mountPath": "/token"}, {"name": "v", "mountPath": "/v"}]
    mounts[1] |= {"bindMountOptions": list(options)} if options else {}  # type: ignore[dict-item]
    return {"containers": [{"name": "main", "image": "i", "volumeMounts": mounts}]}


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": [{"restartPolicyRules": [{"action": "Restart"}]}]},
        {"containers": [{"restartPolicyRules": None, "volumeMounts": None}]},
        {"containers": [{"volumeMounts": [{"name": "v", "mountPath": "/bindMountOptions", "bindMountOptions": []}]}]},
        {"ephemeralContainers": [{"name": "debug"}]},
        {"hostNetwork": True, "hostUsers": None},
    ],
)
def test_what_looks_like_a_need_and_is_none(spec: dict[str, Any]) -> None:
    assert required_features(build.pod("p", spec=spec).spec) == frozenset()


def test_options_of_a_mount_count_in_ephemeral_containers_too() -> None:
    spec = {"ephemeralContainers": _mounting("a", "noexec")["containers"]}
    assert required_features(build.pod("p", spec=spec).spec) == {BIND_MOUNT_OPTIONS}


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": [{"restartPolicyRules": [{"action": 7}]}]},
        {"containers": [{"volumeMounts": [{"bindMountOptions": 7}]}]},
        {"ephemeralContainers": 7},
    ],
)
def test_what_cannot_be_read_counts_as_a_need(spec: dict[str, Any]) -> None:
    assert len(required_features(build.pod("p", spec=spec).spec)) == 1


def test_a_node_that_gets_the_feature_wakes_who_waits_for_it_and_one_that_loses_it_takes_nobody_more() -> None:
    world = World()
    world.node("a")
    world.pod("p", spec=RESTARTING)
    world.run()
    assert world.held(pod_key("p"))[1] == f"0/1 nodes are available: 1 {REASON}."
    world.node("a", features=FEATURES)
    world.run()
    assert world.bound() == {"p": "a"}
    world.node("a")
    world.pod("q", spec=RESTARTING)
    world.run()
    assert world.bound() == {"p": "a"}


def test_a_feature_that_no_pod_can_need_wakes_nobody() -> None:
    world = World()
    world.node("a")
    assert not world.state.upsert_node(build.node("a", features=("InPlacePodVerticalScalingInitContainers",)))


def test_a_gang_starts_whole_where_its_features_are_or_waits() -> None:
    world = World()
    world.node("a", cpu=2, features=FEATURES)
    world.node("b", cpu=8)
    world.group("g", 3)
    world.pods("g", 3, requests={}, spec={**RESTARTING, "resources": {"requests": {"cpu": "1"}}})
    world.run()
    assert world.bound() == {}
    assert world.held(group_key("g"))[1].endswith(
        f"0/2 nodes are available for the rest: 1 Insufficient cpu, 1 {REASON}."
    )
    world.node("b", cpu=8, features=FEATURES)
    world.run()
    assert len(world.bound("g")) == 3


def test_pods_that_differ_in_what_they_mount_share_a_shape_and_those_that_need_a_feature_have_another() -> None:
    world = World()

    def shape(name: str, spec: dict[str, Any]) -> PodSignature:
        record = world.state.pod(world.pod(name, requests={}, spec=spec).metadata.uid)
        assert record is not None
        assert record.signature is not None
        return record.signature

    assert shape("a", _mounting("1")) is shape("b", _mounting("2"))
    assert shape("c", _mounting("3", "noexec")) is shape("d", _mounting("4", "nodev"))
    assert shape("a", _mounting("1")) is not shape("c", _mounting("3", "noexec"))
    assert shape("e", {"hostNetwork": True}) is not shape("f", OWN_USERS)
