"""I12: the scheduler's cache equals a recount.

Sees the scheduler's metrics, which anybody may read who may read metrics: the result of its own comparison with a fresh list
(`tutti_cache_drift`). Does not see the cache itself; that this comparison finds what it must is tested with the scheduler, and
what a wrong cache would lead to is seen by I2. Without samples nothing is judged.
"""

from collections.abc import Iterator, Mapping

from api.constants import METRIC_CACHE_DRIFT
from verify.auditor.changes import Change
from verify.auditor.history import History
from verify.auditor.promises.promise import Promise


class CacheTruth(Promise):
    """What the scheduler believes is so."""

    number = "I12"

    def see(self, change: Change, history: History) -> Iterator[str]:
        """Nothing: requests do not show the cache."""
        return iter(())

    def sample(self, values: Mapping[str, float], when: float) -> Iterator[str]:
        """Judges one reading of the metrics.

        Args:
            values: by the name of the series with its labels, as in the text that is served.
            when: of the reading, seconds since the epoch.
        """
        for series, value in values.items():
            if series.partition("{")[0] == METRIC_CACHE_DRIFT and value > 0:
                yield f"the cache differs from a fresh list: {series} is {value:g} at {when:.0f}"


def read_metrics(text: str) -> dict[str, float]:
    """Series and values of a metrics page."""
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    pairs = (line.rsplit(" ", 1) for line in lines)
    return {series: float(value) for series, value in pairs}
