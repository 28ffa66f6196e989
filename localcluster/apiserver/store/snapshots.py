"""Lists that are read page by page: every page shows the same moment, however much changes in between.

A snapshot is a list of records, which never change, so keeping one costs a pointer per object. Only so many are kept; a
client that takes too long is told to start again, as with the real server.
"""

import base64
import binascii
from collections import OrderedDict
from typing import NamedTuple

import orjson

from localcluster.apiserver import status
from localcluster.apiserver.store.memory import Stored

MOST_SNAPSHOTS = 64


class Page(NamedTuple):
    """Part of a snapshot; `rest` is how many records come after it, `token` asks for them."""

    records: list[Stored]
    version: int
    rest: int
    token: str


class Snapshots:
    """The lists in progress, by number."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[int, list[Stored]]] = OrderedDict()
        self._next = 0

    def first(self, records: list[Stored], version: int, limit: int) -> Page:
        """The first page of a list."""
        if not limit or len(records) <= limit:
            return Page(records, version, 0, "")
        self._next += 1
        self._kept[self._next] = (version, records)
        if len(self._kept) > MOST_SNAPSHOTS:
            self._kept.popitem(last=False)
        return self._page(self._next, 0, limit)

    def following(self, token: str, limit: int) -> Page:
        """The page that a token asks for.

        Raises:
            StatusError: the token is none, or too old.
        """
        number, start = _opened(token)
        if number not in self._kept:
            raise status.expired(
                "The provided continue parameter is too old to display a consistent list result. You can start a new "
                "list without the continue parameter."
            )
        return self._page(number, start, limit)

    def _page(self, number: int, start: int, limit: int) -> Page:
        version, records = self._kept[number]
        end = start + limit if limit else len(records)
        rest = max(len(records) - end, 0)
        if not rest:
            # A client whose answer was lost asks for the last page again: it stays until newer lists push it out.
            self._kept.move_to_end(number, last=False)
        token = base64.urlsafe_b64encode(orjson.dumps({"v": "meta.k8s.io/v1", "rv": number, "start": end})).decode()
        return Page(records[start:end], version, rest, token if rest else "")


def _opened(token: str) -> tuple[int, int]:
    try:
        content = orjson.loads(base64.urlsafe_b64decode(token))
        return int(content["rv"]), int(content["start"])
    except (binascii.Error, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        text = "continue key is not valid: illegal base64 data at input byte 0"
        raise status.bad_request(f"invalid continue token: {text}") from error
