"""One version of Tutti goes, and another one comes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from tests.conformance.upgrades.gangs import SETTLE_SECONDS
from verify.clusters.eventually import eventually
from verify.clusters.tutti_process import Tutti


def start(tutti: Tutti) -> None:
    """Whoever was killed has left leases behind, and a busy machine takes its time."""

    def runs() -> bool:
        tutti.ensure_running()
        return True

    eventually(runs, within_seconds=SETTLE_SECONDS)


def end(tutti: Tutti) -> None:
    if tutti.server.running:
        tutti.stop()


@contextmanager
def replaced(before: Tutti, after: Tutti, how: signal.Signals) -> Iterator[None]:
    """One version goes when this is left, and the other one comes."""
    yield
    if how is signal.SIGKILL:
        before.kill_everything()
    else:
        before.stop()
    start(after)
