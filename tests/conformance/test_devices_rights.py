"""The scheduler without the right to give claims their devices: one clear message, and no gang of which something is written."""

from collections.abc import Iterator

import pytest

from tests.conformance.devices import Devices, own
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.jobs import CONDITION, Jobs, condition_entry
from verify.clusters.tutti_process import Tutti

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

SOON_SECONDS = 30
ROLE = "tutti-scheduler"
BINDING = "resourceclaims/binding"


@pytest.fixture
def without_right(tutti: Tutti, control_plane: ControlPlane) -> Iterator[None]:
    """The scheduler's role without `resourceclaims/binding`."""
    rules = control_plane.admin.get("clusterroles", ROLE)["rules"]
    less = [{**rule, "resources": [one for one in rule.get("resources", ()) if one != BINDING]} for rule in rules]
    assert less != rules
    control_plane.admin.patch("clusterroles", ROLE, {"rules": less})
    yield
    control_plane.admin.patch("clusterroles", ROLE, {"rules": rules})


def test_25_without_the_right_a_gang_waits_whole_and_says_which_right_is_missing(
    devices: Devices, jobs: Jobs, without_right: None, control_plane: ControlPlane
) -> None:
    devices.base()
    devices.gang("g", 3, own("t"))

    def message() -> str:
        found = condition_entry(jobs.group("g"), CONDITION)
        assert found, "nothing was said"
        assert BINDING in found["message"], found["message"]
        return str(found["message"])

    assert "permission" in eventually(message, within_seconds=SOON_SECONDS)
    throughout(lambda: (devices.places(), devices.given()) == ({}, []), seconds=1)
