"""Gangs with resource claims on a real control plane: its API server takes what we write, its controller makes and frees claims."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.client import Api, ApiError
from tests.conformance.controlplane import ControlPlane
from tests.conformance.eventually import eventually, throughout
from tests.conformance.hollow import HollowNodes
from tests.conformance.jobs import Jobs, indexed_job

pytestmark = [
    pytest.mark.usefixtures("tutti"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

Object = dict[str, Any]

SOON_SECONDS = 30
FINALIZER = "resource.kubernetes.io/delete-protection"


class Devices:
    """A driver of its own with a class, slices on nodes and a template."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self._namespace = namespace
        self.driver = f"gpu-{secrets.token_hex(3)}.example.com"
        self.name = self.driver.partition(".")[0]
        self._slices: list[str] = []
        expression = f'device.driver == "{self.driver}"'
        api.create(
            "deviceclasses",
            {"metadata": {"name": self.name}, "spec": {"selectors": [{"cel": {"expression": expression}}]}},
        )

    def offer(self, node: str, *numa: int) -> None:
        """One device for each number, in that NUMA node."""
        name = f"{self.name}-{node}"
        devices = [{"name": f"g{index}", "attributes": {"numa": {"int": each}}} for index, each in enumerate(numa)]
        pool = {"name": f"{self.name}-{node}", "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": self.driver, "nodeName": node, "pool": pool, "devices": devices}
        self._api.create("resourceslices", {"metadata": {"name": name}, "spec": spec})
        self._slices.append(name)

    def spec(self, count: int = 1, constraints: list[Object] | None = None) -> Object:
        """What a claim says."""
        exactly = {"deviceClassName": self.name, "allocationMode": "ExactCount", "count": count}
        return {"devices": {"requests": [{"name": "r", "exactly": exactly}], "constraints": constraints or []}}

    def template(self, name: str, **more: Any) -> None:
        manifest = {"metadata": {"name": name}, "spec": {"spec": self.spec(**more)}}
        self._api.create("resourceclaimtemplates", manifest, self._namespace)

    def claim(self, name: str) -> None:
        self._api.create("resourceclaims", {"metadata": {"name": name}, "spec": self.spec()}, self._namespace)

    def claims(self) -> list[Object]:
        return list(self._api.list("resourceclaims", self._namespace))

    def given(self) -> list[str]:
        """The devices of all claims of the namespace."""
        allocations = [one.get("status", {}).get("allocation") for one in self.claims()]
        results = [each for one in allocations if one for each in one["devices"]["results"]]
        return sorted(f"{one['pool'].removeprefix(self.name + '-')}/{one['device']}" for one in results)

    def remove(self) -> None:
        for kind, names in (("resourceslices", self._slices), ("deviceclasses", [self.name])):
            for name in names:
                try:
                    self._api.delete(kind, name)
                except ApiError as error:
                    if error.status != 404:
                        raise


@pytest.fixture
def devices(control_plane: ControlPlane, namespace: str) -> Iterator[Devices]:
    made = Devices(control_plane.admin, namespace)
    yield made
    made.remove()


def gang(name: str, count: int, *, template: str = "", shared: str = "", cpu: str = "100m") -> Object:
    """A gang each of whose members has a claim from the template, or all of them the shared one."""
    job = indexed_job(name, count)
    spec = job["spec"]["template"]["spec"]
    source = {"resourceClaimTemplateName": template} if template else {"resourceClaimName": shared}
    spec["resourceClaims"] = [{"name": "device", **source}]
    spec["containers"][0]["resources"] = {"requests": {"cpu": cpu}, "claims": [{"name": "device"}]}
    return job


def places(api: Api, namespace: str) -> dict[str, str]:
    """Bound pods with their nodes."""
    found = ((pod["metadata"]["name"], pod["spec"].get("nodeName")) for pod in api.list("pods", namespace))
    return {name: node for name, node in found if node}


