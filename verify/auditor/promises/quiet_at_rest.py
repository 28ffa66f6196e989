"""I9: at rest nothing is written but leases.

Sees: every write and attempt of our accounts later than `rest_seconds` after the last successful change by anybody else.
Others' leases, events and node heartbeats are no change. Does not see: clocks of ours that are due later on purpose (a time-out
that a user set for a gang, a certificate's renewal); a soak that has them widens the window.
"""

from collections.abc import Iterator
from typing import Any

from verify.auditor.changes import Answered, Change
from verify.auditor.history import History
from verify.auditor.identities import OURS, PROBES, READS
from verify.auditor.promises.promise import Promise

NO_CHANGE = {"leases", "events", "nodes/status", "serviceaccounts/token", *PROBES}
ALLOWED = {"leases", *PROBES}


class QuietAtRest(Promise):
    """Who has nothing to do writes nothing."""

    number = "I9"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._last_change: float | None = None

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Compares a write of ours with the last change by others."""
        if not isinstance(change, Answered):
            return
        record = change.record
        if record.user not in OURS:
            if record.succeeded and record.resource not in NO_CHANGE:
                self._last_change = record.completed
        elif record.verb not in READS and record.resource not in ALLOWED and self._last_change is not None:
            rested = record.received - self._last_change
            if rested > self.windows.rest_seconds:
                yield f"written after {rested:.0f} s without a change by anybody else: {record}"
