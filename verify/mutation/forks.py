"""Work in forks of this process: so many at once, each for a limited time, with one text as its answer."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeVar

Work = TypeVar("Work")

TIMED_OUT: Final = "(no end)"
DIED: Final = "(died)"
"""How the answer of a fork begins that raised something, or ended without an answer."""
_LONGEST_WAIT_SECONDS: Final = 0.5


class _Running(NamedTuple):
    pid: int
    deadline_seconds: float
    parts: list[bytes]


def in_forks(
    works: Iterable[tuple[Work, float]], do: Callable[[Work], str], workers: int
) -> Iterator[tuple[Work, str]]:
    """Each work with the answer of a fork that did it, in the order in which they end.

    Args:
        works: (what is to be done, how many seconds it may take).
        do: does it; called in the fork, which ends without any clean-up afterwards.
        workers: forks at once.
    """
    left = iter(works)
    running: dict[int, tuple[Work, _Running]] = {}
    is_exhausted = False
    try:
        while running or not is_exhausted:
            while len(running) < workers and not is_exhausted:
                following = next(left, None)
                if following is None:
                    is_exhausted = True
                    break
                work, seconds = following
                pipe, started = _begin(work, do, seconds)
                running[pipe] = (work, started)
            for pipe, answer in _ended(running):
                yield running.pop(pipe)[0], answer
    finally:
        for pipe, (_, one) in running.items():
            _end(pipe, one.pid)


def _begin(work: Work, do: Callable[[Work], str], seconds: float) -> tuple[int, _Running]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)  # whatever tests started ends with it
        try:
            answer = do(work)
        except BaseException as error:  # noqa: BLE001 (nobody is above us)
            answer = f"{DIED} {type(error).__name__}: {error}"
        os.write(writing, answer.encode()[: select.PIPE_BUF])
        os._exit(0)
    os.close(writing)
    return reading, _Running(pid, time.monotonic() + seconds, [])


def _ended(running: dict[int, tuple[Work, _Running]]) -> list[tuple[int, str]]:
    """Waits until some have ended; their pipes and answers."""
    while True:
        soonest = min((one.deadline_seconds for _, one in running.values()), default=0.0)
        wait_seconds = min(max(soonest - time.monotonic(), 0.0), _LONGEST_WAIT_SECONDS)
        ready, _, _ = select.select(list(running), [], [], wait_seconds)
        found: list[tuple[int, str]] = []
        for pipe, (_, one) in running.items():
            if pipe in ready:
                part = os.read(pipe, select.PIPE_BUF)
                one.parts.append(part)
                if not part:
                    found.append((pipe, b"".join(one.parts).decode() or DIED))
            elif time.monotonic() >= one.deadline_seconds:
                found.append((pipe, TIMED_OUT))
        for pipe, _ in found:
            _end(pipe, running[pipe][1].pid)
        if found or not running:
            return found


def _end(pipe: int, pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(pipe)
