"""What the processes below this one have used, as the kernel tells it (Linux: /proc)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a core so far, and resident memory now and at most, in MiB."""

    pid: int
    cpu_seconds: float
    now_mib: float
    peak_mib: float


def cost_of(word: str) -> Cost:
    """What the process below this one with this word on its command line has used.

    Raises:
        LookupError: there is not exactly one such process.
    """
    pid = _process(word)
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(times[11]) + int(times[12])
    return Cost(pid, ticks / _TICKS_PER_SECOND, _mib(status["VmRSS"]), _mib(status["VmHWM"]))


def option_of(word: str, option: str) -> str:
    """The value of `--option=value` on that process's command line.

    Raises:
        LookupError: there is not exactly one such process, or it was given no such option.
    """
    prefix = f"--{option}="
    for each in _words(_process(word)):
        if each.startswith(prefix):
            return each.removeprefix(prefix)
    raise LookupError(f"{word!r} has no option --{option}")


def _process(word: str) -> int:
    found = [pid for pid in _below(os.getpid()) if word in _words(pid)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} processes have {word!r} on their command line")
    return found[0]


def _mib(text: str) -> float:
    return int(text.split(maxsplit=1)[0]) / 1024


def _below(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _read(path).split():
            yield int(child)
            yield from _below(int(child))


def _words(pid: int) -> list[str]:
    return _read(Path(f"/proc/{pid}/cmdline")).split("\0")


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # a process that has just ended
        return ""
