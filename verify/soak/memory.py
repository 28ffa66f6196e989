"""How much memory processes have, and whether it grows."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

MINUTE = 60.0
LEAST_SAMPLES = 5
WARM_UP_SHARE = 1 / 3
WARM_UP_SECONDS = 600.0
"""The first part of a process's life does not count: a third of it, at most so long."""
LEAST_SECONDS = 1200.0
"""From a shorter time nothing is concluded: a percent an hour is too little to see in it."""
MOST_PERCENT_PER_HOUR = 1.0


@dataclass(frozen=True, slots=True)
class Sample:
    """At this moment (seconds) this process had so many bytes in memory."""

    seconds: float
    pid: int
    resident_bytes: int


@dataclass(frozen=True, slots=True)
class Trend:
    """How memory grew after the warm-up of the process that lived longest.

    Attributes:
        percent_per_hour: of what it had at the beginning.
        error: of that, one standard error.
        seconds: how long it was watched.
        first_bytes: what it had, by the line through all samples.
    """

    percent_per_hour: float
    error: float
    seconds: float
    first_bytes: float

    @property
    def is_judged(self) -> bool:
        """Whether it was watched for long enough."""
        return self.seconds >= LEAST_SECONDS

    @property
    def grows(self) -> bool:
        """Whether it surely grows by more than it may."""
        return self.is_judged and self.percent_per_hour - 2 * self.error > MOST_PERCENT_PER_HOUR

    def __str__(self) -> str:
        of = "" if self.is_judged else ", too short to be judged"
        size = f"{self.first_bytes / 2**20:.0f} MiB"
        return f"{self.percent_per_hour:+.1f} ± {self.error:.1f} %/h of {size} in {self.seconds / MINUTE:.0f} min{of}"


def resident_bytes(pid: int) -> int:
    """What a process has in memory, 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS")), 0)


def take(pids: Mapping[str, int], now: float, into: dict[str, list[Sample]]) -> None:
    """Notes what each of these processes has."""
    for name, pid in pids.items():
        found = resident_bytes(pid)
        if found:
            into.setdefault(name, []).append(Sample(now, pid, found))


def trend(samples: Sequence[Sample]) -> Trend | None:
    """The trend of the process that lived longest, None when there is too little to say."""
    lives: dict[int, list[Sample]] = {}
    for each in samples:
        lives.setdefault(each.pid, []).append(each)
    life = max(lives.values(), key=lambda one: one[-1].seconds - one[0].seconds, default=[])
    if len(life) < LEAST_SAMPLES:
        return None
    begin = life[0].seconds
    warm = begin + min((life[-1].seconds - begin) * WARM_UP_SHARE, WARM_UP_SECONDS)
    counted = [each for each in life if each.seconds >= warm]
    hours = [(each.seconds - counted[0].seconds) / 3600 for each in counted]
    return _line(hours, [float(each.resident_bytes) for each in counted]) if len(counted) >= LEAST_SAMPLES else None


def _line(hours: list[float], sizes: list[float]) -> Trend:
    slope, first = statistics.linear_regression(hours, sizes)
    left = sum((size - first - slope * hour) ** 2 for hour, size in zip(hours, sizes, strict=True))
    middle = statistics.fmean(hours)
    spread = sum((hour - middle) ** 2 for hour in hours)
    error = sqrt(left / (len(hours) - 2) / spread)
    return Trend(100 * slope / first, 100 * error / first, (hours[-1] - hours[0]) * 3600, first)
