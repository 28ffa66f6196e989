"""Logs: one record per line, whatever a user's object contains.

Names, messages and annotations of users end up in log records. Control characters are escaped, so that nobody can forge
a record or disturb a terminal, and the length is bounded, so that nobody can fill a disk with one object.
"""

import json
import logging
import sys
import time
from typing import IO, Any, Final, Literal

MAX_RECORD_LENGTH: Final = 8192
"""Longest message kept, in characters; a traceback counts separately."""

_log = logging.getLogger(__name__)

_NOISY: Final = ("kopf", "kopf.objects", "aiohttp.access", "kubernetes", "urllib3")
_HARMLESS: Final = {ord("\t"): " "}


def escaped(text: str) -> str:
    """The text with control and line-separating characters made visible, cut to a bounded length."""
    text = text.translate(_HARMLESS)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return text if len(text) <= MAX_RECORD_LENGTH else text[: MAX_RECORD_LENGTH - 1] + "…"


class _LineFormatter(logging.Formatter):
    def __init__(self, component: str) -> None:
        super().__init__()
        self.component = component

    def parts(self, record: logging.LogRecord) -> dict[str, str]:
        """The record's fields in the order in which they are shown."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        parts = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "component": self.component,
            "logger": record.name,
            "message": escaped(record.getMessage()),
        }
        if record.exc_info:
            parts["error"] = escaped(self.formatException(record.exc_info))
        return parts


class TextFormatter(_LineFormatter):
    """For people: time, level, component, message."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        parts = self.parts(record)
        line = f"{parts['time']} {parts['level']:<8}{parts['component']}: {parts['message']}"
        return f"{line} | {parts['error']}" if "error" in parts else line


class JsonFormatter(_LineFormatter):
    """For log collectors: one JSON object, in which what a record carries as `fields` stands under names of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        fields: dict[str, str | int] = getattr(record, "fields", {})
        more = {name: escaped(value) if isinstance(value, str) else value for name, value in fields.items()}
        return json.dumps({**self.parts(record), **more}, ensure_ascii=False)


def configure_logs(
    log_format: Literal["text", "json"], component: str, *, level: str = "info", stream: IO[Any] | None = None
) -> None:
    """Send all records of the process to one stream, replacing whatever was configured before.

    Args:
        log_format: `text` for people, `json` for log collectors.
        component: stands in every record.
        level: least important records to keep.
        stream: None: standard error.
    """
    handler = logging.StreamHandler(stream if stream is not None else sys.stderr)
    handler.setFormatter(JsonFormatter(component) if log_format == "json" else TextFormatter(component))
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name in _NOISY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def tell_refusal(reason: str) -> None:
    """Say why the process cannot start: in a line for people, or as a record where records are for collectors."""
    if any(isinstance(handler.formatter, JsonFormatter) for handler in logging.getLogger().handlers):
        _log.error("%s", reason)
    else:
        sys.stderr.write(f"error: {reason}\n")
