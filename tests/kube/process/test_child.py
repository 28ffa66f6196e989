"""One supervised process: real ones, started, killed, stopped."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.errors import ConfigurationError
from kube.process.child import Child, backoff_seconds, how_it_ended
from tests.install.fake_time import FakeTime, until

READY = "import pathlib, sys; pathlib.Path(sys.argv[1]).touch(); "


def python(code: str, *arguments: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, "-c", code, *arguments]


def child(command: Callable[[], list[str]], said: list[str], *, time: FakeTime, stop_seconds: float = 10) -> Child:
    return Child("it", command, say=said.append, clock=time.clock, sleep=time.sleep, stop_seconds=stop_seconds)


def test_pauses_double_up_to_half_a_minute() -> None:
    assert [backoff_seconds(deaths) for deaths in (1, 2, 3, 6, 7, 100)] == [0.5, 1, 2, 16, 30, 30]


@pytest.mark.parametrize(
    ("code", "words"),
    [(1, "ended with exit code 1"), (-9, "was killed by SIGKILL"), (-99, "was killed by signal 99")],
)
def test_an_end_is_told_in_words(code: int, words: str) -> None:
    assert how_it_ended(code) == words


async def test_a_crash_loop_is_one_line_a_round_with_growing_pauses() -> None:
    said, time = list[str](), FakeTime()
    looping = child(python("raise SystemExit(1)"), said, time=time)
    task = asyncio.ensure_future(looping.keep_running())
    await until(lambda: len(said) >= 3)
    await looping.stop()
    await task
    assert said[:3] == [
        "it ended with exit code 1; it is started again in 0.5 s",
        "it ended with exit code 1, 2 times in a row; it is started again in 1 s",
        "it ended with exit code 1, 3 times in a row; it is started again in 2 s",
    ]


async def test_a_process_that_ran_long_begins_with_the_shortest_pause_again(tmp_path: Path) -> None:
    said, time, flag = list[str](), FakeTime(), tmp_path / "up"
    steady = child(python(READY + "sys.stdin.read()", str(flag)), said, time=time)
    task = asyncio.ensure_future(steady.keep_running())
    for round_number in range(2):
        # A process can be up before the one who started it is told its number.
        await until(lambda: flag.exists() and steady.pid is not None)
        flag.unlink()
        time.now += 61
        assert steady.pid is not None
        os.kill(steady.pid, signal.SIGKILL)
        await until(lambda expected=round_number + 1: len(said) == expected)  # type: ignore[misc]
    await until(flag.exists)
    await steady.stop()
    await task
    assert said == ["it was killed by SIGKILL; it is started again in 0.5 s"] * 2


async def test_stopping_asks_politely_first(tmp_path: Path) -> None:
    said, flag = list[str](), tmp_path / "up"
    # The signal is waited for: a handler would not run when it comes just before an endless pause.
    block = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}); "
    code = block + READY + "signal.sigwait({signal.SIGTERM})"
    polite = child(python(code, str(flag)), said, time=FakeTime())
    task = asyncio.ensure_future(polite.keep_running())
    await until(flag.exists)
    await polite.stop()
    await task
    assert polite.pid is None
    assert said == []


async def test_a_process_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    said, flag = list[str](), tmp_path / "up"
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + READY + "signal.pause()"
    deaf = child(python(code, str(flag)), said, time=FakeTime(), stop_seconds=0.1)
    task = asyncio.ensure_future(deaf.keep_running())
    await until(flag.exists)
    await deaf.stop()
    await task
    assert said == ["it does not end, it is killed"]


async def test_a_start_under_way_is_waited_for_and_its_process_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    made, may_go_on, real = list[asyncio.subprocess.Process](), asyncio.Event(), asyncio.create_subprocess_exec

    async def slow(*arguments: str, **more: Any) -> asyncio.subprocess.Process:
        process = await real(*arguments, **more)
        made.append(process)
        await may_go_on.wait()
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", slow)
    begun = child(python("import sys; sys.stdin.read()"), [], time=FakeTime())
    task = asyncio.ensure_future(begun.keep_running())
    await until(lambda: bool(made))
    stopping = asyncio.ensure_future(begun.stop())
    await asyncio.sleep(0)
    may_go_on.set()
    await stopping
    assert made[0].returncode is not None
    await task


async def test_what_was_stopped_before_its_start_is_not_started() -> None:
    never = child(python("raise SystemExit(1)"), [], time=FakeTime())
    await never.stop()
    await never.keep_running()
    assert never.starts == 0


async def test_wrong_settings_have_one_more_try_and_no_third() -> None:
    said: list[str] = []
    refused = child(python("raise SystemExit(2)"), said, time=FakeTime())
    with pytest.raises(ConfigurationError, match="it cannot start like this"):
        await refused.keep_running()
    assert refused.starts == 2
    assert said == ["it ended with exit code 2; it is started again in 0.5 s"]


async def test_a_first_start_that_is_refused_for_a_moment_ends_nothing(tmp_path: Path) -> None:
    said, once = list[str](), tmp_path / "once"
    code = (
        "import pathlib, sys, time; p = pathlib.Path(sys.argv[1])\n"
        "if not p.exists(): p.touch(); sys.exit(2)\n"
        "p.write_text('runs'); sys.stdin.read()"
    )
    refused_once = child(python(code, str(once)), said, time=FakeTime())
    task = asyncio.ensure_future(refused_once.keep_running())
    await until(lambda: once.exists() and once.read_text() == "runs")
    await refused_once.stop()
    await task
    assert said == ["it ended with exit code 2; it is started again in 0.5 s"]


async def test_the_same_exit_code_later_is_a_crash_like_any_other(tmp_path: Path) -> None:
    said, once = list[str](), tmp_path / "once"
    code = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); e = p.exists(); p.touch(); sys.exit(2 if e else 1)"
    later = child(python(code, str(once)), said, time=FakeTime())
    task = asyncio.ensure_future(later.keep_running())
    await until(lambda: len(said) == 2)
    await later.stop()
    await task
    assert said[1].startswith("it ended with exit code 2, 2 times in a row")


async def test_ctrl_c_in_the_terminal_does_not_reach_it(tmp_path: Path) -> None:
    flag = tmp_path / "up"
    own = child(python(READY + "sys.stdin.read()", str(flag)), [], time=FakeTime())
    task = asyncio.ensure_future(own.keep_running())
    await until(lambda: flag.exists() and own.pid is not None)
    assert own.pid is not None
    assert os.getpgid(own.pid) != os.getpgid(0)
    await own.stop()
    await task
