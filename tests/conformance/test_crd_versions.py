"""How our own kinds get to their next version: step by step, without any webhook, and no object is lost or becomes another.

The definitions are those that are shipped, under a group of their own, so that no Tutti takes an interest in the objects.
Decision 92 says in which release which step is taken.
"""

import copy
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.conformance.definitions import FILES
from verify.clusters.client import Api, ApiError, Object
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually

pytestmark = [pytest.mark.one_api, pytest.mark.real_only("how objects are stored is the real server's affair")]

NAMESPACE = "kube-public"
SOON_SECONDS = 30
NOW, NEXT = "v1beta1", "v1"


class Kind:
    """PodGroups of a made-up group, whose definition goes from release to release."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._group = f"r{secrets.token_hex(3)}.tutti.scheduler"
        definition = yaml.safe_load((FILES / "podgroups.yaml").read_text())
        self.crd = f"podgroups.{self._group}"
        definition["metadata"]["name"] = self.crd
        definition["spec"]["group"] = self._group
        (self._version,) = definition["spec"]["versions"]
        api.create("customresourcedefinitions", definition)

    def remove(self) -> None:
        self._api.delete("customresourcedefinitions", self.crd)

    def serve(self, *versions: str, stored: str) -> None:
        """Another release of the definition: the same schema under these versions."""
        told = [{**copy.deepcopy(self._version), "name": each, "storage": each == stored} for each in versions]
        self._api.patch("customresourcedefinitions", self.crd, {"spec": {"versions": told}})

    def is_served(self, version: str) -> bool:
        try:
            self._api.request("GET", self.path(version))
        except ApiError as error:
            if error.status != 404:
                raise
            return False
        return True

    def path(self, version: str, name: str = "") -> str:
        collection = f"/apis/{self._group}/{version}/namespaces/{NAMESPACE}/podgroups"
        return f"{collection}/{name}" if name else collection

    def make(self, version: str, name: str, **metadata: Any) -> Object:
        body = {
            "apiVersion": f"{self._group}/{version}",
            "kind": "PodGroup",
            "metadata": {"name": name, **metadata},
            "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 7},
        }
        return self._api.request("POST", self.path(version), body)

    def get(self, version: str, name: str) -> Object:
        return self._api.request("GET", self.path(version, name))

    def write_again(self, version: str, name: str) -> bool:
        """Writes an object as it is; whether that changed how it is stored."""
        found = self.get(version, name)
        written = self._api.request("PUT", self.path(version, name), found)
        return bool(written["metadata"]["resourceVersion"] != found["metadata"]["resourceVersion"])

    def stored_versions(self) -> list[str]:
        return list(self._api.get("customresourcedefinitions", self.crd)["status"]["storedVersions"])

    def say_stored(self, *versions: str) -> None:
        path = self._api.path("customresourcedefinitions", name=self.crd) + "/status"
        self._api.request("PATCH", path, {"status": {"storedVersions": list(versions)}}, kind="merge")


@pytest.fixture
def kind(control_plane: ControlPlane) -> Iterator[Kind]:
    made = Kind(control_plane.admin)
    yield made
    made.remove()


def identity(one: Object) -> tuple[str, Object, Object]:
    return one["metadata"]["uid"], one["spec"], one["metadata"].get("annotations", {})


def test_a_group_lives_through_all_releases_of_its_kind(kind: Kind) -> None:
    eventually(lambda: kind.is_served(NOW), within_seconds=SOON_SECONDS)
    old = identity(kind.make(NOW, "old", annotations={"tutti.scheduler/managed-by": "tutti"}))

    # The first release that knows the next version serves it and stores the present one: going back costs nothing.
    kind.serve(NOW, NEXT, stored=NOW)
    eventually(lambda: kind.is_served(NEXT), within_seconds=SOON_SECONDS)
    young = identity(kind.make(NEXT, "young"))
    for version in (NOW, NEXT):
        assert (identity(kind.get(version, "old")), identity(kind.get(version, "young"))) == (old, young)

    # The second one stores the next version, and writes again what is there.
    kind.serve(NOW, NEXT, stored=NEXT)
    eventually(lambda: kind.write_again(NEXT, "old"), within_seconds=SOON_SECONDS)
    assert kind.write_again(NEXT, "young")
    assert kind.stored_versions() == [NOW, NEXT]
    kind.say_stored(NEXT)

    # The third one knows the next version alone.
    kind.serve(NEXT, stored=NEXT)
    eventually(lambda: not kind.is_served(NOW), within_seconds=SOON_SECONDS)
    assert (identity(kind.get(NEXT, "old")), identity(kind.get(NEXT, "young"))) == (old, young)


def test_the_server_keeps_a_version_in_which_objects_may_be_stored(kind: Kind) -> None:
    eventually(lambda: kind.is_served(NOW), within_seconds=SOON_SECONDS)
    kind.serve(NOW, NEXT, stored=NEXT)
    with pytest.raises(ApiError, match=r"must remain in `?spec.versions|must appear in spec.versions"):
        kind.serve(NEXT, stored=NEXT)
