"""Both schedulers on one real control plane: each case is put to the stock one and to ours, and both give the same answer.

Differences that are meant: a refusal of the stock scheduler goes on with what it thought of preemption, and it does not name
the taint that keeps a pod away.
"""

import re
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.client import Api
from tests.conformance.controlplane import ControlPlane
from tests.conformance.eventually import eventually
from tests.conformance.tutti_process import Tutti
from tests.placement.case import HOSTNAME, Case, Running, named
from tests.placement.table import CASES, IDS

pytestmark = pytest.mark.one_api

Object = dict[str, Any]

DECIDED_SECONDS = 30
SCHEDULERS = ("default-scheduler", "tutti")


class Stage:
    """The cluster of one case; nodes are bare objects, so nothing ever runs or changes on them."""

    def __init__(self, api: Api, namespace: str, case: Case) -> None:
        self._api = api
        self._prefix = f"case-{secrets.token_hex(3)}"
        self._case = case
        self.namespace = namespace
        self.other = f"{namespace}-other"

    def set_up(self) -> None:
        self._api.create("namespaces", {"metadata": {"name": self.other, "labels": {"team": "red"}}})
        for index, chosen in enumerate(self._case.services):
            body = {"metadata": {"name": f"service-{index}"}, "spec": {"selector": chosen, "ports": [{"port": 80}]}}
            self._api.create("services", body, self.namespace)
        for index in range(len(self._case.machines)):
            self._add_node(index)
        for index, one in enumerate(self._case.running):
            self._add_pod(f"running-{index}", one)

    def tear_down(self) -> None:
        for namespace in (self.namespace, self.other):
            for pod in self._api.list("pods", namespace):
                self._api.delete("pods", pod["metadata"]["name"], namespace)
        for index in range(len(self._case.machines)):
            self._api.delete("nodes", self.node(index))
        self._api.delete("namespaces", self.other)

    def node(self, index: int) -> str:
        return f"{self._prefix}-{index}"

    def answer(self, scheduler: str) -> str:
        """The node the case's pod got, or what it was told; the pod is gone afterwards."""
        self._create(
            "asked", self.namespace, self._case.labels, self._case.spec, self._case.cpu, schedulerName=scheduler
        )
        found = eventually(self._decided, within_seconds=DECIDED_SECONDS)
        self._api.delete("pods", "asked", self.namespace)
        eventually(lambda: self._api.find("pods", "asked", self.namespace) is None, within_seconds=DECIDED_SECONDS)
        return str(found)

    def _decided(self) -> str:
        pod = self._api.get("pods", "asked", self.namespace)
        if pod["spec"].get("nodeName"):
            return str(pod["spec"]["nodeName"])
        told = [one for one in pod["status"].get("conditions", []) if one["type"] == "PodScheduled"]
        return str(told[0]["message"]) if told else ""

    def _add_node(self, index: int) -> None:
        machine = self._case.machines[index]
        name = self.node(index)
        amounts = {"cpu": str(machine.cpu), "memory": "64Gi", "pods": "110"}
        self._api.create(
            "nodes",
            {
                "metadata": {"name": name, "labels": {HOSTNAME: name, **machine.labels}},
                "spec": {"taints": list(machine.taints), "unschedulable": machine.is_cordoned},
                "status": {
                    "capacity": amounts,
                    "allocatable": amounts,
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "images": [{"names": [image], "sizeBytes": size * 2**20} for image, size in machine.images],
                },
            },
        )

    def _add_pod(self, name: str, one: Running) -> None:
        namespace = self.other if one.other else self.namespace
        self._create(name, namespace, one.labels, one.spec, one.cpu, nodeName=self.node(one.at))

    def _create(self, name: str, namespace: str, labels: dict[str, str], spec: Object, cpu: int, **more: Any) -> None:
        spec = named(spec, self.other)
        containers = spec.pop("containers", [{"name": "main", "image": "registry.example/none:1"}])
        if cpu:
            containers[0]["resources"] = {"requests": {"cpu": str(cpu)}}
        body = {"containers": containers, "terminationGracePeriodSeconds": 0, **spec, **more}
        self._api.create("pods", {"metadata": {"name": name, "labels": labels}, "spec": body}, namespace)


@pytest.fixture
def stage(request: pytest.FixtureRequest, control_plane: ControlPlane, namespace: str, tutti: Tutti) -> Iterator[Stage]:
    _, case = request.param
    made = Stage(control_plane.admin, namespace, case)
    made.set_up()
    yield made
    made.tear_down()


@pytest.mark.parametrize("stage", CASES, ids=IDS, indirect=True)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_pod_gets_the_same_node_or_the_same_reasons(
    stage: Stage, scheduler: str, request: pytest.FixtureRequest
) -> None:
    _, case = request.node.callspec.params["stage"]
    expected = (
        f"0/{len(case.machines)} nodes are available: {case.reasons}." if case.node is None else stage.node(case.node)
    )
    eventually(lambda: _plain(stage.answer(scheduler)) == expected, within_seconds=3 * DECIDED_SECONDS)


def _plain(answer: str) -> str:
    without_preemption = answer.split(" preemption: ", maxsplit=1)[0]
    return re.sub(r"taint \{.*?\}", "taint(s)", without_preemption)
