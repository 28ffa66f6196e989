"""The kubernetes client's ordinary use, and kopf's, against a running server."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import kopf
import kubernetes
import pytest
from kubernetes import dynamic

from localcluster.apiserver.files import ServerFiles, admin_token, write_kubeconfig
from localcluster.apiserver.server import ApiServer
from tests.localcluster.apiserver.rest import Rest, job, pod

PATIENCE_SECONDS = 20.0
THINGS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"n": {"type": "integer"}}},
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
        ],
    },
}


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
        first = core.list_namespaced_config_map("default", limit=1)
        assert first.metadata._continue is None
        core.delete_namespaced_pod("p", "default")
        with pytest.raises(kubernetes.client.ApiException) as missing:
            core.read_namespaced_pod("p", "default")
        assert missing.value.status == 404


def use_it_for_objects_of_all_kinds(path: Path) -> None:
    """Models and dictionaries, pages, replaced objects, stale ones, other sorts of patches, and status apart."""
    with kubernetes.config.new_client_from_config(str(path)) as client:
        core, batch = kubernetes.client.CoreV1Api(client), kubernetes.client.BatchV1Api(client)
        for number in range(5):
            metadata = kubernetes.client.V1ObjectMeta(name=f"m-{number}", labels={"of": "five"})
            core.create_namespaced_config_map("default", kubernetes.client.V1ConfigMap(metadata=metadata))
        names, token = [], None
        while token != "":
            page = core.list_namespaced_config_map("default", label_selector="of=five", limit=2, _continue=token)
            names += [each.metadata.name for each in page.items]
            token = page.metadata._continue or ""
        assert names == [f"m-{number}" for number in range(5)]
        stale = core.read_namespaced_config_map("m-0", "default")
        fresh = core.read_namespaced_config_map("m-0", "default")
        fresh.data = {"a": "b"}
        assert core.replace_namespaced_config_map("m-0", "default", fresh).data == {"a": "b"}
        with pytest.raises(kubernetes.client.ApiException) as conflict:
            core.replace_namespaced_config_map("m-0", "default", stale)
        assert conflict.value.status == 409
        core.delete_collection_namespaced_config_map("default", label_selector="of=five")
        kubernetes.utils.create_from_dict(
            client, {"apiVersion": "batch/v1", "kind": "Job", **job("made", suspend=True)}
        )
        operations = [{"op": "replace", "path": "/spec/parallelism", "value": 3}]
        assert batch.patch_namespaced_job("made", "default", operations).spec.parallelism == 3
        status = {"status": {"conditions": [{"type": "Custom", "status": "True"}]}}
        assert batch.patch_namespaced_job_status("made", "default", status).status.conditions[0].type == "Custom"
        batch.delete_namespaced_job("made", "default", propagation_policy="Background")
        assert batch.list_job_for_all_namespaces().items == []


def use_it_for_custom_objects(path: Path) -> None:
    with kubernetes.config.new_client_from_config(str(path)) as client:
        kubernetes.client.ApiextensionsV1Api(client).create_custom_resource_definition(THINGS)
        things = kubernetes.client.CustomObjectsApi(client)
        where = ("example.com", "v1", "default", "things")
        body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"n": 1}}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(
            group.name == "example.com" for group in kubernetes.client.ApisApi(client).get_api_versions().groups
        ):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        made = things.create_namespaced_custom_object(*where, body)
        assert made["metadata"]["generation"] == 1
        assert things.patch_namespaced_custom_object(*where, "t", {"spec": {"n": 2}})["metadata"]["generation"] == 2
        with pytest.raises(kubernetes.client.ApiException) as refused:
            things.patch_namespaced_custom_object(*where, "t", {"spec": {"n": "two"}})
        assert refused.value.status == 422
        assert [each["spec"]["n"] for each in things.list_namespaced_custom_object(*where)["items"]] == [2]
        things.delete_namespaced_custom_object(*where, "t")


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
@pytest.mark.parametrize(
    "use", [use_the_client, use_it_for_objects_of_all_kinds, use_it_for_custom_objects, use_the_dynamic_client]
)
async def test_the_kubernetes_client_works(use: Callable[[Path], None], kubeconfig: Path) -> None:
    await asyncio.to_thread(use, kubeconfig)


def operator(server: ApiServer, files: ServerFiles) -> kopf.OperatorRegistry:
    """Nothing but a way to log in."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def login(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(server=server.url, ca_path=str(files.ca), token=admin_token(files.tokens))

    return registry


