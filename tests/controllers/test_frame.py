"""kopf as the frame: it begins and ends the work, and does nothing else."""

import asyncio
import os
import pwd
import signal
from collections.abc import AsyncIterator
from typing import NoReturn

import pytest
from aiohttp import web

from controllers.frame import FrameEnded, kopf_settings, run_in_kopf
from tests.controllers.small_server import SmallServer


@pytest.fixture
async def server() -> AsyncIterator[SmallServer]:
    async with SmallServer().running() as running:
        yield running


class Work:
    """Runs until cancelled, or fails when it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.began = asyncio.Event()
        self.ended = False
        self._error = error

    async def run(self) -> None:
        self.began.set()
        try:
            if self._error is not None:
                raise self._error
            await asyncio.Event().wait()
        finally:
            self.ended = True


def test_the_settings_let_kopf_start_nothing_of_its_own() -> None:
    settings = kopf_settings()
    assert not settings.posting.enabled
    assert settings.peering.standalone
    assert settings.scanning.disabled


@pytest.mark.parametrize("which", [0, 1])
async def test_the_work_ends_with_any_of_the_events_and_nothing_is_written(server: SmallServer, which: int) -> None:
    work, events = Work(), [asyncio.Event(), asyncio.Event()]
    frame = asyncio.ensure_future(run_in_kopf(work.run, server.credentials, *events))
    await work.began.wait()
    events[which].set()
    async with asyncio.timeout(3):
        await frame
    assert work.ended
    assert server.writes == []


async def test_the_user_of_the_process_needs_no_name(server: SmallServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The image's user is a number without a passwd entry."""

    def nobody_knows(uid: int) -> NoReturn:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "POD_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody_knows)
    work, stop = Work(), asyncio.Event()
    frame = asyncio.ensure_future(run_in_kopf(work.run, server.credentials, stop))
    async with asyncio.timeout(3):
        await work.began.wait()
        stop.set()
        await frame


async def test_what_the_work_raises_is_raised(server: SmallServer) -> None:
    with pytest.raises(ZeroDivisionError):
        await run_in_kopf(Work(ZeroDivisionError()).run, server.credentials, asyncio.Event())


async def test_a_cancelled_frame_ends_its_work(server: SmallServer) -> None:
    work = Work()
    frame = asyncio.ensure_future(run_in_kopf(work.run, server.credentials, asyncio.Event()))
    await work.began.wait()
    frame.cancel()
    with pytest.raises(asyncio.CancelledError):
        await frame
    assert work.ended


async def test_the_end_of_kopf_is_an_error_in_one_line(server: SmallServer) -> None:
    work = Work()
    gone = {"kind": "Status", "code": 410, "reason": "Gone"}
    server.refuse = lambda request: web.json_response(gone, status=410) if request.path == "/apis" else None
    with pytest.raises(FrameEnded) as ended:
        async with asyncio.timeout(20):
            await run_in_kopf(work.run, server.credentials, asyncio.Event())
    assert str(ended.value).startswith("kopf has ended: ")
    assert "\n" not in str(ended.value)
    assert work.ended


async def test_the_first_signal_stops_and_a_second_one_cancels(server: SmallServer) -> None:
    work, stop = Work(), asyncio.Event()

    async def unwilling() -> None:
        try:
            await work.run()
        finally:
            await asyncio.sleep(60)

    frame = asyncio.ensure_future(run_in_kopf(unwilling, server.credentials, stop))
    await work.began.wait()
    await asyncio.sleep(0.1)
    os.kill(os.getpid(), signal.SIGTERM)
    async with asyncio.timeout(3):
        await stop.wait()
    await asyncio.sleep(0.2)
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(20):
            await frame
