"""Claims that wait for their first pod: lone pods and whole gangs get volumes and nodes together, or neither."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from verify.clusters.client import Api, ApiError
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job, plain_pod

pytestmark = pytest.mark.usefixtures("tutti")

Object = dict[str, Any]

SOON_SECONDS = 30
HOSTNAME = "kubernetes.io/hostname"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


class Shelf:
    """A storage class of its own with volumes on nodes."""

    def __init__(self, api: Api, provisioner: str = "kubernetes.io/no-provisioner") -> None:
        self._api = api
        self.name = f"class-{secrets.token_hex(3)}"
        self._volumes: list[str] = []
        self._api.create(
            "storageclasses",
            {
                "metadata": {"name": self.name},
                "provisioner": provisioner,
                "volumeBindingMode": "WaitForFirstConsumer",
            },
        )

    def add(self, node: str, *, size: int = 10) -> str:
        """A volume that only this node reaches; waits until its controller has seen it."""
        name = f"{self.name}-{len(self._volumes)}"
        here = {"key": HOSTNAME, "operator": "In", "values": [node]}
        spec = {
            "capacity": {"storage": f"{size}Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": self.name,
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": "/tmp/none"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        }
        self._api.create("persistentvolumes", {"metadata": {"name": name}, "spec": spec})
        self._volumes.append(name)
        seen = {"Available", "Bound"}
        eventually(lambda: self.volume(name)["status"]["phase"] in seen, within_seconds=SOON_SECONDS)
        return name

    def volume(self, name: str) -> Object:
        return self._api.get("persistentvolumes", name)

    def claim(self, size: int = 5) -> Object:
        """What a claim of this class says."""
        asks = {"requests": {"storage": f"{size}Gi"}}
        return {"accessModes": ["ReadWriteOnce"], "storageClassName": self.name, "resources": asks}

    def remove(self) -> None:
        for name in self._volumes:
            self._api.delete("persistentvolumes", name)
            try:
                self._api.patch("persistentvolumes", name, {"metadata": {"finalizers": None}})
            except ApiError as error:
                if error.status != 404:
                    raise
        self._api.delete("storageclasses", self.name)


@pytest.fixture
def shelf(control_plane: ControlPlane, namespace: str) -> Iterator[Shelf]:
    made = Shelf(control_plane.admin)
    yield made
    made.remove()


def gang(name: str, count: int, shelf: Shelf, *, size: int = 5) -> Object:
    """A gang each of whose members has a volume of its own."""
    job = indexed_job(name, count)
    spec = job["spec"]["template"]["spec"]
    spec["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": shelf.claim(size)}}}]
    spec["containers"][0]["volumeMounts"] = [{"name": "scratch", "mountPath": "/scratch"}]
    return job


def lone(name: str, claim: str) -> Object:
    """A pod that names our scheduler and mounts a claim."""
    pod = plain_pod(name)
    pod["spec"] |= {
        "schedulerName": "tutti",
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}],
    }
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    return pod


def test_a_lone_pod_goes_where_a_volume_is_and_its_claim_is_bound_first(
    control_plane: ControlPlane, nodes: HollowNodes, namespace: str, shelf: Shelf
) -> None:
    api = control_plane.admin
    names = nodes.add(3)
    volume = shelf.add(names[2])
    api.create("persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": shelf.claim()}, namespace)
    api.create("pods", lone("p", "c"), namespace)
    eventually(lambda: api.get("pods", "p", namespace)["spec"].get("nodeName") == names[2], within_seconds=SOON_SECONDS)
    assert api.get("persistentvolumeclaims", "c", namespace)["spec"]["volumeName"] == volume
    # A claim's phase is the volume controller's last write, after the one that says that it is bound.
    eventually(
        lambda: api.get("persistentvolumeclaims", "c", namespace)["status"]["phase"] == "Bound",
        within_seconds=SOON_SECONDS,
    )


def test_a_gang_gets_a_volume_for_every_member(jobs: Jobs, nodes: HollowNodes, shelf: Shelf) -> None:
    names = nodes.add(4)
    volumes = [shelf.add(name) for name in names[:3]]
    jobs.create(gang("g", 3, shelf))
    eventually(lambda: jobs.whole("g"), within_seconds=SOON_SECONDS)
    assert {pod["spec"]["nodeName"] for pod in jobs.pods("g")} == set(names[:3])
    assert {shelf.volume(name)["status"]["phase"] for name in volumes} == {"Bound"}


def test_a_gang_with_a_volume_too_few_takes_none_and_starts_when_the_last_one_comes(
    jobs: Jobs, nodes: HollowNodes, shelf: Shelf
) -> None:
    names = nodes.add(3)
    volumes = [shelf.add(name) for name in names[:2]]
    jobs.create(gang("g", 3, shelf))
    eventually(lambda: "persistent volumes to bind" in str(jobs.group("g").get("status")), within_seconds=SOON_SECONDS)
    throughout(lambda: jobs.bound("g") == 0, seconds=0.6)
    assert {shelf.volume(name)["status"]["phase"] for name in volumes} == {"Available"}
    shelf.add(names[2])
    eventually(lambda: jobs.whole("g"), within_seconds=SOON_SECONDS)


def test_two_gangs_do_not_share_volumes(jobs: Jobs, nodes: HollowNodes, shelf: Shelf) -> None:
    names = nodes.add(3)
    for name in names:
        shelf.add(name)
    jobs.create(gang("one", 2, shelf))
    jobs.create(gang("two", 2, shelf))
    eventually(lambda: jobs.whole("one") or jobs.whole("two"), within_seconds=SOON_SECONDS)
    throughout(lambda: sorted([jobs.bound("one"), jobs.bound("two")]) == [0, 2], seconds=0.6)


def test_a_gang_waits_for_a_claim_that_does_not_exist_yet(
    control_plane: ControlPlane, jobs: Jobs, nodes: HollowNodes, namespace: str, shelf: Shelf
) -> None:
    api = control_plane.admin
    shelf.add(nodes.add(2)[1])
    job = indexed_job("g", 2)
    job["spec"]["template"]["spec"]["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": "late"}}]
    jobs.create(job)
    eventually(lambda: 'persistentvolumeclaim "late" not found' in str(jobs.group("g")), within_seconds=SOON_SECONDS)
    assert jobs.bound("g") == 0
    api.create("persistentvolumeclaims", {"metadata": {"name": "late"}, "spec": shelf.claim()}, namespace)
    eventually(lambda: jobs.whole("g"), within_seconds=SOON_SECONDS)
    assert {pod["spec"]["nodeName"] for pod in jobs.pods("g")} == {nodes.names[1]}


def test_volumes_that_are_to_be_made_are_asked_for_before_any_member_is_bound(
    control_plane: ControlPlane, jobs: Jobs, nodes: HollowNodes, namespace: str
) -> None:
    api = control_plane.admin
    nodes.add(3)
    shelf = Shelf(api, provisioner="example.com/disks")
    jobs.create(gang("g", 3, shelf))

    def chosen() -> bool:
        claims = api.list("persistentvolumeclaims", namespace)
        marked = [claim for claim in claims if SELECTED_NODE in claim["metadata"].get("annotations", {})]
        return len(marked) == 3

    eventually(chosen, within_seconds=SOON_SECONDS)
    if all(claim["status"]["phase"] == "Pending" for claim in api.list("persistentvolumeclaims", namespace)):
        throughout(lambda: jobs.bound("g") == 0 or _all_bound(api, namespace), seconds=0.6)
    for index, claim in enumerate(api.list("persistentvolumeclaims", namespace)):
        if claim["status"]["phase"] == "Pending":
            _make(api, f"{shelf.name}-made-{index}", claim)
    eventually(lambda: jobs.whole("g"), within_seconds=SOON_SECONDS)
    shelf.remove()


def _all_bound(api: Api, namespace: str) -> bool:
    return all(claim["status"]["phase"] == "Bound" for claim in api.list("persistentvolumeclaims", namespace))


def _make(api: Api, name: str, claim: Object) -> None:
    """What an external provisioner does: a volume for a claim, on the node that was chosen."""
    meta = claim["metadata"]
    here = {"key": HOSTNAME, "operator": "In", "values": [meta["annotations"][SELECTED_NODE]]}
    spec = {
        "capacity": {"storage": "5Gi"},
        "accessModes": claim["spec"]["accessModes"],
        "storageClassName": claim["spec"]["storageClassName"],
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": "/tmp/none"},
        "claimRef": {"namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
    }
    api.create("persistentvolumes", {"metadata": {"name": name}, "spec": spec})
