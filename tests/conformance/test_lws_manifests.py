"""Every public LeaderWorkerSet manifest, applied unchanged: each replica waits whole, and then starts whole."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.provider_kinds import install_kind, kind_of, path_of, remove_kind
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import condition
from verify.clusters.lws import MANAGED, SETTLE_SECONDS, Sets
from verify.shared_data import SHARED_DATA

Object = dict[str, Any]

MANIFESTS = sorted((SHARED_DATA / "manifests").glob("lws-*.yaml"))
MISSING = "tutti.scheduler/GroupKindMissing"
POOL = "cloud.google.com/gke-nodepool"
ROOM = {"ephemeral-storage": "4Ti", "nvidia.com/gpu": "8", "google.com/tpu": "8"}


@pytest.fixture
def provided(control_plane: ControlPlane, namespace: str) -> Iterator[Any]:
    """What a manifest takes for granted: the claims that its pods name, and volumes for all claims."""
    api = control_plane.admin
    made: list[str] = []

    def provide(lws: Object) -> None:
        templates = lws["spec"]["leaderWorkerTemplate"]
        claims = {
            volume["persistentVolumeClaim"]["claimName"]
            for key in ("leaderTemplate", "workerTemplate")
            for volume in (templates.get(key) or {}).get("spec", {}).get("volumes", [])
            if "persistentVolumeClaim" in volume
        }
        wanted = len(claims) + 4 * len(templates.get("volumeClaimTemplates", []))
        for number in range(wanted):
            name = f"{namespace}-{number}"
            spec = {
                "capacity": {"storage": "100Gi"},
                "accessModes": ["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"],
                "storageClassName": "default",
                "hostPath": {"path": "/tmp/volume"},
            }
            api.create("persistentvolumes", {"metadata": {"name": name}, "spec": spec})
            made.append(name)
        for claim in claims:
            body = {
                "metadata": {"name": claim},
                "spec": {
                    "accessModes": ["ReadWriteMany"],
                    "storageClassName": "default",
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }
            api.create("persistentvolumeclaims", body, namespace)

    yield provide
    for name in made:
        api.delete("persistentvolumes", name)


def documents(path: Path) -> tuple[Object, list[Object]]:
    found = [each for each in yaml.safe_load_all(path.read_text()) if each]
    (lws,) = (each for each in found if each["kind"] == "LeaderWorkerSet")
    return lws, [each for each in found if each is not lws]


def labels_of(lws: Object) -> Mapping[str, str]:
    """The labels that all its templates ask of their nodes."""
    templates = lws["spec"]["leaderWorkerTemplate"]
    found: dict[str, str] = {}
    for key in ("leaderTemplate", "workerTemplate"):
        found |= (templates.get(key) or {}).get("spec", {}).get("nodeSelector") or {}
    return found


def is_refused_by_kubernetes(lws: Object) -> bool:
    """Whether its workers can exist nowhere: they request a device without a limit, which the API server refuses."""
    for container in lws["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]:
        resources = container.get("resources") or {}
        devices = {name for name in resources.get("requests") or {} if "/" in name}
        if devices - set(resources.get("limits") or {}):
            return True
    return False


def add_fitting_nodes(nodes: HollowNodes, lws: Object) -> None:
    """As many pools as there can be replicas, each with a node per pod."""
    spec = lws["spec"]
    size = spec["leaderWorkerTemplate"]["size"]
    for pool in range(2 * spec["replicas"] + 1):
        nodes.add(size, cpu="200", memory="2Ti", labels={POOL: f"pool-{pool}", **labels_of(lws)}, resources=ROOM)


def assert_each_replica_has_its_volcano_group(sets: Sets, control_plane: ControlPlane, name: str, size: int) -> None:
    """Every pod names the group of its replica, which belongs to its leader and asks for all its pods."""
    api, kind = sets.api, kind_of("volcano")
    (missing,) = eventually(lambda: sets.events(name, "GroupKindMissing"), within_seconds=SETTLE_SECONDS)
    assert kind.crd in missing
    eventually(lambda: condition(sets.get(name), MISSING) == "True", within_seconds=SETTLE_SECONDS)
    throughout(lambda: condition(sets.get(name), MISSING) == "True", seconds=1, poll_seconds=0.1)
    install_kind(control_plane.admin, "volcano")
    try:
        replicas = sets.get(name)["spec"]["replicas"]
        eventually(lambda: len(sets.pods(name)) == replicas * size, within_seconds=SETTLE_SECONDS)
        path = path_of(kind, sets.namespace)
        eventually(lambda: len(api.request("GET", path)["items"]) == replicas, within_seconds=SETTLE_SECONDS)
        made = api.request("GET", path)["items"]
        eventually(lambda: condition(sets.get(name), MISSING) == "False", within_seconds=SETTLE_SECONDS)
        for group in made:
            (owner,) = group["metadata"]["ownerReferences"]
            named = [
                pod
                for pod in sets.pods(name)
                if pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == group["metadata"]["name"]
            ]
            assert len(named) == group["spec"]["minMember"] == size
            assert group["spec"]["minResources"] == {"cpu": f"{50 * size}m"}
            assert owner["uid"] in {pod["metadata"]["uid"] for pod in named}
            assert {pod["spec"]["schedulerName"] for pod in named} == {"volcano"}
    finally:
        remove_kind(control_plane.admin, "volcano")


@pytest.mark.one_api
@pytest.mark.skipif(not MANIFESTS, reason="TUTTI_SHARED_DATA names no folder with public manifests")
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_a_public_set_waits_whole_and_then_starts_whole(
    sets: Sets, nodes: HollowNodes, control_plane: ControlPlane, provided: Any, path: Path
) -> None:
    lws, others = documents(path)
    provided(lws)
    name, size = lws["metadata"]["name"], lws["spec"]["leaderWorkerTemplate"]["size"]
    made = control_plane.kubectl("apply", "-n", sets.namespace, "-f", str(path))
    assert f"leaderworkerset.leaderworkerset.x-k8s.io/{name} created" in made.out, others
    template = sets.get(name)["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    if template["spec"].get("schedulerName") == "volcano":
        assert template["metadata"]["labels"][MANAGED] == "volcano"
        assert_each_replica_has_its_volcano_group(sets, control_plane, name, size)
        return
    replicas = range(lws["spec"]["replicas"])
    eventually(lambda: len(sets.groups(name)) == len(replicas), within_seconds=SETTLE_SECONDS)
    throughout(lambda: sets.bound(name) == 0, seconds=0.5, poll_seconds=0.1)
    add_fitting_nodes(nodes, lws)
    if is_refused_by_kubernetes(lws):
        throughout(lambda: sets.bound(name) == 0, seconds=3, poll_seconds=0.2)
        return
    eventually(lambda: all(sets.bound(name, index) == size for index in replicas), within_seconds=SETTLE_SECONDS)
    assert {group["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/name"] for group in sets.groups(name)} == {name}
