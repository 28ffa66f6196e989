"""Where the Authorization header comes from, and when it must be got anew.

Service account tokens and tokens of cloud plugins live for an hour or less, so a token is never simply remembered: each
source knows when what it has is too old, and `refresh` (after a 401) makes it forget at once.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from api.errors import ConfigurationError

_FILE_READ_PERIOD_SECONDS = 30.0
_EXPIRY_MARGIN_SECONDS = 60.0
_PLUGIN_PAUSE_SECONDS = 5.0

Clock = Callable[[], float]


class TokenSource(Protocol):
    """Gives the value of the Authorization header, "" for none."""

    def authorization(self, *, refresh: bool) -> str:
        """The header's value. May read a file or run a program, so it may block when `is_fresh` is false."""

    def is_fresh(self) -> bool:
        """Whether `authorization` would answer at once from memory."""


@dataclass(frozen=True, slots=True)
class FixedToken:
    """A header that never changes: a token in the kubeconfig, user and password, or nothing at all."""

    header: str

    def authorization(self, *, refresh: bool) -> str:  # noqa: ARG002 (there is nothing to refresh)
        """The header."""
        return self.header

    def is_fresh(self) -> bool:
        """Always."""
        return True


@dataclass(slots=True)
class FileToken:
    """A token in a file that somebody else keeps current, as the kubelet does for service accounts."""

    path: Path
    clock: Clock = time.monotonic
    _header: str = ""
    _read_at: float | None = None

    def authorization(self, *, refresh: bool) -> str:
        """The header from the file, read again when older than half a minute; an unreadable file keeps the last one.

        Raises:
            ConfigurationError: the file was never readable.
        """
        if refresh or not self.is_fresh():
            self._read()
        return self._header

    def is_fresh(self) -> bool:
        """Whether the file was read within the last half minute."""
        return self._read_at is not None and self.clock() - self._read_at < _FILE_READ_PERIOD_SECONDS

    def _read(self) -> None:
        try:
            token = self.path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            if not self._header:
                raise ConfigurationError(f"cannot read the token file {self.path}: {error}") from error
            return
        if not token and not self._header:
            raise ConfigurationError(f"the token file {self.path} is empty")
        if token:
            self._header = f"Bearer {token}"
        self._read_at = self.clock()


@dataclass(frozen=True, slots=True)
class PluginAnswer:
    """What an exec plugin said: a token, a client certificate with its key (PEM), or both."""

    token: str = ""
    certificate_pem: str = ""
    key_pem: str = ""
    expires: datetime | None = None


@dataclass(slots=True)
class PluginToken:
    """The token of an exec plugin, asked for again shortly before it expires."""

    run: Callable[[], PluginAnswer]
    answer: PluginAnswer
    wall_clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    clock: Clock = time.monotonic
    _ran_at: float | None = None
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def authorization(self, *, refresh: bool) -> str:
        """The header; runs the plugin when the token is about to expire, once however many requests notice it.

        Raises:
            ConfigurationError: the plugin failed.
        """
        if refresh or not self.is_fresh():
            with self._guard:
                if not self._ran_just_now():
                    self.answer = self.run()
                    self._ran_at = self.clock()
        return f"Bearer {self.answer.token}" if self.answer.token else ""

    def _ran_just_now(self) -> bool:
        return self._ran_at is not None and self.clock() - self._ran_at < _PLUGIN_PAUSE_SECONDS

    def is_fresh(self) -> bool:
        """Whether the token lives for at least another minute."""
        expires = self.answer.expires
        return expires is None or (expires - self.wall_clock()).total_seconds() > _EXPIRY_MARGIN_SECONDS
