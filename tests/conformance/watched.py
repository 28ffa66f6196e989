"""What a Prometheus tells of processes of ours, wherever they are after a restart."""

from tests.conformance.prometheus import Prometheus
from verify.clusters.eventually import eventually
from verify.clusters.tutti_process import CHILDREN, Tutti

SOON_SECONDS = 90
POLL_SECONDS = 0.3


class Watched:
    """A Prometheus that reads the processes of `tutti run`, and those beside them.

    Attributes:
        beside: the ports of their metrics, by name.
    """

    def __init__(self, running: Prometheus, tutti: Tutti) -> None:
        self._running = running
        self._tutti = tutti
        self.beside: dict[str, int] = {}

    def is_well(self) -> bool:
        """Whether all three are read, and nothing is wrong."""
        return not self.firing() and self._running.up() == set(CHILDREN)

    def firing(self) -> set[str]:
        """The alerts that fire now."""
        self._running.read(self._tutti.metrics_ports() | self.beside)
        return self._running.firing()

    def tells(self, alert: str) -> None:
        """Returns once the alert fires."""
        eventually(lambda: alert in self.firing(), within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)

    def no_longer_tells(self, alert: str) -> None:
        """Returns once it does not."""
        eventually(lambda: alert not in self.firing(), within_seconds=SOON_SECONDS, poll_seconds=POLL_SECONDS)
