"""The stand-ins at work on the embedded API server: whole lives of Jobs, owners, namespaces."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kube.client.client import Client
from kube.client.credentials import load_credentials
from kube.client.errors import KubeError, NotFound
from kube.client.resources import (
    CONFIG_MAPS,
    EVENTS,
    JOBS,
    NAMESPACES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    SERVICE_ACCOUNTS,
)
from localcluster.apiserver import discovery, extension
from localcluster.apiserver.files import admin_token, prepare, write_kubeconfig
from localcluster.apiserver.server import ApiServer, ServerSettings
from localcluster.controllers.main import run
from localcluster.controllers.settings import StandInSettings
from localcluster.nodes import create_nodes
from localcluster.shapes import NodeShape, parse_resources
from tests.localcluster.controllers.small_jobs import indexed, job

PATIENCE_SECONDS = 20.0
NAMESPACE = "default"

Object = dict[str, Any]


@contextlib.asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Client]:
    files = prepare(folder)
    server = ApiServer(ServerSettings(files=files))
    extension.install(server)
    discovery.install(server)
    await server.start()
    kubeconfig = folder / "kubeconfig"
    write_kubeconfig(kubeconfig, server=server.url, ca=files.ca, token=admin_token(files.tokens))
    try:
        async with Client(load_credentials(str(kubeconfig)), user_agent="test", max_connections=128) as client:
            yield client
    finally:
        await server.stop()


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """An API server with stand-ins and two nodes."""
    stop = asyncio.Event()
    async with serving(tmp_path) as opened:
        await create_nodes(opened, ["n0", "n1"], NodeShape(parse_resources("cpu=2,memory=4Gi")))
        works = asyncio.create_task(run(opened, StandInSettings(kubelet=True, backoff_seconds=0.1), stop))
        yield opened
        stop.set()
        assert await works == 0


async def eventually(check: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await check():  # noqa: ASYNC110 (what has become of an object can only be asked)
            await asyncio.sleep(0.05)


async def status_of(client: Client, name: str) -> Object:
    found = await client.get(JOBS, name, NAMESPACE)
    return dict(found.get("status") or {})


async def ended(client: Client, name: str) -> Object:
    """The Job's status once it has ended."""

    async def has_ended() -> bool:
        conditions = (await status_of(client, name)).get("conditions") or []
        return any(each["type"] in {"Complete", "Failed"} for each in conditions)

    await eventually(has_ended)
    return await status_of(client, name)


async def pods_of(client: Client, name: str) -> list[Object]:
    found = await client.list(PODS, NAMESPACE, label_selector=f"batch.kubernetes.io/job-name={name}")
    return list(found["items"])


async def is_gone(client: Client, resource: Any, name: str, namespace: str | None = NAMESPACE) -> bool:
    try:
        await client.get(resource, name, namespace)
    except NotFound:
        return True
    return False


async def test_an_indexed_job_runs_to_its_end_and_tells_of_it(client: Client) -> None:
    await client.create(JOBS, indexed("j", 3), NAMESPACE)
    status = await ended(client, "j")
    assert (status["succeeded"], status["completedIndexes"], status["uncountedTerminatedPods"]) == (3, "0-2", {})
    pods = await pods_of(client, "j")
    assert sorted(pod["spec"]["hostname"] for pod in pods) == ["j-0", "j-1", "j-2"]
    assert not any(pod["metadata"].get("finalizers") for pod in pods)

    async def told() -> bool:
        events = (await client.list(EVENTS, NAMESPACE))["items"]
        reasons = [each["reason"] for each in events if each["regarding"]["kind"] == "Job"]
        return sorted(reasons) == ["Completed", "SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate"]

    await eventually(told)


async def test_failed_pods_are_replaced_until_the_limit(client: Client) -> None:
    await client.create(JOBS, job("j", exit_code=3, backoffLimit=1), NAMESPACE)
    status = await ended(client, "j")
    assert [each["reason"] for each in status["conditions"]] == ["BackoffLimitExceeded"] * 2
    assert status["failed"] == len(await pods_of(client, "j")) == 2


async def test_a_job_is_suspended_and_resumed(client: Client) -> None:
    await client.create(JOBS, indexed("j", 2, runs=None), NAMESPACE)

    async def runs() -> bool:
        return (await status_of(client, "j")).get("ready") == 2

    async def rests() -> bool:
        status = await status_of(client, "j")
        return not status.get("active") and not status.get("terminating") and "startTime" not in status

    await eventually(runs)
    await client.patch(JOBS, {"spec": {"suspend": True}}, "j", NAMESPACE)
    await eventually(rests)
    await client.patch(JOBS, {"spec": {"suspend": False}}, "j", NAMESPACE)
    await eventually(runs)
    assert "failed" not in await status_of(client, "j")


async def test_a_deleted_job_takes_its_pods_along(client: Client) -> None:
    made = await client.create(JOBS, indexed("j", 2, runs=None), NAMESPACE)

    async def has_pods() -> bool:
        return len(await pods_of(client, "j")) == 2

    async def has_none() -> bool:
        return not await pods_of(client, "j")

    await eventually(has_pods)
    await client.delete(JOBS, "j", NAMESPACE, uid=made["metadata"]["uid"])
    await eventually(has_none)


