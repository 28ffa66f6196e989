"""A queue of keys to reconcile, as every Kubernetes controller has one.

Invariants: a key is never worked on by two workers at once; a key added while it is being worked on is looked at once
more afterwards, however often it was added; a failing key is retried with its own growing pauses and never blocks others.
Where keys belong to flows, such as namespaces, these take turns: whoever adds ten thousand keys waits for them himself.
"""

import asyncio
import logging
import random as randomness
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from api.errors import TuttiError
from kube.backoff import Backoff
from kube.cache.fair_queue import FairQueue
from kube.client.errors import one_line
from kube.outside import monotonic_seconds, new_random

_log = logging.getLogger(__name__)

DRAIN_SECONDS: Final = 5.0
"""What is being looked at has so long to end once the queue is to end; afterwards it is cut off."""

K = TypeVar("K", bound=Hashable)

Reconcile = Callable[[K], Awaitable[float | None]]
"""Looks at one key; a returned number asks for another look after so many seconds."""


def _one_flow(_: object) -> None:
    """The flow of every key where none are told apart."""


class WorkQueue(Generic[K]):
    """Runs `reconcile` for every added key with a fixed number of workers (client-go's rate limiting workqueue).

    Args:
        reconcile: looks at one key; whatever it raises is logged and the key is tried again.
        workers: how many keys are worked on at a time.
        clock: monotonic seconds.
        random: spreads the pauses.
        base_seconds: the pause of a key after its first failure.
        max_seconds: the longest such pause.
        flow: keys with the same one are looked at in their order, different ones take turns; without it all keys have the same.
    """

    def __init__(
        self,
        reconcile: Reconcile[K],
        *,
        workers: int,
        clock: Callable[[], float] = monotonic_seconds,
        random: randomness.Random | None = None,
        base_seconds: float = 0.2,
        max_seconds: float = 60.0,
        flow: Callable[[K], Hashable] | None = None,
    ) -> None:
        self._reconcile = reconcile
        self._workers = workers
        self._clock = clock
        self._random = random or new_random()
        self._base_seconds = base_seconds
        self._max_seconds = max_seconds
        self._ready = FairQueue[K](flow or _one_flow)
        self._waiting: set[K] = set()
        self._working: set[K] = set()
        self._busy: set[asyncio.Task[None]] = set()
        """The workers that are looking at a key."""
        self._is_shutting_down = False
        self._again: set[K] = set()
        self._later: dict[K, tuple[float, asyncio.TimerHandle]] = {}
        self._backoffs: dict[K, Backoff] = {}
        self._wake = asyncio.Semaphore(0)
        self._quiet = asyncio.Event()
        self._quiet.set()

    def __len__(self) -> int:
        """Keys that are ready and not yet being worked on."""
        return len(self._ready) + len(self._again)

    def add(self, key: K) -> None:
        """Look at this key as soon as a worker is free."""
        later = self._later.pop(key, None)
        if later is not None:
            later[1].cancel()
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.append(key)
            self._quiet.clear()
            self._wake.release()

    def add_after(self, key: K, seconds: float) -> None:
        """Look at this key after so many seconds, unless that happens earlier anyway."""
        if seconds <= 0:
            self.add(key)
            return
        if key in self._waiting or key in self._again:
            return
        due = self._clock() + seconds
        later = self._later.get(key)
        if later is not None:
            if later[0] <= due:
                return
            later[1].cancel()
        timer = asyncio.get_running_loop().call_later(seconds, self.add, key)
        self._later[key] = (due, timer)

    async def idle(self) -> None:
        """Wait until no key is ready or being worked on; keys that wait for their time do not count."""
        await self._quiet.wait()

    async def run(self) -> None:
        """Work until cancelled.

        The keys that are being looked at then are finished, for at most `DRAIN_SECONDS`, and no others are begun (client-go's
        ShutDownWithDrain): a request that is cut off may arrive after the lease has been given back.

        Raises:
            TuttiError: somebody else cancelled a worker.
        """
        self._is_shutting_down = False
        workers = [asyncio.create_task(self._work()) for _ in range(self._workers)]
        try:
            done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
            for worker in done:
                if worker.cancelled():
                    # Otherwise the queue would end as if it had been asked to, and nobody would look at its keys any more.
                    raise TuttiError("a worker of the queue was cancelled, and not by the queue")
                worker.result()
        finally:
            await self._shut_down(workers)

    async def _shut_down(self, workers: list[asyncio.Task[None]]) -> None:
        self._is_shutting_down = True
        for worker in workers:
            if worker not in self._busy:
                worker.cancel()
        try:
            await asyncio.wait(workers, timeout=DRAIN_SECONDS)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            for _, timer in self._later.values():
                timer.cancel()
            self._later.clear()

    async def _work(self) -> None:
        worker = asyncio.current_task()
        while not self._is_shutting_down:
            await self._wake.acquire()
            key = self._ready.popleft()
            self._waiting.discard(key)
            self._working.add(key)
            if worker is not None:
                self._busy.add(worker)
            try:
                await self._look(key)
            finally:
                if worker is not None:
                    self._busy.discard(worker)
                self._done(key)

    async def _look(self, key: K) -> None:
        try:
            look_again_seconds = await self._reconcile(key)
        except Exception as error:  # noqa: BLE001 (whatever goes wrong with one key must not stop the others)
            backoff = self._backoffs.setdefault(key, Backoff(self._base_seconds, self._max_seconds, self._random))
            seconds = backoff.next_seconds()
            reason = str(error) if isinstance(error, TuttiError) else one_line(f"{type(error).__name__}: {error}")
            _log.warning("%s: trying again in %.1f s: %s", key, seconds, reason)
            _log.debug("%s: where it failed", key, exc_info=error)
            self.add_after(key, seconds)
        else:
            self._backoffs.pop(key, None)
            if look_again_seconds is not None:
                self.add_after(key, look_again_seconds)

    def _done(self, key: K) -> None:
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)
        elif not self._working and not self._ready:
            self._quiet.set()
