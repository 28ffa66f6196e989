"""A certificate that somebody else keeps: served, followed when it changes, and nothing is written anywhere."""

import asyncio
import datetime as dt
import random
import ssl
from pathlib import Path

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from api.constants import METRIC_CERTIFICATE_EXPIRY_SECONDS, PATH_MUTATE_JOBS
from api.errors import ConfigurationError
from install.address import free_ports
from kube.process.settings import load_settings
from tests.webhooks.builders import job, review
from tests.webhooks.small_api import SmallApi
from tests.webhooks.test_main import prepared, ready, settings_for
from webhooks.certificates.bundle import CertBundle, pem_of, rotated
from webhooks.certificates.files import CERTIFICATE, KEY, to_files
from webhooks.certificates.tls import server_context
from webhooks.certificates.watcher import CertWatcher
from webhooks.main import main
from webhooks.settings import WebhooksSettings

LOCAL = "127.0.0.1"


def bundle(host: str = LOCAL) -> CertBundle:
    return rotated(None, hosts=[host], now=dt.datetime.now(dt.UTC))


def put(folder: Path, found: CertBundle, *names: str) -> None:
    for name in names or (CERTIFICATE, KEY):
        (folder / name).write_bytes(to_files(found)[name])


async def test_the_process_serves_with_it_and_writes_no_configuration(tmp_path: Path) -> None:
    listen, metrics = free_ports(2)
    given, stop, registry = bundle(), asyncio.Event(), CollectorRegistry()
    put(tmp_path, given)
    async with SmallApi() as api, aiohttp.ClientSession() as session:
        prepared(api)
        base = settings_for(api, tmp_path, listen=listen, metrics=metrics)
        settings = base.model_copy(update={"certificates_folder": None, "given_certificates": tmp_path})
        running = asyncio.create_task(main(settings, stop, registry=registry))
        assert await ready(session, metrics) == "ok\n"
        trust = ssl.create_default_context(cadata=pem_of(given.authorities[0].certificate).decode())
        async with session.post(f"https://{LOCAL}:{listen}{PATH_MUTATE_JOBS}", json=review(job()), ssl=trust) as answer:
            assert answer.status == 200
        assert registry.get_sample_value(METRIC_CERTIFICATE_EXPIRY_SECONDS) == given.leaf.ends.timestamp()
        assert not api.written.is_set()
        stop.set()
        assert await running == 0


async def test_another_certificate_is_used_from_the_next_look_on(tmp_path: Path) -> None:
    told: list[dt.datetime] = []
    keeper = CertWatcher(tmp_path, server_context(), random=random.Random(1), on_change=told.append)
    assert not keeper.is_loaded
    first, second = bundle(), bundle()
    put(tmp_path, first)
    await keeper.refresh()
    await keeper.refresh()
    assert told == [first.leaf.ends]
    put(tmp_path, second)
    await keeper.refresh()
    assert told == [first.leaf.ends, second.leaf.ends]
    assert keeper.is_loaded


async def test_half_a_change_is_waited_out_and_what_was_in_use_stays(tmp_path: Path) -> None:
    context = server_context()
    keeper = CertWatcher(tmp_path, context, random=random.Random(1))
    first = bundle()
    put(tmp_path, first)
    await keeper.refresh()
    put(tmp_path, bundle(), CERTIFICATE)
    with pytest.raises(ConfigurationError, match=r"tls.crt and tls.key are no certificate with its key"):
        await keeper.refresh()
    assert await shown_by(context, first) == pem_of(first.leaf.certificate)


async def shown_by(context: ssl.SSLContext, trusted: CertBundle) -> bytes:
    """The certificate that a server with this context shows."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), LOCAL, 0, ssl=context)
    async with server:
        trust = ssl.create_default_context(cadata=pem_of(trusted.authorities[0].certificate).decode())
        port = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection(LOCAL, port, ssl=trust, server_hostname=LOCAL)
        found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
    return ssl.DER_cert_to_PEM_cert(found).encode()


async def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    keeper = CertWatcher(tmp_path, server_context(), random=random.Random(1))
    with pytest.raises(ConfigurationError, match=r"cannot read .*tls.crt: No such file"):
        await keeper.refresh()


def test_certificates_come_from_one_place_only(tmp_path: Path) -> None:
    both = {"given_certificates": str(tmp_path), "certificates_folder": str(tmp_path)}
    with pytest.raises(ConfigurationError, match="exclude each other"):
        load_settings(WebhooksSettings, None, **both)
