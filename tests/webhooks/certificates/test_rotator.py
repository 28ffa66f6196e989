"""Certificates that outlive the process, agree between replicas and change under load."""

import asyncio
import datetime as dt
import json
import random
import ssl
import stat
import threading
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from api.constants import PATH_MUTATE_JOBS
from api.errors import ConfigurationError, TuttiError
from kube.client.client import Client
from kube.client.resources import SECRETS
from tests.webhooks.builders import job, review
from tests.webhooks.running import HOST, RunningServer
from tests.webhooks.small_api import SmallApi
from webhooks.certificates.bundle import AUTHORITY_LIFE, LEAF_LIFE, CertBundle, make_authority, make_leaf
from webhooks.certificates.files import CERTIFICATE, NAMES, PRIVATE, to_files
from webhooks.certificates.rotator import CertRotator
from webhooks.certificates.stores import BundleStore, FolderStore, SecretStore
from webhooks.certificates.tls import load_bundle, server_context

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
SECRET = SECRETS.path("tutti-system", "tutti-webhooks-certificates")


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> dt.datetime:
        return self.now


def keeper(store: BundleStore, clock: Clock, *, seed: int = 1, context: ssl.SSLContext | None = None) -> CertRotator:
    return CertRotator(store, context or server_context(), hosts=[HOST], wall_clock=clock, random=random.Random(seed))


def secret_store(client: Client) -> SecretStore:
    return SecretStore(client, "tutti-system")


async def test_the_first_replica_makes_the_secret_and_the_second_uses_it() -> None:
    async with SmallApi() as api, api.client() as client:
        first = await keeper(secret_store(client), Clock()).refresh()
        second = await keeper(secret_store(client), Clock()).refresh()
        assert to_files(first) == to_files(second)
        assert api.writes == [("POST", SECRETS.path("tutti-system"))]
        assert set(api.objects[SECRET]["data"]) == set(NAMES)


async def test_replicas_that_start_at_once_agree() -> None:
    async with SmallApi() as api, api.client() as client:
        keepers = [keeper(secret_store(client), Clock(), seed=seed) for seed in range(5)]
        bundles = await asyncio.gather(*(each.refresh() for each in keepers))
        assert len({to_files(bundle)[CERTIFICATE] for bundle in bundles}) == 1


async def test_replicas_that_renew_at_once_agree() -> None:
    async with SmallApi() as api, api.client() as client:
        clock = Clock()
        keepers = [keeper(secret_store(client), clock, seed=seed) for seed in range(5)]
        before = await keepers[0].refresh()
        clock.now += LEAF_LIFE * 2 / 3
        after = await asyncio.gather(*(each.refresh() for each in keepers))
        assert len({to_files(bundle)[CERTIFICATE] for bundle in after}) == 1
        assert after[0].leaf != before.leaf
        assert after[0].ca_bundle == before.ca_bundle


async def test_a_broken_secret_is_made_anew() -> None:
    async with SmallApi() as api, api.client() as client:
        api.put(SECRET, {"metadata": {"name": "tutti-webhooks-certificates"}, "data": {"tls.crt": "%%%"}})
        await keeper(secret_store(client), Clock()).refresh()
        assert set(api.objects[SECRET]["data"]) == set(NAMES)


async def test_at_rest_nothing_is_written() -> None:
    async with SmallApi() as api, api.client() as client:
        kept = keeper(secret_store(client), Clock())
        await kept.refresh()
        api.writes.clear()
        for _ in range(3):
            await kept.refresh()
        assert api.writes == []


async def test_a_folder_keeps_the_certificates_over_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "certificates"
    first = await keeper(FolderStore(folder), Clock()).refresh()
    second = await keeper(FolderStore(folder), Clock()).refresh()
    assert to_files(first) == to_files(second)
    assert {path.name for path in folder.iterdir()} == set(NAMES)
    assert all(stat.S_IMODE((folder / name).stat().st_mode) == 0o600 for name in PRIVATE)


async def test_a_half_written_folder_heals(tmp_path: Path) -> None:
    await keeper(FolderStore(tmp_path), Clock()).refresh()
    (tmp_path / "tls.key").write_text("cut of")
    await keeper(FolderStore(tmp_path), Clock()).refresh()
    assert (await FolderStore(tmp_path).load()).bundle is not None


async def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="cannot write certificates to"):
        await keeper(FolderStore(tmp_path / "file" / "below"), Clock()).refresh()


