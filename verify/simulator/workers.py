"""Seeds in processes of their own, each with the order of sets of texts that belongs to its seeds.

That order is fixed when an interpreter starts (`PYTHONHASHSEED`), and defects were seen that show with some orders only.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import groupby
from multiprocessing import get_context
from typing import Final, TypeVar

from verify.simulator.generate import hash_seed_of

HASH_SEED: Final = "PYTHONHASHSEED"
Result = TypeVar("Result")
_starting: Final = threading.Lock()


def with_hash_seed(hash_seed: int, program: str = "verify.simulator") -> None:
    """Goes on as this program (a module that is run) does with this hash seed: begins it anew, unless it has it already."""
    if os.environ.get(HASH_SEED) != str(hash_seed):
        os.environ[HASH_SEED] = str(hash_seed)
        os.execv(sys.executable, [sys.executable, "-m", program, *sys.argv[1:]])  # noqa: S606 (ourselves)


def in_processes(work: Callable[[int], Result], seeds: Sequence[int], workers: int) -> Iterator[Result]:
    """What `work` makes of each seed, in the order in which it is done; at most so many processes at a time."""
    workers = max(workers, 1)
    most = max(len(seeds) // workers, 1)
    units = [unit for _, alike in groupby(seeds, hash_seed_of) for unit in _batches(list(alike), most)]
    threads = ThreadPoolExecutor(workers)
    try:
        for done in as_completed([threads.submit(_in_process, work, unit) for unit in units]):
            yield from done.result()
    finally:
        threads.shutdown(cancel_futures=True)


def _batches(seeds: list[int], most: int) -> list[list[int]]:
    return [seeds[first : first + most] for first in range(0, len(seeds), most)]


def _in_process(work: Callable[[int], Result], seeds: list[int]) -> list[Result]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        with _starting, _environment(HASH_SEED, str(hash_seed_of(seeds[0]))):
            first = process.submit(work, seeds[0])
        return [first.result(), *process.map(work, seeds[1:])]


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """For processes that are started inside: a process takes it from the one that starts it, which has one for all its threads."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
