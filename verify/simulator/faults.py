"""What goes wrong between a process and the API server: chosen from a seed, one fault for one sending of a request."""

import random
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Fault(Enum):
    """What becomes of one sending of a request."""

    NONE = "none"
    UNREACHABLE = "unreachable"
    """No connection: it was not carried out, and the sender knows."""
    REQUEST_LOST = "request lost"
    """It was not carried out, and no answer comes."""
    ANSWER_LOST = "answer lost"
    """It was carried out, and the connection broke before the answer."""
    ANSWER_LATE = "answer late"
    """It was carried out, and the answer comes after the sender has stopped waiting."""
    CONFLICT = "409"
    TOO_MANY = "429"
    INTERNAL = "500"
    """Refused by the server, which did nothing."""
    INTERNAL_AFTER = "500 after"
    """Carried out, and then answered with 500."""
    UNAVAILABLE = "503"


WRITE_FAULTS: Final = (
    Fault.UNREACHABLE,
    Fault.REQUEST_LOST,
    Fault.ANSWER_LOST,
    Fault.ANSWER_LOST,
    Fault.ANSWER_LATE,
    Fault.CONFLICT,
    Fault.TOO_MANY,
    Fault.INTERNAL,
    Fault.INTERNAL_AFTER,
    Fault.UNAVAILABLE,
)
READ_FAULTS: Final = (Fault.UNREACHABLE, Fault.REQUEST_LOST, Fault.TOO_MANY, Fault.INTERNAL, Fault.UNAVAILABLE)


class Broken(Enum):
    """How a watch ends before its time."""

    CUT = "cut"
    SILENT = "silent"
    """Nothing comes any more, and the connection stays open."""
    GONE = "410"


@dataclass(frozen=True, slots=True)
class Weather:
    """How bad the network is.

    Attributes:
        latency_seconds: the longest usual way in one direction; each takes between a tenth of it and all of it.
        slow_chance: how often a way takes up to twenty times as long.
        write_chance: how often something goes wrong with a write.
        read_chance: the same of reads.
        watch_chance: how often a line of a watch is the last one that comes.
    """

    latency_seconds: float = 0.004
    slow_chance: float = 0.02
    write_chance: float = 0.0
    read_chance: float = 0.0
    watch_chance: float = 0.0


CALM: Final = Weather()
STORMY: Final = Weather(write_chance=0.08, read_chance=0.05, watch_chance=0.004)


class Chance:
    """Draws what happens to each request, from one seeded source."""

    def __init__(self, source: random.Random, weather: Weather = CALM) -> None:
        self._source = source
        self.weather = weather

    def way_seconds(self) -> float:
        """How long one way takes."""
        weather, source = self.weather, self._source
        longest = weather.latency_seconds * (20 if source.random() < weather.slow_chance else 1)
        return longest * (0.1 + 0.9 * source.random())

    def fault(self, *, is_read: bool) -> Fault:
        """What becomes of a sending."""
        chance = self.weather.read_chance if is_read else self.weather.write_chance
        if not chance or self._source.random() >= chance:
            return Fault.NONE
        return self._source.choice(READ_FAULTS if is_read else WRITE_FAULTS)

    def break_watch(self) -> Broken | None:
        """How a watch ends at this line, None when it goes on."""
        chance = self.weather.watch_chance
        if not chance or self._source.random() >= chance:
            return None
        return self._source.choice(tuple(Broken))
