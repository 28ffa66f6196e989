"""How two answers differ, and which differences docs/localcluster.md owns up to.

The document has a table of known differences (request, field, what, why) and a list of what is not compared. Request and
field may hold `*`, and several of each are set apart by `; `. A request is `SCRIPT/STEP`, a field a path such as
`body.status.phase`.
"""

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.parity.play import REPOSITORY

DOCUMENT = REPOSITORY / "docs" / "localcluster.md"
HEADER = "| Request | Field | Real server | Embedded server | Why |"
ABSENT = "(absent)"
SHOWN = 300


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs."""

    request: str
    field: str
    real: str
    here: str

    def __str__(self) -> str:
        return f"{self.request} | {self.field}\n    real: {self.real}\n    here: {self.here}"


@dataclass(frozen=True, slots=True)
class Known:
    """A row of the table in the document."""

    requests: str
    fields: str

    def covers(self, difference: Difference) -> bool:
        """Whether the row speaks of this difference."""
        return any(
            fnmatch.fnmatchcase(difference.request, _pattern(each)) for each in self.requests.split("; ")
        ) and any(fnmatch.fnmatchcase(difference.field, _pattern(each)) for each in self.fields.split("; "))


def _pattern(text: str) -> str:
    """Brackets are meant as they stand: only `*` is special."""
    return text.replace("[", "[[]").replace("?", "[?]")


def differences(script: str, real: dict[str, Any], here: dict[str, Any]) -> list[Difference]:
    """All fields in which the answers to a script differ."""
    return [
        Difference(f"{script}/{step}", field, _shown(ours), _shown(theirs))
        for step in {**real, **here}
        for field, ours, theirs in _compared(real.get(step, ABSENT), here.get(step, ABSENT))
    ]


def _compared(real: Any, here: Any) -> Iterator[tuple[str, Any, Any]]:
    """The differing fields; of answers with different codes only the code and the message."""
    if isinstance(real, dict) and isinstance(here, dict) and real.get("code") != here.get("code"):
        real, here = ({"code": each.get("code"), "body": _told(each)} for each in (real, here))
    yield from _walk("", real, here)


def _told(answer: dict[str, Any]) -> Any:
    body = answer.get("body")
    return {"message": body.get("message", "")} if isinstance(body, dict) else {"message": body}


def _walk(path: str, real: Any, here: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(real, dict) and isinstance(here, dict):
        for key in {**real, **here}:
            yield from _walk(f"{path}.{key}" if path else key, real.get(key, ABSENT), here.get(key, ABSENT))
    elif isinstance(real, list) and isinstance(here, list) and len(real) == len(here):
        for position, (left, right) in enumerate(zip(real, here, strict=True)):
            yield from _walk(f"{path}.{position}", left, right)
    elif real != here or type(real) is not type(here):
        yield path, real, here


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def known(document: Path = DOCUMENT) -> list[Known]:
    """The rows of the table of known differences."""
    lines = document.read_text().splitlines()
    rows = []
    for line in lines[lines.index(HEADER) + 2 :]:
        if not line.startswith("|"):
            break
        requests, fields, *_ = [cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")]
        rows.append(Known(requests, fields))
    return rows


def unknown(found: list[Difference], rows: list[Known]) -> list[Difference]:
    """The differences that no row speaks of."""
    return [each for each in found if not any(row.covers(each) for row in rows)]
