"""How much memory processes have, and whether it grows.

What grows without end is a process's own memory, which the kernel calls anonymous. Beside it a process has pages of the files that
it runs: they become more whenever code runs for the first time, are as many as the files have at most, and can be taken back. They
are told, not judged.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

MINUTE = 60.0
MEBIBYTE = 2**20
_KINDS = ("RssAnon", "RssFile")
"""What /proc/PID/status calls them."""
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
    anonymous_bytes: int
    file_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.anonymous_bytes / MEBIBYTE:.1f} MiB and {self.file_bytes / MEBIBYTE:.1f} of files"


@dataclass(frozen=True, slots=True)
class Trend:
    """How the own memory of the process that lived longest grew after its warm-up.

    Attributes:
        percent_per_hour: of what it had at the beginning.
        error: of that, one standard error.
        seconds: how long it was watched.
        first_bytes: what it had, by the line through all samples.
        file_bytes: what it has of files in the end.
        more_file_bytes: how much of that came in this time.
    """

    percent_per_hour: float
    error: float
    seconds: float
    first_bytes: float
    file_bytes: int = 0
    more_file_bytes: int = 0

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
        files = f"{self.file_bytes / MEBIBYTE:.0f} MiB of files, {self.more_file_bytes / MEBIBYTE:+.1f}"
        return f"{self.percent_per_hour:+.1f} ± {self.error:.1f} %/h of {size} in {self.seconds / MINUTE:.0f} min{of}; {files}"


def sample(pid: int, now: float) -> Sample | None:
    """What a process has in memory, None when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    kilobytes = {
        name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines) if name in _KINDS
    }
    own, files = (kilobytes.get(kind, 0) * 1024 for kind in _KINDS)
    return Sample(now, pid, own, files) if own else None


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
    begin, end = samples[0], samples[-1]
    hours = [(each.seconds - begin.seconds) / 3600 for each in samples]
    sizes = [each.anonymous_bytes for each in samples]
    slope, first = statistics.linear_regression(hours, sizes)
    left = sum((size - first - slope * hour) ** 2 for hour, size in zip(hours, sizes, strict=True))
    middle = statistics.fmean(hours)
    spread = sum((hour - middle) ** 2 for hour in hours)
    error = sqrt(left / (len(hours) - 2) / spread)
    return Trend(
        100 * slope / first,
        100 * error / first,
        end.seconds - begin.seconds,
        first,
        end.file_bytes,
        end.file_bytes - begin.file_bytes,
    )
