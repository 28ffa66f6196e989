"""Bytes as JSON holds them: base64 with padding. Pure."""

import re

_WHOLE = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_FOREIGN = re.compile(r"[^A-Za-z0-9+/]")


def misplaced_byte(text: str) -> int | None:
    """Where Go's decoder stops at a text that is no base64; None when it is."""
    plain = text.replace("\r", "").replace("\n", "")
    if _WHOLE.fullmatch(plain):
        return None
    foreign = _FOREIGN.search(plain)
    return foreign.start() if foreign else len(plain) // 4 * 4


def length_of(text: str) -> int:
    """How many bytes a base64 text stands for."""
    plain = text.replace("\r", "").replace("\n", "")
    return len(plain) * 3 // 4 - plain[-2:].count("=")
