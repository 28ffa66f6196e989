"""`tutti webhooks` that looks after its certificate every second and goes by a clock of the test's. A process of the tests only.

`python -m tests.conformance.replicas.hurried_webhooks CLOCK_FILE ARGUMENT...`: the file holds by how many seconds its calendar
differs from the machine's, the arguments are those of `tutti webhooks`. Only the life of certificates goes by that calendar.
"""

import datetime as dt
import sys
from pathlib import Path

import tutti
from webhooks import main as webhooks_main
from webhooks.certificates import refresh

CHECK_SECONDS = 1.0


def install(clock_file: Path) -> None:
    """Shortens the pause between two looks, and shifts the calendar."""

    assert refresh.refresh_periodically.__kwdefaults__ is not None
    refresh.refresh_periodically.__kwdefaults__["every_seconds"] = CHECK_SECONDS
    vars(webhooks_main)["_wall_clock"] = lambda: now_of(clock_file)


def now_of(clock_file: Path) -> dt.datetime:
    """The test's time."""
    return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=float(clock_file.read_text()))


if __name__ == "__main__":
    install(Path(sys.argv[1]))
    sys.exit(tutti.main(["webhooks", *sys.argv[2:]]))
