"""How controllers fingerprint what they made pods from: canonical bytes, a 32-bit hash, a short name.

Pure. The bytes and the hash are those of the stock controllers, so that a set keeps its revisions when the stock
controllers and these take turns: JSON with sorted keys and without blanks, in which `<`, `>` and `&` are escaped; FNV-1
(not 1a); letters that form no words.
"""

from typing import Any, Final

import orjson

from api.names import safe_encode

_OFFSET: Final = 0x811C9DC5
_PRIME: Final = 0x01000193
_MASK: Final = 0xFFFFFFFF
_ESCAPES: Final = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def canonical(document: Any) -> bytes:
    """The document's canonical JSON."""
    text = orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text.encode()


def fnv1_32(data: bytes) -> int:
    """The 32-bit FNV-1 hash of some bytes."""
    digest = _OFFSET
    for byte in data:
        digest = (digest * _PRIME & _MASK) ^ byte
    return digest


def fingerprint(data: bytes) -> str:
    """The hash as it stands in names and labels."""
    return safe_encode(str(fnv1_32(data)))
