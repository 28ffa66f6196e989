"""A page of a list: where the next one begins."""

import contextlib

import msgspec

_HEAD_BYTES = 8192
"""Of a page: enough for its metadata, which hardly fill one kilobyte."""


class _PageMetadata(msgspec.Struct):
    continue_: str = msgspec.field(name="continue", default="")


class _Page(msgspec.Struct):
    metadata: _PageMetadata


_PAGE_DECODER = msgspec.json.Decoder(_Page)


def continue_of(page: bytes) -> str:
    """Where the next page begins, empty at the end.

    Raises:
        msgspec.MsgspecError: it is no list.
    """
    return _PAGE_DECODER.decode(page).metadata.continue_


def continue_in_head(page: bytes) -> str:
    """The same; API servers write the metadata first, and then no object is looked at."""
    end = page.find(b'"items":', 0, _HEAD_BYTES)
    if end > 0:
        with contextlib.suppress(msgspec.MsgspecError):
            return _PAGE_DECODER.decode(page[:end].rstrip(b", \t\r\n") + b"}").metadata.continue_
    return continue_of(page)
