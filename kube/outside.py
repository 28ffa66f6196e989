"""What a process takes from outside beside its requests: the time, and chance.

Whoever is not given a clock or a source of chance asks here, so that there is one place where virtual time and seeded chance
can be put instead. `verify/simulator` does that; a process of ours never does.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Outside:
    """Where the time and chance come from.

    Attributes:
        monotonic_seconds: of a clock that nobody sets.
        epoch_seconds: since 1970.
        new_random: a new source of chance, different from all others.
    """

    monotonic_seconds: Callable[[], float]
    epoch_seconds: Callable[[], float]
    new_random: Callable[[], random.Random]


REAL = Outside(time.monotonic, time.time, random.Random)

_in_force: list[Outside] = [REAL]


def monotonic_seconds() -> float:
    """Seconds of a clock that nobody sets."""
    return _in_force[-1].monotonic_seconds()


def epoch_seconds() -> float:
    """Seconds since 1970."""
    return _in_force[-1].epoch_seconds()


def utc_now() -> datetime:
    """The time of day."""
    return datetime.fromtimestamp(epoch_seconds(), UTC)


def new_random() -> random.Random:
    """A new source of chance; it spreads load and guards nothing."""
    return _in_force[-1].new_random()


@contextmanager
def replaced_by(outside: Outside) -> Iterator[None]:
    """Time and chance come from there inside the block, in the whole process."""
    _in_force.append(outside)
    try:
        yield
    finally:
        _in_force.remove(outside)
