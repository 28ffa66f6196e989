"""Levels of single loggers, changed while the process runs: a file says them, and is looked at every few seconds.

In a cluster the file is a ConfigMap, so one change reaches all replicas within a minute or two, without a restart. Names are those
that log records have (`scheduler.preemption`, `kube.cache.informer`, `trace`), each with all below it. A file that cannot be
understood changes nothing and is complained about once.
"""

import logging
import threading
from pathlib import Path
from typing import Any, Final

import yaml

from kube.client.errors import one_line

_log: Final = logging.getLogger(__name__)

LOOK_SECONDS: Final = 5.0
LEVELS: Final = frozenset({"debug", "info", "warning", "error"})


class LogLevels:
    """Makes the loggers follow the file."""

    def __init__(self, file: Path) -> None:
        self._file: Final = file
        self._seen: str | None = None
        self._before: dict[str, int] = {}
        """What the loggers that were changed had been before."""

    def look(self) -> None:
        """Do what the file says now, if it says something new. Without the file everything is as it was."""
        text = self._text()
        if text == self._seen:
            return
        self._seen = text
        try:
            levels = _levels(yaml.safe_load(text))
        except (yaml.YAMLError, ValueError) as error:
            _log.warning("%s changes nothing: %s", self._file, one_line(str(error)))
            return
        self._apply(levels)
        _log.info("log levels: %s", ", ".join(f"{name} {level}" for name, level in levels.items()) or "as at the start")

    def _text(self) -> str:
        try:
            return self._file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def _apply(self, levels: dict[str, str]) -> None:
        for name in self._before.keys() - levels.keys():
            logging.getLogger(name).setLevel(self._before.pop(name))
        for name, level in levels.items():
            logger = logging.getLogger(name)
            self._before.setdefault(name, logger.level)
            logger.setLevel(level.upper())


def follow_log_levels(file: Path | None) -> None:
    """Look at the file now, and then again and again in a thread of its own that ends with the process."""
    if file is None:
        return
    levels = LogLevels(file)
    levels.look()
    threading.Thread(target=_follow, args=(levels, threading.Event()), name="log levels", daemon=True).start()


def _follow(levels: LogLevels, never: threading.Event) -> None:
    while not never.wait(LOOK_SECONDS):
        levels.look()


def _levels(document: Any) -> dict[str, str]:
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ValueError("it must be a mapping of loggers to levels")  # noqa: TRY004 (the text is wrong, not a type of ours)
    levels = {str(name): str(level).lower() for name, level in document.items()}
    for name, level in levels.items():
        if level not in LEVELS:
            raise ValueError(f"{name}: {level!r} is none of {', '.join(sorted(LEVELS))}")
    return levels
