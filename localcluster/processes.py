"""Processes of a local cluster: supervised, with their output in a log, and never longer alive than whoever started them."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from kube.process.child import Child, Say

REPOSITORY: Final = Path(__file__).resolve().parents[1]
SHOWN_LINES: Final = 5


def tethered_child(
    name: str,
    log: Path,
    module: Sequence[str],
    *,
    say: Say,
    stop_seconds: float,
    before_start: Callable[[int], None] | None = None,
) -> Child:
    """A module that runs as a process until `stop`, started again when it ends by itself.

    Args:
        name: what people call it.
        log: where its output goes.
        module: the module's name and its arguments.
        say: tells people that it ended.
        stop_seconds: how long it may take to end when asked.
        before_start: called with the number of each start; raises to forbid it.
    """
    starts = 0

    def command() -> list[str]:
        nonlocal starts
        starts += 1
        if before_start is not None:
            before_start(starts)
        return [sys.executable, "-m", "localcluster.tethered", str(log), *module]

    path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    return Child(
        name,
        command,
        say=say,
        clock=time.monotonic,
        sleep=asyncio.sleep,
        environment={**os.environ, "PYTHONPATH": path},
        stop_seconds=stop_seconds,
    )


def end_of(log: Path) -> str:
    """The last lines of a log, for people."""
    if not log.exists():
        return "(it is empty)"
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN_LINES:])
