"""All promises at once, checked on one history: feed it records in order, and ask for what was broken.

Each violation begins with the number of its promise. The auditor imports nothing of the product but names, keeps no promise
twice, and never gives an alarm that depends on timing it cannot know: what lasts too long is told by `close`, once.
"""

from collections.abc import Iterable

from verify.auditor.amounts import Amounts
from verify.auditor.audit_log import Record
from verify.auditor.history import History, effect_time
from verify.auditor.model import Group, Key, Pod
from verify.auditor.promises import ALL
from verify.auditor.promises.cache_truth import CacheTruth, read_metrics
from verify.auditor.promises.promise import Promise
from verify.auditor.windows import Windows


class Auditor:
    """Feed it records in order; `close` tells what was broken.

    Attributes:
        windows: how long something may last; may be changed at any time.

    Args:
        promises: which ones; all of them unless said otherwise.
    """

    def __init__(self, promises: Iterable[type[Promise]] = ALL) -> None:
        self.windows = Windows()
        self._history = History()
        self._promises = [each(self.windows) for each in promises]
        self._violations: list[str] = []

    @property
    def pods(self) -> dict[Key, Pod]:
        """The pods that were seen, the latest of each name."""
        return self._history.pods

    @property
    def groups(self) -> dict[Key, Group]:
        """The PodGroups that are there."""
        return self._history.groups

    @property
    def nodes(self) -> dict[str, Amounts]:
        """What each node has to give."""
        return self._history.nodes

    def feed(self, records: Iterable[Record]) -> None:
        """Replays these records; the order is that of their effects."""
        for record in sorted(records, key=effect_time):
            for change in self._history.take(record):
                for promise in self._promises:
                    self._tell(promise, promise.see(change, self._history))

    def sample(self, metrics: str, when: float) -> None:
        """Takes one reading of the scheduler's metrics, the text that it serves."""
        values = read_metrics(metrics)
        for promise in self._promises:
            if isinstance(promise, CacheTruth):
                self._tell(promise, promise.sample(values, when))

    def close(self, now: float) -> list[str]:
        """What was broken since the last time, with what has lasted too long at this moment; starts a new list."""
        for promise in self._promises:
            self._tell(promise, promise.close(now, self._history))
        self._history.forget(now)
        found, self._violations = self._violations, []
        return found

    def _tell(self, promise: Promise, problems: Iterable[str]) -> None:
        self._violations += [f"{promise.number}: {problem}" for problem in problems]