def test_each_member_gets_a_device_of_its_own_and_its_claim_says_for_whom(
    control_plane: ControlPlane, nodes: HollowNodes, namespace: str, devices: Devices, jobs: Jobs
) -> None:
    api = control_plane.admin
    one, two = nodes.add(2)
    devices.offer(one, 0, 1)
    devices.offer(two, 0, 0)
    devices.template("t")
    api.create("jobs", gang("four", 4, template="t"), namespace)
    eventually(lambda: len(places(api, namespace)) == 4, within_seconds=SOON_SECONDS)
    assert devices.given() == sorted(f"{node}/{device}" for node in (one, two) for device in ("g0", "g1"))
    uids = {pod["metadata"]["uid"]: pod["spec"]["nodeName"] for pod in api.list("pods", namespace)}
    for claim in devices.claims():
        status = claim["status"]
        assert FINALIZER in claim["metadata"]["finalizers"]
        assert status["allocation"]["allocationTimestamp"]
        (consumer,) = status["reservedFor"]
        assert status["allocation"]["devices"]["results"][0]["pool"].endswith(uids[consumer["uid"]])


def test_a_gang_without_devices_for_all_holds_none_and_starts_when_others_are_done(
    control_plane: ControlPlane, nodes: HollowNodes, namespace: str, devices: Devices, jobs: Jobs
) -> None:
    api = control_plane.admin
    (one,) = nodes.add(1)
    devices.offer(one, 0, 0, 0)
    devices.template("t")
    api.create("jobs", gang("first", 2, template="t"), namespace)
    eventually(lambda: len(places(api, namespace)) == 2, within_seconds=SOON_SECONDS)
    api.create("jobs", gang("second", 2, template="t"), namespace)
    eventually(lambda: len(devices.claims()) == 4, within_seconds=SOON_SECONDS)
    throughout(lambda: len(devices.given()) == 2, seconds=5)
    api.delete("jobs", "first", namespace)
    eventually(
        lambda: sum(name.startswith("second") for name in places(api, namespace)) == 2, within_seconds=2 * SOON_SECONDS
    )


def test_members_that_share_a_claim_are_all_its_consumers_on_one_node(
    control_plane: ControlPlane, nodes: HollowNodes, namespace: str, devices: Devices, jobs: Jobs
) -> None:
    api = control_plane.admin
    for node in nodes.add(3):
        devices.offer(node, 0)
    devices.claim("shared")
    api.create("jobs", gang("three", 3, shared="shared"), namespace)
    eventually(lambda: len(places(api, namespace)) == 3, within_seconds=SOON_SECONDS)
    assert len(set(places(api, namespace).values())) == 1
    (claim,) = devices.claims()
    assert len(claim["status"]["reservedFor"]) == 3


def test_devices_with_one_attribute_in_common_are_found(
    control_plane: ControlPlane, nodes: HollowNodes, namespace: str, devices: Devices, jobs: Jobs
) -> None:
    api = control_plane.admin
    one, two = nodes.add(2)
    devices.offer(one, 0, 1)
    devices.offer(two, 0, 1, 1)
    devices.template("pair", count=2, constraints=[{"matchAttribute": f"{devices.driver}/numa"}])
    devices.template("single")
    api.create("jobs", gang("pairs", 2, template="pair"), namespace)
    throughout(lambda: places(api, namespace) == {}, seconds=3)
    api.delete("jobs", "pairs", namespace)
    api.create("pods", _lone("p", "pair"), namespace)
    eventually(lambda: places(api, namespace).get("p") == two, within_seconds=SOON_SECONDS)
    assert devices.given() == [f"{two}/g1", f"{two}/g2"]


def _lone(name: str, template: str) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {
            "schedulerName": "tutti",
            "resourceClaims": [{"name": "device", "resourceClaimTemplateName": template}],
            "containers": [{"name": "main", "image": "none", "resources": {"claims": [{"name": "device"}]}}],
        },
    }


def test_a_template_that_comes_later_is_waited_for_and_that_is_said(
    control_plane: ControlPlane, nodes: HollowNodes, namespace: str, devices: Devices, jobs: Jobs
) -> None:
    api = control_plane.admin
    (one,) = nodes.add(1)
    devices.offer(one, 0, 0)
    api.create("jobs", gang("early", 2, template="later"), namespace)
    eventually(
        lambda: any(
            'to be made from the template "later"' in condition.get("message", "")
            for pod in api.list("pods", namespace)
            for condition in pod.get("status", {}).get("conditions", [])
        ),
        within_seconds=SOON_SECONDS,
    )
    devices.template("later")
    eventually(lambda: len(places(api, namespace)) == 2, within_seconds=2 * SOON_SECONDS)
