"""Nodes, namespaces, Services, groups and pods come and go by the thousand, some of them before the answers about them do."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from api.constants import POD_GROUP
from kube.client.errors import KubeError, OutcomeUnknown, Unreachable
from scheduler.wiring import Scheduler
from tests.churn.census import CHURNED, Curve, census, grown, lower_limits
from tests.churn.cycles import cycles
from tests.scheduler.shell.cluster import Cluster
from tests.scheduler.shell.fake_api import FakeApi
from tests.scheduler.shell.manifests import gang, node, pod
from tests.scheduler.shell.virtual_time import run_virtually

BATCH = 50
_HOPELESS = ("3", "8")
"""How the names of members end that no node accepts."""

Object = dict[str, Any]


class SlowApi(FakeApi):
    """Answers take their time, so that objects go while they are written about."""

    async def _request(self, verb: str, what: str, name: str) -> None:
        await asyncio.sleep(0.05)
        await super()._request(verb, what, name)


def test_what_came_and_went_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    lower_limits(monkeypatch)
    run_virtually(_churn())


def test_decisions_writes_and_their_failures_leave_no_cycles() -> None:
    run_virtually(_without_cycles())


async def _without_cycles() -> None:
    cluster = _faulty_cluster()
    async with cluster.scheduler(initial_backoff_seconds=5, max_backoff_seconds=20) as scheduler:
        await _come_and_go(cluster.api, scheduler, "warm", is_patient=True)
        with cycles() as left:
            await _come_and_go(cluster.api, scheduler, "patient", is_patient=True)
            await _come_and_go(cluster.api, scheduler, "hasty", is_patient=False)
    assert not left


def _faulty_cluster() -> Cluster:
    cluster = Cluster(SlowApi(), clock=asyncio.get_running_loop().time)
    cluster.api.before.append(_every(7, Unreachable("no route")))
    cluster.api.after.append(_every(5, OutcomeUnknown("the answer was lost")))
    return cluster


async def _churn() -> None:
    cluster = _faulty_cluster()
    curve = Curve("scheduler")
    async with cluster.scheduler(initial_backoff_seconds=5, max_backoff_seconds=20) as scheduler:
        for first in range(0, 2 * BATCH, BATCH):
            await _come_and_go(cluster.api, scheduler, f"warm-{first}", is_patient=first == 0)
        counts = [census()]
        for first in range(0, CHURNED, BATCH):
            await _come_and_go(cluster.api, scheduler, f"x{first}", is_patient=first % (2 * BATCH) == 0)
            curve.note(first + BATCH)
            if first + BATCH in {CHURNED // 2, CHURNED}:
                counts.append(census())
    assert grown(counts, CHURNED // 2) == {}
    assert curve.blocks_per_object() < 0.05


async def _come_and_go(api: FakeApi, scheduler: Scheduler, prefix: str, *, is_patient: bool) -> None:
    """All of them go when everything was done, or while it is being done."""
    names = [f"{prefix}-{number}" for number in range(BATCH)]
    for name in names:
        api.put("namespaces", {"metadata": {"name": name, "labels": {"team": name}}})
        api.put("services", _in(name, {"metadata": {"name": name}, "spec": {"selector": {name: "x"}}}))
        api.put("nodes", node(name))
        api.put("podgroups", _in(name, gang(name, 1)))
        api.put("pods", _in(name, _member(name)))
        api.put("pods", _in(name, _other(name)))
        api.put("podgroups", _in(name, gang(f"{name}-large", 1)))
        api.put("pods", _in(name, pod(f"{name}-large", group=f"{name}-large", gpus=9, owned=True)))
    for name in names:
        _touch(api, name)
    wanted = {name for name in names if not name.endswith(_HOPELESS)}
    await api.until(lambda: len(wanted & api.bound().keys()) >= len(wanted) / 2)
    if is_patient:
        await asyncio.sleep(60)
        assert wanted <= api.bound().keys()
    for kind, name in itertools.product(("podgroups", "pods", "services", "nodes", "namespaces"), names):
        for each in (name, f"{name}-large", f"{name}-other"):
            namespace = "" if kind in {"nodes", "namespaces"} else name
            if api.exists(kind, namespace, each):
                api.remove(kind, namespace, each)
    await asyncio.sleep(120)
    assert (scheduler.state.pods_total, scheduler.state.nodes_total, list(scheduler.state.entities)) == (0, 0, [])
    api.log.clear()
    api.events.clear()


def _touch(api: FakeApi, name: str) -> None:
    """A label is set to what it never was, on the node, the group and the pods."""
    for kind, namespace, each in (
        ("nodes", "", name),
        ("podgroups", name, name),
        ("pods", name, name),
        ("pods", name, f"{name}-other"),
    ):
        found = api.peek(kind, namespace, each)
        found["metadata"].setdefault("labels", {})["round"] = name
        api.put(kind, found)


def _in(namespace: str, manifest: Object) -> Object:
    manifest["metadata"]["namespace"] = namespace
    return manifest


def _member(name: str) -> Object:
    """A pod whose rules nobody else has."""
    made = pod(name, group=name, owned=True)
    made["metadata"]["labels"] = {name: "x"}
    away = {"topologyKey": name, "labelSelector": {"matchLabels": {name: "x"}}, "namespaceSelector": {}}
    made["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [away]}}
    made["spec"]["nodeSelector"] = {"nobody": name} if name.endswith(_HOPELESS) else {}
    return made


def _other(name: str) -> Object:
    """Another scheduler's pod, with a volume, on the node or on one that never was."""
    made = pod(f"{name}-other", gpus=0, scheduler="another")
    made["metadata"]["annotations"] = {POD_GROUP: name}
    made["spec"]["nodeName"] = name if name.endswith("2") else f"never-{name}"
    made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
    return made


def _every(nth: int, error: KubeError) -> Callable[[str, str, str], KubeError | None]:
    """A fault that hits every so manieth patch, create and get."""
    numbers = itertools.count(1)

    def fault(verb: str, what: str, _name: str) -> KubeError | None:
        if verb not in {"patch", "get"} and what != "pods/binding":
            return None
        return error if next(numbers) % nth == 0 else None

    return fault
