"""The kubernetes client's ordinary use, and kopf's, against a running server."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kopf
import kubernetes
import pytest
from kubernetes import dynamic

from localcluster.apiserver.files import ServerFiles, admin_token, write_kubeconfig
from localcluster.apiserver.server import ApiServer
from tests.localcluster.apiserver.rest import Rest, job, pod


@pytest.fixture
def kubeconfig(server: ApiServer, files: ServerFiles, tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, server=server.url, ca=files.ca, token=admin_token(files.tokens))
    return path


def use_the_client(path: Path) -> None:
    with kubernetes.config.new_client_from_config(str(path)) as client:
        core = kubernetes.client.CoreV1Api(client)
        core.create_namespaced_pod("default", {"apiVersion": "v1", "kind": "Pod", **pod()})
        assert core.read_namespaced_pod("p", "default").status.phase == "Pending"
        core.patch_namespaced_pod("p", "default", {"metadata": {"labels": {"a": "b"}}})
        found = core.list_namespaced_pod("default", label_selector="a=b", field_selector="status.phase=Pending")
        assert [each.metadata.name for each in found.items] == ["p"]
        stream = kubernetes.watch.Watch().stream(core.list_pod_for_all_namespaces, timeout_seconds=1)
        assert [event["object"].metadata.name for event in stream] == ["p"]
        core.delete_namespaced_pod("p", "default")
        with pytest.raises(kubernetes.client.ApiException) as missing:
            core.read_namespaced_pod("p", "default")
        assert missing.value.status == 404


def use_the_dynamic_client(path: Path) -> None:
    with kubernetes.config.new_client_from_config(str(path)) as client:
        jobs = dynamic.DynamicClient(client).resources.get(api_version="batch/v1", kind="Job")
        made = jobs.create(body={"apiVersion": "batch/v1", "kind": "Job", **job(suspend=True)}, namespace="default")
        assert made.spec.completions == 1
        patch = {"spec": {"parallelism": 2}}
        jobs.patch(name="j", namespace="default", body=patch, content_type="application/merge-patch+json")
        assert [each.spec.parallelism for each in jobs.get(namespace="default").items] == [2]
        jobs.delete(name="j", namespace="default", body={"propagationPolicy": "Background"})


@pytest.mark.filterwarnings("ignore:.*getheaders.*:DeprecationWarning")
@pytest.mark.parametrize("use", [use_the_client, use_the_dynamic_client])
async def test_the_kubernetes_client_works(use: Callable[[Path], None], kubeconfig: Path) -> None:
    await asyncio.to_thread(use, kubeconfig)


async def test_kopf_sees_an_object_and_patches_it(rest: Rest, server: ApiServer, files: ServerFiles) -> None:
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def login(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(server=server.url, ca_path=str(files.ca), token=admin_token(files.tokens))

    @kopf.on.create("configmaps", registry=registry)
    def created(patch: kopf.Patch, **_: Any) -> None:
        patch.metadata.labels["seen"] = "yes"

    stop = threading.Event()
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.process.ultimate_exiting_timeout = None
    running = asyncio.create_task(
        kopf.operator(registry=registry, settings=settings, clusterwide=True, stop_flag=stop, standalone=True)
    )
    path = "/api/v1/namespaces/default/configmaps"
    await rest.create(path, {"metadata": {"name": "m"}})
    try:
        events = await rest.watch(f"{path}?watch=1&labelSelector=seen%3Dyes", 1)
        assert events[0]["object"]["metadata"]["name"] == "m"
    finally:
        stop.set()
        await asyncio.wait_for(running, 10)
