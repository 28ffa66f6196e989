"""How much memory processes have, and whether it grows.

All of it is judged. What a process has for itself is told apart from pages of the files that it
runs: these become more whenever code runs for the first time, and are as many as the files have at most.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

MINUTE = 60.0
MEBIBYTE = 2**20
_KINDS = ("VmRSS", "RssFile")
"""What /proc/PID/status calls all of it, and the pages of files."""
LEAST_SAMPLES = 5
WARM_UP_SHARE = 1 / 3
WARM_UP_SECONDS = 600.0
"""The first part of a process's life does not count: a third of it, at most so long."""
LEAST_SECONDS = 1200.0
"""From a shorter time nothing is concluded: a percent an hour is too little to see in it."""
MOST_PERCENT_PER_HOUR = 1.0


@dataclass(frozen=True, slots=True)
class Sample:
    """At this moment (seconds) this process had so many bytes of its own in memory, and so many of files."""

    seconds: float
    pid: int
    own_bytes: int
    file_bytes: int = 0

    @property
    def resident_bytes(self) -> int:
        """All that it had in memory."""
        return self.own_bytes + self.file_bytes

    def __str__(self) -> str:
        return f"{self.own_bytes / MEBIBYTE:.1f} MiB and {self.file_bytes / MEBIBYTE:.1f} of files"


@dataclass(frozen=True, slots=True)
class Trend:
    """How memory grew after the warm-up of the process that lived longest.

    Attributes:
        percent_per_hour: of what it had at the beginning.
        error: of that, one standard error.
        seconds: how long it was watched.
        first_bytes: what it had, by the line through all samples.
        file_percent_per_hour: how much of the growth is pages of files.
    """

    percent_per_hour: float
    error: float
    seconds: float
    first_bytes: float
    file_percent_per_hour: float = 0.0

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
        size = f"{self.first_bytes / MEBIBYTE:.0f} MiB"
        own = f"its own {self.percent_per_hour - self.file_percent_per_hour:+.1f}, files {self.file_percent_per_hour:+.1f}"
        return f"{self.percent_per_hour:+.1f} ± {self.error:.1f} %/h of {size} in {self.seconds / MINUTE:.0f} min{of} ({own})"


def sample(pid: int, now: float) -> Sample | None:
    """What a process has in memory, None when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    kilobytes = {
        name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines) if name in _KINDS
    }
    resident, files = (kilobytes.get(kind, 0) * 1024 for kind in _KINDS)
    return Sample(now, pid, resident - files, files) if resident else None


def take(pids: Mapping[str, int], now: float, into: dict[str, list[Sample]]) -> None:
    """Notes what each of these processes has."""
    for name, pid in pids.items():
        found = sample(pid, now)
        if found is not None:
            into.setdefault(name, []).append(found)


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
    return _line(counted) if len(counted) >= LEAST_SAMPLES else None


def _line(samples: Sequence[Sample]) -> Trend:
    hours = [(each.seconds - samples[0].seconds) / 3600 for each in samples]
    sizes = [each.resident_bytes for each in samples]
    of_files = statistics.linear_regression(hours, [each.file_bytes for each in samples]).slope
    slope, first = statistics.linear_regression(hours, sizes)
    left = sum((size - first - slope * hour) ** 2 for hour, size in zip(hours, sizes, strict=True))
    middle = statistics.fmean(hours)
    spread = sum((hour - middle) ** 2 for hour in hours)
    error = sqrt(left / (len(hours) - 2) / spread)
    return Trend(100 * slope / first, 100 * error / first, hours[-1] * 3600, first, 100 * of_files / first)
