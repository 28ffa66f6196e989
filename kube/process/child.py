"""One supervised process: started, started again when it dies, stopped when asked.

It lives in its own session, so that Ctrl-C in a terminal reaches the supervisor alone (the webhook configurations must go
before the webhooks do), and reads its standard input to learn of the supervisor's death (`kube.process.tether`). Its output goes
where ours goes: a pipe would make it wait for a supervisor that is stopped or busy.
"""

import asyncio
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from api.backoff import exponential_backoff
from api.errors import ConfigurationError

STOP_SECONDS: Final = 10.0
FIRST_BACKOFF_SECONDS: Final = 0.5
MAX_BACKOFF_SECONDS: Final = 30.0
STEADY_SECONDS: Final = 60.0
"""A process that ran for so long was fine; its next end starts the backoff from the beginning."""

_EXIT_CONFIGURATION: Final = 2
_REFUSED_STARTS: Final = 2
"""A process that has refused to start says so with the same code when the server was only slow, a right not in force yet, or its
port just taken: it has another try."""

Say = Callable[[str], None]


def backoff_seconds(deaths: int) -> float:
    """The pause before the next start after so many deaths in a row."""
    return exponential_backoff(deaths, base_seconds=FIRST_BACKOFF_SECONDS, max_seconds=MAX_BACKOFF_SECONDS)


def how_it_ended(code: int) -> str:
    """An exit code in words; negative ones are signals."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


class Child:
    """A process that is to run until `stop`.

    Args:
        name: how messages call it.
        command: program and arguments; asked anew for each start, because ports may have to change.
        say: gets a line whenever the process ends unasked.
        clock: monotonic seconds.
        sleep: sleeps so many seconds.
        environment: of the process; None: ours.
        stop_seconds: time it has after SIGTERM before it is killed.
    """

    def __init__(
        self,
        name: str,
        command: Callable[[], Sequence[str]],
        *,
        say: Say,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        environment: Mapping[str, str] | None = None,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self.name = name
        self._command = command
        self._say = say
        self._clock = clock
        self._sleep = sleep
        self._environment = dict(environment) if environment is not None else None
        self._stop_seconds = stop_seconds
        self._process: Process | None = None
        self._starting = asyncio.Lock()
        self._stopping = False
        self.starts = 0

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if running and self._process is not None else None

    async def keep_running(self) -> None:
        """Start the process, and start it again whenever it ends, until `stop`.

        Raises:
            ConfigurationError: its first starts failed because of what it was told; again would not help.
        """
        deaths = refused = 0
        while True:
            started = self._clock()
            code = await self._run_once()
            if self._stopping:
                return
            refused += code == _EXIT_CONFIGURATION
            if refused == self.starts == _REFUSED_STARTS:
                raise ConfigurationError(f"{self.name} cannot start like this, it says why above")
            deaths = 1 if self._clock() - started >= STEADY_SECONDS else deaths + 1
            pause = backoff_seconds(deaths)
            again = f", {deaths} times in a row" if deaths > 1 else ""
            self._say(f"{self.name} {how_it_ended(code)}{again}; it is started again in {pause:g} s")
            await self._sleep(pause)

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL when that does not end it in time. `keep_running` then returns.

        A start that is under way is waited for: it would leave a process that nobody ends.
        """
        self._stopping = True
        async with self._starting:
            process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), self._stop_seconds)
        except TimeoutError:
            self._say(f"{self.name} does not end, it is killed")
            process.kill()
            await process.wait()

    async def _run_once(self) -> int:
        async with self._starting:
            if self._stopping:
                return 0
            process = await asyncio.create_subprocess_exec(
                *self._command(), stdin=PIPE, start_new_session=True, env=self._environment
            )
            self._process = process
            self.starts += 1
        return await process.wait()
