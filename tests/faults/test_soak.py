"""A soak of twenty seconds: that `make soak` works, with faults and a verdict. What it is for takes an hour."""

import os
import sys

from verify.soak.main import parse_arguments, settings_of
from verify.soak.run import soak

SEED_IN_CI = 500
"""The scheduler is killed, then binds are dropped and watches end; a change is judged by itself."""


def test_a_short_soak_breaks_no_promise_leaves_nothing_and_writes_nothing_at_rest() -> None:
    seed = os.environ.get("TUTTI_SEED") or (str(SEED_IN_CI) if os.environ.get("CI") else "")
    chosen = ["--seed", seed] if seed else []
    settings = settings_of(parse_arguments(["--minutes", "0.34", "--fault-seconds", "4", *chosen]))
    sys.stdout.write(f"repeat with TUTTI_SEED={settings.seed}\n")
    outcome = soak(settings, print)
    shown = "\n".join(outcome.lines())
    sys.stdout.write(shown + "\n")
    assert not outcome.failures, shown
