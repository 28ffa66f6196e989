"""The elector stops before anybody else may start, whatever the server and the process go through."""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from api.errors import ConfigurationError
from kube.process.elapsed import elapsed_seconds
from kube.process.lease import LeaderElector
from tests.kube.process.lease_server import LeaseServer, lease_of

PATIENT = {"lease_seconds": 20.0, "renew_seconds": 10.0, "retry_seconds": 0.05}
"""So long that no pause of a busy machine ends a lease."""
QUICK = {**PATIENT, "lease_seconds": 1.5, "renew_seconds": 0.8}
"""Where a lease has to end."""


@pytest.fixture
async def leases() -> AsyncIterator[LeaseServer]:
    async with LeaseServer() as running:
        yield running


@contextlib.asynccontextmanager
async def candidate(leases: LeaseServer, identity: str = "me", **options: Any) -> AsyncIterator[LeaderElector]:
    elector = LeaderElector(
        credentials=leases.credentials, namespace="ns", name="l", identity=identity, **{**PATIENT, **options}
    )
    try:
        yield elector
    finally:
        leases.fault = ""
        await elector.release()


async def test_the_lease_is_created_when_absent(leases: LeaseServer) -> None:
    async with candidate(leases) as elector:
        assert not elector.holds()
        await elector.acquire()
        assert elector.holds()
        spec = dict(leases.spec)
    assert spec["holderIdentity"] == "me"
    assert spec["leaseTransitions"] == 0
    for stamp in (spec["acquireTime"], spec["renewTime"]):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", stamp)


async def test_the_lease_is_as_old_as_the_last_renewal_and_has_no_age_when_it_is_not_held(leases: LeaseServer) -> None:
    async with candidate(leases) as elector:
        assert elector.age_seconds() is None
        begun = elapsed_seconds()
        await elector.acquire()
        age = elector.age_seconds()
        assert age is not None
        assert 0 <= age <= elapsed_seconds() - begun
        await elector.release()
        assert elector.age_seconds() is None


async def test_renewals_keep_it_and_carry_the_resource_version(leases: LeaseServer) -> None:
    async with candidate(leases) as elector:
        await elector.acquire()
        acquired = leases.spec["acquireTime"]
        requests = await leases.received(8)
        assert elector.holds()
        assert leases.spec["acquireTime"] == acquired
        puts = [seen.json for seen in requests if seen.method == "PUT"]
    assert [put["metadata"]["resourceVersion"] for put in puts[:3]] == ["1", "2", "3"]
    assert puts[0]["spec"]["renewTime"] < puts[1]["spec"]["renewTime"]


async def test_a_released_lease_is_taken_at_once_and_the_transition_counted(leases: LeaseServer) -> None:
    leases.write(lease_of("", transitions=4))
    async with candidate(leases) as elector:
        await elector.acquire()
        assert leases.spec["leaseTransitions"] == 5


async def test_a_lease_in_use_is_taken_only_after_it_did_not_change_for_its_duration(leases: LeaseServer) -> None:
    leases.write(lease_of("other", duration=1))
    async with candidate(leases) as elector:
        begun = time.monotonic()
        await elector.acquire()
        assert time.monotonic() - begun >= 1.0
        assert leases.spec["leaseTransitions"] == 1


async def test_a_lease_under_our_own_name_from_an_earlier_life_is_somebody_elses(leases: LeaseServer) -> None:
    leases.write(lease_of("me", duration=1))
    async with candidate(leases) as elector:
        begun = time.monotonic()
        await elector.acquire()
        assert time.monotonic() - begun >= 1.0
        assert leases.spec["leaseTransitions"] == 0


async def test_a_hung_server_ends_holding_before_the_lease_can_expire(leases: LeaseServer) -> None:
    async with candidate(leases, "me", **QUICK) as elector:
        await elector.acquire()
        leases.fault = "hang"
        await leases.hanging.wait()
        last_write = time.monotonic()  # no renewal can have begun later than this
        async with asyncio.timeout(5):
            await elector.lost.wait()
        assert not elector.holds()
        assert time.monotonic() - last_write < QUICK["lease_seconds"]


async def test_a_server_that_recovers_in_time_changes_nothing(leases: LeaseServer) -> None:
    async with candidate(leases) as elector:
        await elector.acquire()
        leases.fault = "refuse"
        await leases.received(len(leases.requests) + 4)
        leases.fault = ""
        writes = len(leases.holders)
        await leases.received(len(leases.requests) + 6)
        assert len(leases.holders) > writes
        assert elector.holds()
        assert not elector.lost.is_set()


async def test_lost_answers_of_renewals_are_looked_up(leases: LeaseServer) -> None:
    async with candidate(leases) as elector:
        await elector.acquire()
        leases.fault = "lose answers"
        await leases.received(len(leases.requests) + 6)
        leases.fault = ""
        await leases.received(len(leases.requests) + 4)
        assert elector.holds()
        assert set(leases.holders) == {"me"}


async def test_a_lost_answer_of_the_take_over_does_not_lock_us_out(leases: LeaseServer) -> None:
    leases.fault = "lose answers"
    async with candidate(leases) as elector:
        task = asyncio.create_task(elector.acquire())
        await leases.received(2)
        leases.fault = ""
        async with asyncio.timeout(5):  # far less than the lease's duration
            await task
        assert elector.holds()


