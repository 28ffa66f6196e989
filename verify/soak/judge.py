"""Reads the audit log all the time: what it shows is counted and judged."""

import datetime
import time
from collections.abc import Callable

from verify.auditor.auditor import Auditor
from verify.clusters.client import Object
from verify.soak.cluster import NAMESPACE, Place
from verify.soak.tally import Tally

KILLED_SECONDS = 180.0
"""Nothing is an error that lasts no longer than a process takes to come back, its lease included."""


class Judge:
    """Looks on.

    Attributes:
        tally: what was counted since the beginning, or since it was last set anew.
        violations: all of them.

    Args:
        place: where.
        say: is told of each violation when it is found.
    """

    def __init__(self, place: Place, say: Callable[[str], None]) -> None:
        self.tally = Tally()
        self.violations: list[str] = []
        self._say = say
        self._log = place.log
        self._position = 0
        self._auditor = Auditor()
        self._auditor.windows.widen(KILLED_SECONDS)
        # Users resume Jobs while webhooks are away on purpose; only a real API server notes which.
        self._auditor.windows.allows_members_first = not place.notes_webhooks

    @property
    def pods(self) -> int:
        """How many pods there are that have not ended: what memory has to be seen beside."""
        return sum(not pod.ended for pod in self._auditor.pods.values())

    def look(self) -> None:
        """Takes in what has been written since the last time."""
        records, self._position = self._log.read(self._position)
        self.tally.take(records)
        self._auditor.feed(records)
        found = self._auditor.close(time.time())
        self.violations += found
        for violation in found:
            self._say(f"violation at {datetime.datetime.now(datetime.UTC):%H:%M:%S}: {violation}")


def left_of_gangs(place: Place) -> list[str]:
    """Workloads and PodGroups that are there."""
    return [
        f"{kind}/{name_of(each)}" for kind in ("workloads", "podgroups") for each in place.api.list(kind, NAMESPACE)
    ]


def name_of(one: Object) -> str:
    """Its name."""
    return str(one["metadata"]["name"])
