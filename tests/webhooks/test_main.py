"""The whole process against a small API server."""

import asyncio
import json
import socket
import ssl
from pathlib import Path

import aiohttp
import pytest
import yaml
from aiohttp import web
from prometheus_client import CollectorRegistry

from api.constants import MUTATING_CONFIGURATION, PATH_MUTATE_JOBS
from api.errors import ConfigurationError
from install.address import free_ports
from kube.client.resources import MUTATING_WEBHOOKS, NAMESPACES, PRIORITY_CLASSES
from kube.process.settings import load_settings
from tests.webhooks.builders import job, review
from tests.webhooks.small_api import SmallApi
from webhooks.main import main
from webhooks.settings import WebhooksSettings

MUTATING = MUTATING_WEBHOOKS.path(None, MUTATING_CONFIGURATION)


def prepared(api: SmallApi) -> None:
    """A cluster with our CRDs, the record of the group API, and the mutating configuration."""
    resources = [{"name": "workloads"}, {"name": "podgroups"}]
    api.objects["/version"] = {"major": "1", "minor": "37"}
    api.objects["/apis/tutti.scheduler/v1beta1"] = {"resources": resources}
    api.put("/api/v1/namespaces/tutti-system/configmaps/tutti-group-api", {"data": {"group-api": "own"}})
    api.lists[PRIORITY_CLASSES.path()] = [{"metadata": {"name": "high"}, "value": 1000}]
    api.lists[NAMESPACES.path()] = [{"metadata": {"name": "default"}}]
    api.put(MUTATING, yaml.safe_load((Path(__file__).parents[2] / "config/webhook/mutating.yaml").read_text()))


def settings_for(
    api: SmallApi, folder: Path, *, listen: int, metrics: int, is_behind_a_service: bool = False
) -> WebhooksSettings:
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": api.url}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
            }
        )
    )
    return load_settings(
        WebhooksSettings,
        None,
        kubeconfig=str(kubeconfig),
        listen=f"127.0.0.1:{listen}",
        url=None if is_behind_a_service else f"https://127.0.0.1:{listen}",
        certificates_folder=str(folder / "certificates"),
        metrics_address=f"127.0.0.1:{metrics}",
    )


async def ready(session: aiohttp.ClientSession, metrics: int) -> str:
    """Waits until the process says that it is ready, and gives what it said."""
    async with asyncio.timeout(20):
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{metrics}/readyz") as answer:
                    text = await answer.text()
                    if answer.status == 200:
                        return text
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.01)


async def test_the_process_serves_registers_itself_and_ends_cleanly(tmp_path: Path) -> None:
    listen, metrics = free_ports(2)
    stop = asyncio.Event()
    async with SmallApi() as api, aiohttp.ClientSession() as session:
        prepared(api)
        settings = settings_for(api, tmp_path, listen=listen, metrics=metrics)
        running = asyncio.create_task(main(settings, stop, registry=CollectorRegistry()))
        assert await ready(session, metrics) == "ok\n"

        trust = ssl.create_default_context(cafile=str(tmp_path / "certificates" / "ca.crt"))
        url = f"https://127.0.0.1:{listen}{PATH_MUTATE_JOBS}"
        async with session.post(url, json=review(job()), ssl=trust) as answer:
            assert answer.status == 200
            assert (await answer.json())["response"]["patchType"] == "JSONPatch"
        async with session.get(f"http://127.0.0.1:{metrics}/metrics") as answer:
            text = await answer.text()
            assert "tutti_admission_duration_seconds_count" in text
            assert "tutti_webhook_certificate_expiry_timestamp_seconds" in text

        async with asyncio.timeout(20):
            await api.written.wait()
        assert api.objects[MUTATING]["webhooks"][0]["clientConfig"]["url"] == url

        stop.set()
        assert await running == 0


async def test_by_url_it_is_ready_before_it_is_registered(tmp_path: Path) -> None:
    """Configurations of a run that was killed name its port; who starts it again points them here once it is ready."""
    listen, metrics = free_ports(2)
    stop = asyncio.Event()
    async with SmallApi() as api, aiohttp.ClientSession() as session:
        prepared(api)
        api.before_write = forbid
        settings = settings_for(api, tmp_path, listen=listen, metrics=metrics)
        running = asyncio.create_task(main(settings, stop, registry=CollectorRegistry()))
        assert await ready(session, metrics) == "ok\n"

        stop.set()
        assert await running == 0


def forbid() -> None:
    raise web.HTTPForbidden


async def test_asked_to_stop_it_turns_unready_and_goes_on_serving_for_a_while(tmp_path: Path) -> None:
    listen, metrics = free_ports(2)
    stop = asyncio.Event()
    async with SmallApi() as api, aiohttp.ClientSession() as session:
        prepared(api)
        settings = settings_for(api, tmp_path, listen=listen, metrics=metrics, is_behind_a_service=True)
        running = asyncio.create_task(main(settings, stop, registry=CollectorRegistry()))
        await ready(session, metrics)
        stop.set()
        async with session.get(f"http://127.0.0.1:{metrics}/readyz") as answer:
            assert (answer.status, await answer.text()) == (503, "stopping: the process was asked to stop\n")
        trust = ssl.create_default_context(cafile=str(tmp_path / "certificates" / "ca.crt"))
        trust.check_hostname = False
        url = f"https://127.0.0.1:{listen}{PATH_MUTATE_JOBS}"
        async with session.post(url, json=review(job()), ssl=trust) as answer:
            assert (answer.status, answer.headers["Connection"]) == (200, "close")
        assert not running.done()
        running.cancel()
        await asyncio.wait([running])


async def test_an_address_that_is_taken_is_one_clear_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        async with SmallApi() as api:
            prepared(api)
            settings = settings_for(api, tmp_path, listen=taken.getsockname()[1], metrics=free_ports(1)[0])
            with pytest.raises(ConfigurationError, match=r"cannot listen on 127\.0\.0\.1"):
                await main(settings, asyncio.Event(), registry=CollectorRegistry())