async def test_an_expired_job_goes_by_itself(client: Client) -> None:
    await client.create(JOBS, job("j", ttlSecondsAfterFinished=0), NAMESPACE)
    await eventually(lambda: is_gone(client, JOBS, "j"))
    assert await pods_of(client, "j") == []


async def test_a_pod_without_room_waits_and_says_why(client: Client) -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}
    body = {"metadata": {"name": "big"}, "spec": {"containers": [container]}}
    await client.create(PODS, body, NAMESPACE)

    async def refusal() -> str:
        pod = await client.get(PODS, "big", NAMESPACE)
        return "".join(each.get("message", "") for each in (pod.get("status") or {}).get("conditions") or [])

    await eventually(refusal)
    assert await refusal() == "0/2 nodes are available: 2 Insufficient cpu."
    await create_nodes(client, ["large"], NodeShape(parse_resources("cpu=4,memory=4Gi")))

    async def runs() -> bool:
        return bool((await client.get(PODS, "big", NAMESPACE))["spec"].get("nodeName") == "large")

    await eventually(runs)


async def own(client: Client, name: str, *owners: Object, blocking: bool = False) -> Object:
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": each["metadata"]["name"],
            "uid": each["metadata"]["uid"],
            "blockOwnerDeletion": blocking,
        }
        for each in owners
    ]
    return await client.create(CONFIG_MAPS, {"metadata": {"name": name, "ownerReferences": references}}, NAMESPACE)


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
async def test_what_an_owner_owned_goes_with_it(client: Client, propagation: str) -> None:
    owner = await own(client, "owner")
    child = await own(client, "child", owner, blocking=True)
    await own(client, "grandchild", child, blocking=True)
    await client.delete(CONFIG_MAPS, "owner", NAMESPACE, uid=owner["metadata"]["uid"], propagation=propagation)

    async def are_gone() -> bool:
        return all([await is_gone(client, CONFIG_MAPS, name) for name in ("grandchild", "child", "owner")])

    await eventually(are_gone)


async def test_orphans_stay_without_their_owner(client: Client) -> None:
    owner = await own(client, "owner")
    await own(client, "child", owner)
    await client.delete(CONFIG_MAPS, "owner", NAMESPACE, uid=owner["metadata"]["uid"], propagation="Orphan")
    await eventually(lambda: is_gone(client, CONFIG_MAPS, "owner"))
    assert "ownerReferences" not in (await client.get(CONFIG_MAPS, "child", NAMESPACE))["metadata"]


async def test_a_pod_that_lost_its_job_but_has_another_owner_can_be_deleted(client: Client) -> None:
    """The collector takes the reference to the Job off first; nobody is left then but the finalizer."""
    other = await own(client, "other")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": other["metadata"]["uid"]}
    metadata = {
        "name": "left",
        "labels": {"batch.kubernetes.io/controller-uid": "gone"},
        "finalizers": ["batch.kubernetes.io/job-tracking"],
        "ownerReferences": [reference],
    }
    made = await client.create(
        PODS, {"metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}]}}, NAMESPACE
    )
    await client.delete(PODS, "left", NAMESPACE, uid=made["metadata"]["uid"])
    await eventually(lambda: is_gone(client, PODS, "left"))


async def test_an_object_with_another_living_owner_stays(client: Client) -> None:
    first, second = await own(client, "first"), await own(client, "second")
    await own(client, "child", first, second)
    await client.delete(CONFIG_MAPS, "first", NAMESPACE, uid=first["metadata"]["uid"])

    async def owners() -> bool:
        child = await client.get(CONFIG_MAPS, "child", NAMESPACE)
        return [each["name"] for each in child["metadata"]["ownerReferences"]] == ["second"]

    await eventually(owners)


async def test_a_deleted_namespace_is_emptied_and_goes(client: Client) -> None:
    made = await client.create(NAMESPACES, {"metadata": {"name": "ns"}})
    await eventually(lambda: _is_there(client, SERVICE_ACCOUNTS, "default", "ns"))
    await client.create(JOBS, indexed("j", 2, runs=None), "ns")
    await client.create(CONFIG_MAPS, {"metadata": {"name": "c"}}, "ns")
    await client.delete(NAMESPACES, "ns", uid=made["metadata"]["uid"])
    await eventually(lambda: is_gone(client, NAMESPACES, "ns", None))
    assert (await client.list(PODS, "ns"))["items"] == []


async def _is_there(client: Client, resource: Any, name: str, namespace: str) -> bool:
    return not await is_gone(client, resource, name, namespace)


async def test_a_budget_lets_one_pod_be_evicted_and_no_second(client: Client) -> None:
    for name in ("one", "two"):
        pod = {
            "metadata": {"name": name, "labels": {"app": "a"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        await client.create(PODS, pod, NAMESPACE)
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}
    await client.create(POD_DISRUPTION_BUDGETS, {"metadata": {"name": "b"}, "spec": spec}, NAMESPACE)

    async def allowed() -> int:
        budget = await client.get(POD_DISRUPTION_BUDGETS, "b", NAMESPACE)
        return int(budget["status"]["disruptionsAllowed"])

    await eventually(allowed)
    await evict(client, "one")
    with pytest.raises(KubeError, match="Cannot evict pod as it would violate the pod's disruption budget"):
        await evict(client, "two")
    await eventually(lambda: is_gone(client, PODS, "one"))
    assert not await is_gone(client, PODS, "two")


async def evict(client: Client, name: str) -> None:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    await client.request_json("POST", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/eviction", body=body)
