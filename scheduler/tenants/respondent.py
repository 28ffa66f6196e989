"""Has questions answered by a process of its own, one at a time, on a snapshot that it is given.

Deciding takes seconds in a large cluster, so the scheduler's process only says what it knows. The child has no credentials, no
connection and a limited memory; what it reads is made unreadable before it is looked at, save for the namespace in question.
"""

import asyncio
import contextlib
import logging
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

from api.errors import TuttiError
from scheduler.tenants.question import Question

NOT_FOUND_CODE: Final = 4
"""Exit code of the child when nothing of that name is scheduled."""

MOST_WAITING: Final = 4
"""Questions that may wait for the one that is being answered."""
ANSWER_SECONDS: Final = 50.0
"""An answer that is not there by then is given up; API servers wait for a minute."""
_BREATH_SECONDS: Final = 0.001
"""Between two parts of a snapshot: whoever makes them has the interpreter, which everybody needs."""
_MOST_BYTES: Final = 1 << 20
"""Of an answer."""

_log = logging.getLogger(__name__)

Take = Callable[[], Awaitable[Iterator[bytes] | None]]
"""Everything a decision would read now, as parts of a file; None while nothing is scheduled here."""


class Busy(TuttiError):
    """Too many questions wait already."""


class NotScheduling(TuttiError):
    """Another replica schedules, and only that one knows the queue."""


class NoAnswer(TuttiError):
    """The answer was not found, for a reason that lies with us."""


class Respondent:
    """Belongs to one event loop.

    Args:
        take: the snapshot.
        command: program and arguments of the child, which gets namespace, kind and name after them, and the snapshot on its
            standard input.
        folder: where it runs.
    """

    def __init__(self, take: Take, command: Sequence[str], folder: str | None = None) -> None:
        self._take: Final = take
        self._command: Final = tuple(command)
        self._folder: Final = folder
        self._turn: Final = asyncio.Semaphore(1)
        self._asking = 0

    async def answer(self, question: Question) -> bytes | None:
        """The answers as JSON, None when there is nothing of that name.

        Raises:
            Busy: too many wait.
            NotScheduling: nothing is scheduled here.
            NoAnswer: the child failed, or took too long.
        """
        if self._asking > MOST_WAITING:
            raise Busy("too many questions are being answered")
        self._asking += 1
        try:
            async with self._turn:
                parts = await self._take()
                if parts is None:
                    raise NotScheduling("this replica does not schedule")
                return await asyncio.to_thread(self._answered, question, parts)
        finally:
            self._asking -= 1

    def _answered(self, question: Question, parts: Iterator[bytes]) -> bytes | None:
        child = subprocess.Popen(  # noqa: S603 (a fixed program; the arguments are names that were checked)
            [*self._command, question.namespace, question.kind, question.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder,
            env={"LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )
        watch = threading.Timer(ANSWER_SECONDS, child.kill)
        watch.start()
        try:
            with child:
                said, complaint = _exchange(child, parts)
        finally:
            watch.cancel()
        if child.returncode == NOT_FOUND_CODE:
            return None
        if child.returncode or len(said) > _MOST_BYTES:
            _log.warning(
                "no answer to why %s: exit code %s: %s",
                question,
                child.returncode,
                complaint.decode(errors="replace")[-500:],
            )
            raise NoAnswer("the scheduler could not find the answer")
        return said


def _exchange(child: "subprocess.Popen[bytes]", parts: Iterator[bytes]) -> tuple[bytes, bytes]:
    """Gives the child the parts, and then what it says. It says nothing before it has read all of them."""
    stdin = child.stdin
    # A child that has ended reads nothing any more; its exit code tells.
    with contextlib.suppress(BrokenPipeError):
        for part in parts:
            if stdin is not None and part:
                stdin.write(part)
            time.sleep(_BREATH_SECONDS)
    return child.communicate()
