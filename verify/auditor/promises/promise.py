"""One promise of Tutti, checked on a history."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from verify.auditor.changes import Change
from verify.auditor.history import History
from verify.auditor.windows import Windows


class Promise(ABC):
    """Sees every change of a history, tells what breaks it. `number` is its name in DESIGN and docs/promises.md."""

    number: ClassVar[str]

    def __init__(self, windows: Windows) -> None:
        self.windows = windows

    @abstractmethod
    def see(self, change: Change, history: History) -> Iterator[str]:
        """What is broken by this change; the history has it already."""

    def close(self, now: float, history: History) -> Iterator[str]:
        """What is broken because something has lasted too long, told once."""
        return iter(())
