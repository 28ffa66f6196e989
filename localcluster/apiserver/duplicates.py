"""Fields that a JSON body names twice: readers take the last one and say nothing, so they are looked for on their own.

Pure. Only done for clients that ask to be told (kubectl does), because it means reading the body once more.
"""

import json
from collections.abc import Iterator
from typing import Any


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as it was written."""


def duplicate_fields(body: bytes) -> list[str]:
    """Complaints about fields that appear twice; none for a body that is no JSON."""
    try:
        value = json.loads(body, object_pairs_hook=_Pairs)
    except ValueError:
        return []
    return [f'duplicate field "{path}"' for path in dict.fromkeys(_twice(value, ""))]


def _twice(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        seen = set[str]()
        for key, inner in value:
            here = f"{path}.{key}" if path else key
            if key in seen:
                yield here
            seen.add(key)
            yield from _twice(inner, here)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _twice(inner, f"{path}[{number}]")