async def test_a_secret_that_is_lost_or_out_of_date_while_it_runs_gets_back_what_is_in_use() -> None:
    async with SmallApi() as api, api.client() as client:
        clock = Clock()
        kept = keeper(secret_store(client), clock)
        before = await kept.refresh()
        del api.objects[SECRET]
        assert to_files(await kept.refresh()) == to_files(before)
        old = make_authority(START - AUTHORITY_LIFE - dt.timedelta(days=1))
        for stored in (
            CertBundle((old,), make_leaf(old, [HOST], old.made)),
            CertBundle(before.authorities, make_leaf(old, [HOST], old.made)),
        ):
            found = await secret_store(client).load()
            assert await secret_store(client).save(stored, found.version)
            assert to_files(await kept.refresh()) == to_files(before)
            assert to_files((await secret_store(client).load()).bundle or stored) == to_files(before)


async def test_what_is_in_use_is_not_put_back_once_it_is_out_of_date_itself() -> None:
    async with SmallApi() as api, api.client() as client:
        clock = Clock()
        kept = keeper(secret_store(client), clock)
        before = await kept.refresh()
        clock.now += AUTHORITY_LIFE
        del api.objects[SECRET]
        after = await kept.refresh()
        assert after.is_trusted(clock.now)
        assert not set(after.authorities) & set(before.authorities)


async def test_another_certificate_is_introduced_before_it_is_used(tmp_path: Path) -> None:
    introduced: list[CertBundle] = []
    reachable = False

    async def introduce(bundle: CertBundle) -> None:
        if not reachable:
            raise TuttiError("nobody there")
        introduced.append(bundle)

    kept = CertRotator(
        FolderStore(tmp_path),
        server_context(),
        hosts=[HOST],
        wall_clock=Clock(),
        random=random.Random(1),
        introduce=introduce,
    )
    before = await kept.refresh()
    assert introduced == [], "there is none that could go on meanwhile"
    foreign = make_authority(START)
    other = CertBundle((foreign,), make_leaf(foreign, [HOST], START))
    for name, content in to_files(other).items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TuttiError, match="nobody there"):
        await kept.refresh()
    assert kept.bundle is before
    reachable = True
    await kept.refresh()
    assert [to_files(bundle) for bundle in introduced] == [to_files(other)]
    assert kept.bundle is not None
    assert to_files(kept.bundle) == to_files(other)


async def test_only_a_change_is_told(tmp_path: Path) -> None:
    told: list[CertBundle] = []
    clock = Clock()
    kept = CertRotator(
        FolderStore(tmp_path),
        server_context(),
        hosts=[HOST],
        wall_clock=clock,
        random=random.Random(1),
        on_change=told.append,
    )
    await kept.refresh()
    await kept.refresh()
    assert len(told) == 1
    clock.now += LEAF_LIFE * 2 / 3
    await kept.refresh()
    assert len(told) == 2


def test_rotation_under_load_drops_no_request(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = dt.datetime.now(dt.UTC)
    body = json.dumps(review(job())).encode()
    with RunningServer() as server:
        kept = keeper(FolderStore(tmp_path), clock, context=server.context)
        server.bundle = server.run(kept.refresh())
        failures: list[object] = []
        answered = [0, 0, 0]
        over = threading.Event()

        def load(number: int) -> None:
            while not over.is_set():
                try:
                    answer = server.post(PATH_MUTATE_JOBS, body)
                except Exception as error:  # noqa: BLE001 (whatever goes wrong is the finding)
                    failures.append(error)
                    return
                if answer.status != 200:
                    failures.append(answer)
                answered[number] += 1

        threads = [threading.Thread(target=load, args=(number,)) for number in range(len(answered))]
        for thread in threads:
            thread.start()
        served = set()
        for _ in range(8):
            before = list(answered)
            clock.now += dt.timedelta(seconds=1)
            bundle = server.run(_renew_leaf(kept, tmp_path, server.bundle, clock.now))
            with server.connect() as connection:
                served.add(connection.getpeercert(binary_form=True))
            assert served_last(bundle) in served
            while any(now <= then for now, then in zip(answered, before, strict=True)) and not failures:
                over.wait(0.001)
        over.set()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(served) == 8


def served_last(bundle: CertBundle) -> bytes:
    return bundle.leaf.certificate.public_bytes(Encoding.DER)


async def _renew_leaf(kept: CertRotator, folder: Path, bundle: CertBundle, now: dt.datetime) -> CertBundle:
    """What another replica does: a new serving certificate of the same authority appears in the store."""
    leaf = make_leaf(bundle.authorities[0], [HOST], now)
    for name, content in to_files(CertBundle(bundle.authorities, leaf)).items():
        (folder / name).write_bytes(content)
    return await kept.refresh()


def test_a_context_without_a_memory_file_system_gets_its_chain_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr("os.memfd_create", raising=False)
    with RunningServer() as server:
        load_bundle(server.context, server.bundle)
        with server.connect() as connection:
            assert connection.version() is not None