async def test_a_lease_taken_by_somebody_else_is_lost_at_once(leases: LeaseServer) -> None:
    async with candidate(leases, lease_seconds=60, renew_seconds=50) as elector:
        await elector.acquire()
        leases.write(lease_of("thief"))
        async with asyncio.timeout(5):
            await elector.lost.wait()
        assert not elector.holds()
    assert leases.holders[-1] == "thief"


async def test_a_lease_taken_by_a_process_of_our_own_name_is_lost_too(leases: LeaseServer) -> None:
    async with candidate(leases, lease_seconds=60, renew_seconds=50) as elector:
        await elector.acquire()
        namesake = leases.write(lease_of("me"))
        async with asyncio.timeout(5):
            await elector.lost.wait()
        assert not elector.holds()
    assert leases.spec == namesake["spec"]


async def test_a_deleted_lease_is_lost(leases: LeaseServer) -> None:
    async with candidate(leases, lease_seconds=60, renew_seconds=50) as elector:
        await elector.acquire()
        leases.lease = None
        async with asyncio.timeout(5):
            await elector.lost.wait()
        assert not elector.holds()


async def test_a_process_that_was_stopped_finds_on_waking_that_it_does_not_hold(leases: LeaseServer) -> None:
    asleep = 0.0
    async with candidate(leases, retry_seconds=0.4, clock=lambda: time.monotonic() + asleep) as elector:
        await elector.acquire()
        assert elector.holds()
        asleep = 3600.0
        assert not elector.holds()  # before any of our threads had a chance to run
        asleep = 0.0
        assert not elector.holds()  # and for good
        async with asyncio.timeout(5):
            await elector.lost.wait()


async def test_it_does_not_hold_from_the_moment_on_at_which_a_renewal_was_due(leases: LeaseServer) -> None:
    """Others may begin when the lease is over: it ends here before that, and not when it ends there."""
    later = 0.0
    async with candidate(leases, retry_seconds=0.4, clock=lambda: time.monotonic() + later) as elector:
        await elector.acquire()
        later = PATIENT["renew_seconds"]
        assert not elector.holds()


async def test_time_that_a_machine_spends_suspended_counts(
    leases: LeaseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clocks of Linux: CLOCK_MONOTONIC stands still meanwhile, CLOCK_BOOTTIME goes on."""
    suspended = 0.0
    monkeypatch.setattr(time, "CLOCK_BOOTTIME", "boottime", raising=False)
    monkeypatch.setattr(
        time, "clock_gettime", lambda clock: time.monotonic() + (suspended if clock == "boottime" else 0.0)
    )
    async with candidate(leases, retry_seconds=0.4) as elector:
        await elector.acquire()
        assert elector.holds()
        suspended = 3600.0
        assert not elector.holds()


def test_a_platform_without_such_a_clock_has_its_monotonic_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    before = time.monotonic()
    assert before <= elapsed_seconds() <= time.monotonic()


async def test_release_empties_the_holder_and_is_no_loss(leases: LeaseServer) -> None:
    async with candidate(leases) as elector:
        await elector.acquire()
        await elector.release()
        assert leases.spec["holderIdentity"] == ""
        assert not elector.holds()
        assert not elector.lost.is_set()


async def test_release_without_ever_holding_writes_nothing(leases: LeaseServer) -> None:
    leases.write(lease_of("other"))
    async with candidate(leases) as elector:
        task = asyncio.create_task(elector.acquire())
        await leases.received(2)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await elector.release()
    assert leases.holders == ["other"]


async def test_two_candidates_never_hold_at_once(leases: LeaseServer) -> None:
    """One is made to lose by a hanging server again and again; a watcher looks at both all the time."""
    both = 0
    reigns: list[str] = []
    async with candidate(leases, "first", **QUICK) as first, candidate(leases, "second", **QUICK) as second:
        waiting = [asyncio.create_task(first.acquire()), asyncio.create_task(second.acquire())]
        leases_hang_until: float | None = None
        async with asyncio.timeout(20):
            while len(reigns) < 2:
                holding = [name for name, elector in (("first", first), ("second", second)) if elector.holds()]
                both += len(holding) > 1
                if holding and holding[0] not in reigns:
                    reigns.append(holding[0])
                    leases.fault = "refuse"
                    leases_hang_until = time.monotonic() + 1.0
                if leases_hang_until is not None and time.monotonic() > leases_hang_until:
                    leases.fault = ""
                await asyncio.sleep(0.001)  # the sampling period, not synchronisation
        for task in waiting:
            task.cancel()
    assert both == 0
    assert sorted(reigns) == ["first", "second"]


async def test_a_release_hands_over_without_waiting_for_expiry(leases: LeaseServer) -> None:
    async with (
        candidate(leases, "first", lease_seconds=60, renew_seconds=50) as first,
        candidate(leases, "second", lease_seconds=60, renew_seconds=50) as second,
    ):
        await first.acquire()
        waiting = asyncio.create_task(second.acquire())
        await first.release()
        async with asyncio.timeout(5):
            await waiting
        assert second.holds()
        assert not first.holds()


def test_times_that_could_not_be_safe_are_refused() -> None:
    with pytest.raises(ConfigurationError):
        LeaderElector(
            credentials=LeaseServer().credentials,
            namespace="ns",
            name="l",
            identity="me",
            lease_seconds=10,
            renew_seconds=10,
        )
