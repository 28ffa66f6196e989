"""`python -m verify.soak`: prints a table; exit code 1 when a promise was broken, something is left, or memory grows."""

import argparse
import random
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from verify.clusters.server import ServerDiedError
from verify.soak.cluster import EMBEDDED, REAL, NoControlPlaneError
from verify.soak.run import Settings, soak

EXIT_OK: Final = 0
EXIT_BROKEN: Final = 1
EXIT_USAGE: Final = 2
SHORT_MINUTES: Final = 2.0
"""A shorter run than this does not look at rest for long either: it shows that a soak works, not what it is for."""
SHORT_SETTLE_SECONDS: Final = 75.0
"""Longer than `hint_after_seconds`: on a slow machine hints came in the middle of the rest."""
SHORT_REST_SECONDS: Final = 10.0


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m verify.soak", description="Tutti under changes and faults.")
    parser.add_argument("--minutes", type=positive, default=60.0, metavar="N", help="how long (default 60)")
    parser.add_argument("--cluster", choices=[EMBEDDED, REAL], default=EMBEDDED, help="where (default embedded)")
    parser.add_argument("--seed", type=int, help="of changes and faults; by chance unless given, and printed")
    parser.add_argument("--rate", type=positive, default=20.0, metavar="N", help="changes a second (default 20)")
    parser.add_argument(
        "--fault-seconds", type=positive, default=15.0, metavar="N", help="between two faults (default 15)"
    )
    return parser.parse_args(arguments)


def positive(text: str) -> float:
    """A number above zero."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return value


def settings_of(asked: argparse.Namespace) -> Settings:
    """What was asked for; a seed is drawn where none is given."""
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1, 10**9)
    settings = Settings(asked.cluster, asked.minutes * 60, seed, asked.rate, asked.fault_seconds)
    if asked.minutes >= SHORT_MINUTES:
        return settings
    return replace(settings, settle_seconds=SHORT_SETTLE_SECONDS, rest_seconds=SHORT_REST_SECONDS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the exit code."""
    settings = settings_of(parse_arguments(sys.argv[1:] if arguments is None else arguments))
    # Whoever ends it ends the processes that it has started, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    say(f"repeat with --seed {settings.seed} --cluster {settings.cluster}")
    try:
        outcome = soak(settings, say)
    except NoControlPlaneError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_BROKEN
    except (AssertionError, ServerDiedError) as error:
        sys.stderr.write(f"the cluster did not start, or ended: {error}\n")
        return EXIT_BROKEN
    for line in outcome.lines():
        say(line)
    for failure in outcome.failures:
        say(f"not passed: {failure}")
    return EXIT_BROKEN if outcome.failures else EXIT_OK


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
