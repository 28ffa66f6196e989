"""The whole process against a small server: it starts, does its work, and ends as it should."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from api.constants import CONTROLLERS_NAME
from api.errors import ConfigurationError
from controllers.main import main
from controllers.settings import ControllersSettings
from kube.client.errors import Forbidden
from kube.process.lease import LeaseLost
from kube.process.settings import load_settings
from tests.controllers.builders import GROUP_NAME, WORKLOAD_NAME, job_manifest
from tests.controllers.small_server import SmallServer


@pytest.fixture
async def server() -> AsyncIterator[SmallServer]:
    async with SmallServer().running() as running:
        yield running


@pytest.fixture
def settings(server: SmallServer, tmp_path: Path) -> ControllersSettings:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        f"""
apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{server.port}"}}}}]
users: [{{name: u, user: {{token: t}}}}]
"""
    )
    return ControllersSettings(
        kubeconfig=str(kubeconfig),
        metrics_address="127.0.0.1:0",
        lease_seconds=3.0,
        renew_seconds=2.0,
        retry_seconds=0.2,
    )


async def run(settings: ControllersSettings, stop: asyncio.Event) -> int:
    return await main(settings, stop, registry=CollectorRegistry())


def lease(server: SmallServer) -> dict[str, str]:
    spec: dict[str, str] = server.objects["leases", "tutti-system", CONTROLLERS_NAME]["spec"]
    return spec


def is_released(server: SmallServer) -> bool:
    job = server.objects.get(("jobs", "default", "train"))
    return job is not None and job["spec"]["suspend"] is False


async def test_a_job_goes_all_the_way_and_a_stop_ends_the_process_cleanly(
    server: SmallServer, settings: ControllersSettings
) -> None:
    await server.put("jobs", job_manifest())
    stop = asyncio.Event()
    process = asyncio.ensure_future(run(settings, stop))
    await server.until(lambda: is_released(server))
    stop.set()
    assert await process == 0
    template = server.objects["jobs", "default", "train"]["spec"]["template"]["metadata"]
    assert template["annotations"]["tutti.scheduler/pod-group"] == GROUP_NAME
    assert ("workloads", "default", WORKLOAD_NAME) in server.objects
    assert lease(server)["holderIdentity"] == ""
    events = [found["reason"] for (plural, _, _), found in server.objects.items() if plural == "events"]
    assert sorted(events) == ["PodGroupCreated", "WorkloadCreated"]


async def test_a_write_under_way_at_a_stop_is_answered_before_the_lease_is_given_back(
    server: SmallServer, settings: ControllersSettings
) -> None:
    arrived, go_on = server.hold("PATCH", "/jobs/")
    await server.put("jobs", job_manifest())
    stop = asyncio.Event()
    process = asyncio.ensure_future(run(settings, stop))
    await arrived.wait()
    stop.set()
    before = server.objects["leases", "tutti-system", CONTROLLERS_NAME]
    await server.until(lambda: server.objects["leases", "tutti-system", CONTROLLERS_NAME] is not before)
    assert lease(server)["holderIdentity"] != ""
    go_on.set()
    assert await process == 0
    assert is_released(server)
    assert lease(server)["holderIdentity"] == ""


async def test_only_our_own_client_writes(server: SmallServer, settings: ControllersSettings) -> None:
    await server.put("jobs", job_manifest())
    stop = asyncio.Event()
    process = asyncio.ensure_future(run(settings, stop))
    await server.until(lambda: is_released(server))
    stop.set()
    await process
    writes = [write for write in server.writes if "leases" not in write.path]
    assert all(write.agent.startswith(CONTROLLERS_NAME) for write in writes)
    jobs = [(write.method, write.path) for write in writes if "/jobs/" in write.path]
    assert jobs == [("PATCH", "/apis/batch/v1/namespaces/default/jobs/train")]


async def test_a_standby_does_nothing_until_it_holds_the_lease(
    server: SmallServer, settings: ControllersSettings
) -> None:
    stop = asyncio.Event()
    first = asyncio.ensure_future(run(settings, stop))
    await server.until(lambda: ("leases", "tutti-system", CONTROLLERS_NAME) in server.objects)
    holder = lease(server)["holderIdentity"]
    stop_second = asyncio.Event()
    second = asyncio.ensure_future(run(settings.model_copy(update={"identity": "second"}), stop_second))
    await server.put("jobs", job_manifest())
    await server.until(lambda: is_released(server))
    assert lease(server)["holderIdentity"] == holder
    assert not any("second" in write.agent for write in server.writes if "/jobs/" in write.path)
    stop_second.set()
    assert await second == 0
    stop.set()
    assert await first == 0


async def test_losing_the_lease_ends_the_process(server: SmallServer, settings: ControllersSettings) -> None:
    process = asyncio.ensure_future(run(settings, asyncio.Event()))
    await server.until(lambda: ("leases", "tutti-system", CONTROLLERS_NAME) in server.objects)
    stolen = server.objects["leases", "tutti-system", CONTROLLERS_NAME]
    await server.put("leases", stolen | {"spec": stolen["spec"] | {"holderIdentity": "somebody else"}})
    with pytest.raises(LeaseLost):
        await asyncio.wait_for(process, 20)


async def test_a_broken_watch_of_jobs_is_waited_out(server: SmallServer, settings: ControllersSettings) -> None:
    server.break_watch_of("jobs")
    stop = asyncio.Event()
    process = asyncio.ensure_future(run(settings, stop))
    await server.until(lambda: ("leases", "tutti-system", CONTROLLERS_NAME) in server.objects)
    await server.put("jobs", job_manifest())
    await server.until(lambda: is_released(server))
    assert not process.done()
    stop.set()
    assert await process == 0


@pytest.mark.parametrize("plural", ["jobs", "pods", "workloads", "podgroups"])
async def test_a_missing_right_ends_the_start_and_is_named(
    server: SmallServer, settings: ControllersSettings, plural: str
) -> None:
    server.forbid(plural)
    with pytest.raises(Forbidden, match=plural):
        await run(settings, asyncio.Event())
    assert [write for write in server.writes if "configmaps" not in write.path] == []


async def test_settings_that_nobody_knows_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("workerz: 3\n")
    with pytest.raises(ConfigurationError, match="workerz"):
        load_settings(ControllersSettings, str(file))
