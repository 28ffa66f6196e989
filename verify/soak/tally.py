"""What a soak counts in the audit log: gangs, binds, evictions, writes of Tutti's. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from api.constants import CONDITION_SCHEDULED
from verify.auditor.audit_log import Record
from verify.auditor.identities import OURS, PROBES, READS, SCHEDULER_USER

NO_WRITE = {"leases", *PROBES}
NO_CHANGE = {*NO_WRITE, "events", "nodes", "nodes/status", "serviceaccounts/token"}


@dataclass
class Tally:
    """Grows with each record.

    Attributes:
        gangs: PodGroups that were made.
        started: PodGroups that were said to have started.
        binds: by Tutti.
        other_binds: by other schedulers.
        evictions: pods that Tutti deleted.
        writes: of Tutti's processes, leases apart, by kind.
        others: changes by anybody else, but for what goes on at rest, too.
    """

    gangs: int = 0
    binds: int = 0
    other_binds: int = 0
    evictions: int = 0
    others: int = 0
    writes: Counter[str] = field(default_factory=Counter)
    _started: set[tuple[str, str]] = field(default_factory=set)

    @property
    def started(self) -> int:
        """How many PodGroups were said to have started."""
        return len(self._started)

    def take(self, records: Iterable[Record]) -> None:
        """Counts these records, too."""
        for record in records:
            if record.user in OURS and record.verb not in READS and record.resource not in NO_WRITE:
                self.writes[f"{record.verb} {record.resource}"] += 1
            elif record.user not in OURS and record.succeeded and record.resource not in NO_CHANGE:
                self.others += 1
            if record.succeeded:
                self._succeeded(record)

    def _succeeded(self, record: Record) -> None:
        match record.resource, record.verb:
            case "podgroups", "create":
                self.gangs += 1
            case "pods/binding", "create":
                self.binds += record.user == SCHEDULER_USER
                self.other_binds += record.user != SCHEDULER_USER
            case "pods", "delete":
                self.evictions += record.user == SCHEDULER_USER
            case "podgroups/status", _ if _says_started(record):
                self._started.add((record.namespace, record.name))


class Calm:
    """Told what was counted in one time after the other: rest is one without changes and starts, long enough after the last.

    What Tutti writes after a change by somebody else is its answer: on a busy machine seconds later, and a hint a minute later.
    A gang that starts once its backoff or somebody's reservation has ended is progress; it ends by itself, as a pod is bound once.

    Args:
        settle_seconds: so long there must have been neither before a time of rest begins.
    """

    def __init__(self, settle_seconds: float) -> None:
        self._settle_seconds = settle_seconds
        self._quiet_seconds = 0.0

    def is_rest(self, tally: Tally, seconds: float) -> bool:
        """Whether the last of these times, so many seconds, was rest."""
        if tally.others or tally.binds:
            self._quiet_seconds = 0.0
            return False
        is_settled = self._quiet_seconds >= self._settle_seconds
        self._quiet_seconds += seconds
        return is_settled


def _says_started(record: Record) -> bool:
    written = (record.request.get("status") or {}).get("conditions") or []
    return any(each["type"] == CONDITION_SCHEDULED and each.get("status") == "True" for each in written)
