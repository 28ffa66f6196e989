"""A soak of twenty seconds: that `make soak` works, with faults and a verdict. What it is for takes an hour."""

import sys

from verify.soak.main import parse_arguments, settings_of
from verify.soak.run import soak


def test_a_short_soak_breaks_no_promise_leaves_nothing_and_writes_nothing_at_rest() -> None:
    settings = settings_of(parse_arguments(["--minutes", "0.34", "--fault-seconds", "4"]))
    sys.stdout.write(f"repeat with --seed {settings.seed}\n")
    outcome = soak(settings, print)
    shown = "\n".join(outcome.lines())
    sys.stdout.write(shown + "\n")
    assert not outcome.failures, shown
