"""What becomes of items about which an exception was raised: set aside, said, counted, logged.

They are tried again when they change, or rarely. Nobody else notices anything.
"""

import logging
from collections.abc import Callable
from typing import Final

from scheduler.cycle.decision import Decision
from scheduler.item_errors import ItemError, ItemErrors
from scheduler.plugins.status import Code, Status
from scheduler.queue.queue import Queue
from scheduler.reporting.reporter import Reporter
from scheduler.state.cluster import ClusterState
from scheduler.state.records import ItemKey

_log = logging.getLogger(__name__)


class SetAside:
    """Belongs to the scheduling loop; `count` is told in which stage each exception was met."""

    def __init__(
        self,
        errors: ItemErrors,
        queue: Queue,
        state: ClusterState,
        reporter: Reporter,
        count: Callable[[str], None],
    ) -> None:
        self._errors: Final = errors
        self._queue: Final = queue
        self._state: Final = state
        self._reporter: Final = reporter
        self._count: Final = count

    def look(self) -> None:
        """Take care of whatever was noted since the last time."""
        for met in self._errors.take():
            self._count(met.stage)
            if met.key is None:
                _log.error("an exception in the stage %r of scheduling", met.stage, exc_info=met.error)
                continue
            _log.error("setting %s aside, stage %r: exception", _named(met.key), met.stage, exc_info=met.error)
            self._take_out(met.key, met)

    def _take_out(self, key: ItemKey, met: ItemError) -> None:
        message = f"internal error: {type(met.error).__name__}; it is set aside until it changes"
        if not self._queue.set_aside(key, message, self._state):
            return
        try:
            self._reporter.decided(refusal_of(key, message))
        except Exception:  # noqa: BLE001 (logged; it has been set aside all the same)
            _log.exception("%s cannot be told that it is set aside", _named(key))


def refusal_of(key: ItemKey, message: str) -> Decision:
    """What is said of an item that met a defect."""
    return Decision(key=key, status=Status(Code.ERROR, message), need=0)


def _named(key: ItemKey) -> str:
    return f"{key.kind} {key.namespace}/{key.name}"
