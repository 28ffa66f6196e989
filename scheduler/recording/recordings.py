"""What can be fetched from a scheduler at work: its inputs as they are now, and its last decisions."""

from collections.abc import Callable, Iterator
from typing import Final

from scheduler.core import Core
from scheduler.recording.capture import Moment, take
from scheduler.recording.file import compressed, lines_of_taken
from scheduler.recording.journal import Journal
from scheduler.recording.pods import PodWriter

_PART_BYTES: Final = 16 * 1024
"""Of lines that are made at a time, which takes a millisecond or so."""


class Recordings:
    """Belongs to the process's loop.

    Args:
        core: the deciding parts.
        moment: now, and the settings.
        clock: monotonic seconds.
        most: decisions that are kept; 0: none.
    """

    def __init__(self, core: Core, moment: Callable[[], Moment], clock: Callable[[], float], most: int) -> None:
        self._core: Final = core
        self._moment: Final = moment
        self._clock: Final = clock
        self._most: Final = most
        self._has_begun = False
        self._journal: Journal | None = None

    def begin(self) -> Journal | None:
        """Scheduling begins, with what a predecessor left taken up. What is to hear of decisions, if anything is."""
        self._has_begun = True
        if self._most:
            self._journal = Journal(self._core, self._moment, self._clock, self._most)
        return self._journal

    @property
    def has_begun(self) -> bool:
        """Whether anything is scheduled here. May be asked from any thread."""
        return self._has_begun

    def inputs(self) -> Iterator[bytes] | None:
        """Everything a decision would read now, as parts of a file; None while nothing is scheduled here."""
        if not self._has_begun:
            return None
        return compressed(lines_of_taken(take(self._core, self._moment())), every_bytes=_PART_BYTES)

    def decisions(self) -> Iterator[bytes] | None:
        """The last decisions, as parts of a file; None where none are recorded."""
        if self._journal is None:
            return None
        recorded, texts = self._journal.recorded(), self._core.state.texts()
        lines = lines_of_taken(recorded.inputs, recorded.each_step(PodWriter(texts)))
        return compressed(lines, every_bytes=_PART_BYTES)