def quiet_settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.process.ultimate_exiting_timeout = None
    return settings


async def test_kopf_sees_an_object_and_patches_it(rest: Rest, server: ApiServer, files: ServerFiles) -> None:
    registry = operator(server, files)

    @kopf.on.create("configmaps", registry=registry)
    def created(patch: kopf.Patch, **_: Any) -> None:
        patch.metadata.labels["seen"] = "yes"

    stop = threading.Event()
    running = asyncio.create_task(
        kopf.operator(registry=registry, settings=quiet_settings(), clusterwide=True, stop_flag=stop, standalone=True)
    )
    path = "/api/v1/namespaces/default/configmaps"
    await rest.create(path, {"metadata": {"name": "m"}})
    try:
        events = await rest.watch(f"{path}?watch=1&labelSelector=seen%3Dyes", 1)
        assert events[0]["object"]["metadata"]["name"] == "m"
    finally:
        stop.set()
        await asyncio.wait_for(running, 10)
        await connections_end()


async def test_an_operator_that_is_run_follows_a_custom_object_through_its_life(
    rest: Rest, server: ApiServer, files: ServerFiles
) -> None:
    """As `kopf run` does, in a thread of its own: changes with their difference, results in the status, a finalizer."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    await rest.create(definitions, THINGS)
    registry, seen = operator(server, files), list[str]()

    @kopf.on.create("example.com", "v1", "things", registry=registry)
    def created(spec: kopf.Spec, **_: Any) -> dict[str, int]:
        seen.append("created")
        return {"doubled": spec["n"] * 2}

    @kopf.on.field("example.com", "v1", "things", field="spec.n", registry=registry)
    def changed(old: Any, new: Any, **_: Any) -> None:
        seen.append(f"n: {old} to {new}")

    @kopf.on.delete("example.com", "v1", "things", registry=registry)
    def deleted(**_: Any) -> None:
        seen.append("deleted")

    stop = threading.Event()

    def run() -> None:
        with asyncio.Runner() as runner:
            settings, loop = quiet_settings(), runner.get_loop()
            kopf.run(registry=registry, settings=settings, stop_flag=stop, clusterwide=True, standalone=True, loop=loop)
            runner.run(connections_end())

    running = asyncio.create_task(asyncio.to_thread(run))
    path = "/apis/example.com/v1/namespaces/default/things"
    try:
        await until(lambda: made(rest, path))
        await until(lambda: says(rest, f"{path}/t", "doubled"))
        assert (await rest.get(f"{path}/t"))["metadata"]["finalizers"]
        await rest.patch(f"{path}/t", {"spec": {"n": 2}})
        await until(lambda: reached(seen, "n: 1 to 2"))
        await rest.ask("DELETE", f"{path}/t")
        await until(lambda: gone(rest, f"{path}/t"))
    finally:
        stop.set()
        await asyncio.wait_for(running, PATIENCE_SECONDS)
    assert {"created", "n: None to 1", "n: 1 to 2", "deleted"} <= set(seen)


async def connections_end() -> None:
    """The operator leaves encrypted connections that wait for the other side to end; aiohttp says to give them a moment."""
    await asyncio.sleep(0.25)


async def until(check: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await check():  # noqa: ASYNC110 (what has become of an object can only be asked)
            await asyncio.sleep(0.05)


async def made(rest: Rest, path: str) -> bool:
    """Whether the object could be made; its kind is served a moment after its definition."""
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"n": 1}}
    return (await rest.ask("POST", path, body)).code == 201


async def says(rest: Rest, path: str, word: str) -> bool:
    return word in str((await rest.get(path)).get("status"))


async def reached(seen: list[str], word: str) -> bool:
    return word in seen


async def gone(rest: Rest, path: str) -> bool:
    return (await rest.ask("GET", path)).code == 404
