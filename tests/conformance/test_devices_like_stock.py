"""Both schedulers on one real control plane: the same claims of single pods are put to both, each has devices of its own.

Where there are devices for the pod both place it, on the same node if only one is right; where not, neither does.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from _pytest.mark import ParameterSet

from tests.conformance.device_cases import CASES, NOWHERE, SOMEWHERE, Asked, DeviceCase
from tests.conformance.devices import OURS, STOCK, Devices
from verify.auditor.auditor import Auditor
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.tutti_process import Tutti

pytestmark = [
    pytest.mark.one_api,
    pytest.mark.real_only("there is no stock scheduler on the embedded one"),
    pytest.mark.since(37, "resource.k8s.io/v1 with the fields of 1.37"),
]

DECIDED_SECONDS = 30
SILENT_SECONDS = 1.0
"""The stock scheduler says nothing about a pod whose claims are missing."""
ENDED_SECONDS = 30
NODES = ("n1", "n2", "n3")


@pytest.fixture(scope="module")
def home(control_plane: ControlPlane, kubelet: None) -> Iterator[Devices]:
    """Three nodes in a namespace for all cases."""
    api, name = control_plane.admin, f"devices-{secrets.token_hex(3)}"
    api.create("namespaces", {"metadata": {"name": name}})
    hollow = HollowNodes(api, f"node-{secrets.token_hex(3)}")
    made = Devices(api, name, hollow)
    for node in NODES:
        made.add_node(node)
    yield made
    hollow.remove_all()
    api.delete("namespaces", name)


@contextmanager
def staged(home: Devices, case: DeviceCase) -> Iterator[Devices]:
    """The devices of a case in a namespace of their own, on the nodes that all cases share."""
    name = f"{home.namespace}-{secrets.token_hex(3)}"
    home.api.create("namespaces", {"metadata": {"name": name}})
    devices = Devices(home.api, name, HollowNodes(home.api, "none"))
    devices.nodes = home.nodes
    try:
        case.set_up(devices)
        yield devices
    finally:
        for pod in home.api.list("pods", name):
            home.api.delete("pods", pod["metadata"]["name"], name)
        eventually(lambda: not home.api.list("pods", name), within_seconds=ENDED_SECONDS)
        devices.remove()
        devices.free_claims()
        home.api.delete("namespaces", name)


def answer(devices: Devices, scheduler: str, name: str, pod: Asked) -> str:
    """The node that the pod got; empty for none."""
    devices.pod(name, *pod.claims, scheduler=scheduler, **pod.more)
    if pod.waits:
        throughout(lambda: not devices.place(name), seconds=SILENT_SECONDS)
    elif pod.answer == NOWHERE:
        eventually(lambda: devices.place(name) or is_refused(devices, name), within_seconds=DECIDED_SECONDS)
    else:
        # What is said first may be true for a moment only: before its claim is made, or all slices are seen.
        with suppress(AssertionError):
            eventually(lambda: devices.place(name), within_seconds=DECIDED_SECONDS)
    return devices.place(name)


def is_refused(devices: Devices, name: str) -> bool:
    """It was told why it can run nowhere, and not only that its claim has not been made yet."""
    told = devices.told(name)
    return bool(told) and "to be made from the template" not in told


def both(case: DeviceCase) -> Iterator[ParameterSet]:
    """The case for each scheduler."""
    yield pytest.param(case, STOCK, id=f"stock {case.name}")
    yield pytest.param(case, OURS, id=f"ours {case.name}")


@pytest.mark.parametrize(("case", "scheduler"), [each for case in CASES for each in both(case)])
def test_claims_of_single_pods_are_answered_alike(
    home: Devices, case: DeviceCase, scheduler: str, tutti: Tutti, auditor: Auditor
) -> None:
    auditor.windows.devices_seconds = DECIDED_SECONDS
    with staged(home, case) as devices:
        for number, pod in enumerate(case.asked):
            found = answer(devices, scheduler, f"asked-{number}", pod)
            is_right = found in NODES if pod.answer == SOMEWHERE else found == pod.answer
            assert is_right, f"pod {number} is on {found or 'no node'}: {devices.told(f'asked-{number}')}"
        for number, pod in enumerate(case.asked):
            assert bool(devices.place(f"asked-{number}")) == (pod.answer != NOWHERE), f"pod {number} in the end"
