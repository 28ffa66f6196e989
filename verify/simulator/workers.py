"""Seeds in processes of their own, each with the order of sets of texts that belongs to its seeds.

That order is fixed when an interpreter starts (`PYTHONHASHSEED`), and defects were seen that show with some orders only.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from itertools import groupby
from multiprocessing import get_context
from typing import Final, TypeVar

from verify.simulator.generate import hash_seed_of

HASH_SEED: Final = "PYTHONHASHSEED"
_MOST_SEEDS: Final = 10
"""Of one process: it takes some seconds to start."""

Result = TypeVar("Result")
_starting: Final = threading.Lock()


def with_hash_seed(hash_seed: int) -> None:
    """Goes on as this program does with this hash seed: begins it anew, unless it has it already."""
    if os.environ.get(HASH_SEED) != str(hash_seed):
        os.environ[HASH_SEED] = str(hash_seed)
        os.execv(sys.executable, [sys.executable, "-m", "verify.simulator", *sys.argv[1:]])  # noqa: S606 (ourselves)


def in_processes(work: Callable[[int], Result], seeds: Sequence[int], workers: int) -> Iterator[Result]:
    """What `work` makes of each seed, in the order in which it is done; at most so many processes at a time."""
    most = max(1, min(_MOST_SEEDS, len(seeds) // workers))
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
        with _starting:
            # A process takes this from the environment of the one that starts it, which is that of all its threads.
            os.environ[HASH_SEED] = str(hash_seed_of(seeds[0]))
            first = process.submit(work, seeds[0])
        return [first.result(), *process.map(work, seeds[1:])]
