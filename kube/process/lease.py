"""Leader election by a Lease, in a thread of its own.

What it promises: `holds()` turns False *before* anybody else can take the lease, whatever happens to this process or to
the API server. The proof is one inequality. We stop `renew_seconds` after the moment we *began* the last successful
renewal, by our own monotonic clock; others wait until they have seen no change for `lease_seconds`, which cannot begin
earlier than that moment. A stopped process (SIGSTOP, a suspended machine) finds the time passed when it wakes, and once
`holds()` was False it never turns True again: the process is expected to end. The clock is `elapsed_seconds`, which
says where this ends.

A thread of its own, because a scheduling cycle may keep the process's loop busy for longer than a renewal may wait.
"""

import asyncio
import contextlib
import logging
import random as randomness
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from api.errors import ConfigurationError, TuttiError
from kube.client.client import Client
from kube.client.credentials import Credentials
from kube.client.errors import one_line
from kube.process.elapsed import elapsed_seconds
from kube.process.lease_lock import LeaseLock

_log = logging.getLogger(__name__)

_THREAD_END_SECONDS = 5.0


class LeaseLost(TuttiError):
    """The process may act no longer: another one may have taken over. It ends with its own exit code."""


class LeaderElector:
    """One candidate for one Lease (client-go's LeaderElector). Used once: acquire, hold, then lose or release.

    Attributes:
        lost: set when the lease was held and is not any more.

    Args:
        credentials: the server and the identity that writes the Lease.
        namespace: where the Lease is.
        name: the Lease.
        identity: who the candidate is, in the Lease; no other candidate may have the same.
        lease_seconds: so long others wait after the last change they have seen (LeaseDuration).
        renew_seconds: so long after the last renewal began the lease counts as held (RenewDeadline).
        retry_seconds: time between two tries (RetryPeriod).
        clock: seconds that go on while the machine is suspended.
        random: spreads the tries of candidates.

    Raises:
        ConfigurationError: not retry_seconds < renew_seconds < lease_seconds.
    """

    def __init__(  # noqa: PLR0913 (who, for what, how long; all times optional)
        self,
        *,
        credentials: Credentials,
        namespace: str,
        name: str,
        identity: str,
        lease_seconds: float = 15.0,
        renew_seconds: float = 10.0,
        retry_seconds: float = 2.0,
        clock: Callable[[], float] = elapsed_seconds,
        random: randomness.Random | None = None,
    ) -> None:
        if not retry_seconds < renew_seconds < lease_seconds:
            raise ConfigurationError("a lease needs retry_seconds < renew_seconds < lease_seconds")
        self.lost = asyncio.Event()
        self._credentials = credentials
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._lease_seconds = lease_seconds
        self._renew_seconds = renew_seconds
        self._retry_seconds = retry_seconds
        self._clock = clock
        self._random = random or randomness.Random()  # noqa: S311 (spreads candidates, guards nothing)
        self._guard = threading.Lock()
        self._deadline: float | None = None
        self._over = False
        self._trouble = ""
        self._owner: asyncio.AbstractEventLoop | None = None
        self._acquired: asyncio.Future[None] | None = None
        self._thread: threading.Thread | None = None
        self._thread_loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self._stopped = threading.Event()

    # --- for the process's loop --------------------------------------------------------------------------------------

    async def acquire(self) -> None:
        """Wait until this process holds the lease. `lost` belongs to the loop that called this.

        Raises:
            TuttiError: the election itself broke, which no waiting mends.
        """
        self._owner = asyncio.get_running_loop()
        self._acquired = self._owner.create_future()
        self._thread = threading.Thread(target=self._run, name=f"lease {self._name}", daemon=True)
        self._thread.start()
        try:
            await self._acquired
        except asyncio.CancelledError:
            self._ask_to_stop()
            raise

    def holds(self) -> bool:
        """Whether this process may act *now*. To be asked right before every write; costs about a microsecond."""
        with self._guard:
            if self._over or self._deadline is None:
                return False
            if self._clock() < self._deadline:
                return True
            self._over = True
        self._call_in_owner_loop(self.lost.set)
        return False

    def age_seconds(self) -> float | None:
        """Seconds since the last successful renewal began, None while the lease is not held. Changes nothing."""
        with self._guard:
            if self._over or self._deadline is None or (left := self._deadline - self._clock()) <= 0:
                return None
            return self._renew_seconds - left

    async def release(self) -> None:
        """Stop being a candidate and give the lease back if we hold it. Does not set `lost`."""
        with self._guard:
            self._over = True
        self._ask_to_stop()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, self._renew_seconds + _THREAD_END_SECONDS)

    def _ask_to_stop(self) -> None:
        self._stopped.set()
        if self._thread_loop is not None and self._wake is not None:
            with contextlib.suppress(RuntimeError):  # the thread's loop has ended already
                self._thread_loop.call_soon_threadsafe(self._wake.set)

    # --- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._run_election())
        except Exception as error:  # noqa: BLE001 (whatever ends the thread ends the tenure)
            _log.error("the election for %s/%s broke: %s", self._namespace, self._name, one_line(repr(error)))
            _log.debug("where the election broke", exc_info=error)
            self._lose()
            failure = TuttiError(f"the election broke: {one_line(repr(error))}")
            self._call_in_owner_loop(lambda: self._resolve_acquired(failure))

    async def _run_election(self) -> None:
        self._wake = asyncio.Event()
        self._thread_loop = asyncio.get_running_loop()
        user_agent = f"tutti-lease/{self._identity}"
        async with Client(self._credentials, user_agent=user_agent, max_connections=2) as client:
            lock = LeaseLock(
                client,
                namespace=self._namespace,
                name=self._name,
                identity=self._identity,
                lease_seconds=self._lease_seconds,
                clock=self._clock,
                wall_clock=lambda: datetime.now(UTC),
            )
            if not await self._take(lock):
                return
            await self._keep(lock)
            if self._stopped.is_set():
                await self._attempt(lock.release, self._renew_seconds)

    async def _take(self, lock: LeaseLock) -> bool:
        while not self._stopped.is_set():
            started = self._clock()
            if await self._attempt(lock.try_to_take, self._renew_seconds):
                with self._guard:
                    self._deadline = started + self._renew_seconds
                self._call_in_owner_loop(lambda: self._resolve_acquired(None))
                _log.info("%s holds the lease %s/%s", self._identity, self._namespace, self._name)
                return True
            await self._pause(self._retry_seconds)
        return False

    async def _keep(self, lock: LeaseLock) -> None:
        """Renew until stopped or lost. An unknown outcome is tried again as long as there is time."""
        while not self._stopped.is_set():
            await self._pause(min(self._retry_seconds, self._left_seconds()))
            if self._stopped.is_set():
                return
            started = self._clock()
            left_seconds = self._left_seconds()
            renewed = await self._attempt(lock.renew, left_seconds) if left_seconds > 0 else False
            if renewed is False or not self._extend(started if renewed else None):
                self._lose()
                return

    async def _attempt(self, step: Callable[[], Awaitable[bool]], left_seconds: float) -> bool | None:
        """The step's answer, None when it is not known; a hung server gets half of the renewal time at most."""
        try:
            async with asyncio.timeout(min(left_seconds, self._renew_seconds / 2)):
                answer = await step()
        except (TuttiError, TimeoutError) as error:
            reason = str(error) or "the server gave no answer in time"
            if reason != self._trouble:
                self._trouble = reason
                _log.warning("lease %s/%s: %s", self._namespace, self._name, reason)
            return None
        self._trouble = ""
        return answer

    async def _pause(self, seconds: float) -> None:
        """Wait, a little less or more so that candidates do not act at the same time; a stop ends it at once."""
        if self._wake is not None and seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), seconds * self._random.uniform(0.8, 1.0))

    def _left_seconds(self) -> float:
        with self._guard:
            return 0.0 if self._deadline is None else self._deadline - self._clock()

    def _extend(self, started: float | None) -> bool:
        """Move the deadline after a renewal begun at `started` (None: none); False when it had passed already."""
        with self._guard:
            if self._over or self._deadline is None:
                return self._stopped.is_set()
            if self._clock() >= self._deadline:
                return False
            if started is not None:
                self._deadline = started + self._renew_seconds
            return True

    def _lose(self) -> None:
        with self._guard:
            held = self._deadline is not None
            self._over = True
        if held:
            _log.error("the lease %s/%s is lost", self._namespace, self._name)
            self._call_in_owner_loop(self.lost.set)

    def _resolve_acquired(self, error: TuttiError | None) -> None:
        if self._acquired is not None and not self._acquired.done():
            if error is None:
                self._acquired.set_result(None)
            else:
                self._acquired.set_exception(error)

    def _call_in_owner_loop(self, message: Callable[[], object]) -> None:
        if self._owner is not None:
            with contextlib.suppress(RuntimeError):  # the owner's loop has ended, nobody listens
                self._owner.call_soon_threadsafe(message)
