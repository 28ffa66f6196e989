"""Objects that a controller writes back whole: the document as the server sent it, beside the fields it decides by.

A status update replaces the object, so nothing the server told us may get lost on the way.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from api.meta import Metadata
from kube.cache.decoding import Page, head_of
from kube.cache.store import KubeObject

T = TypeVar("T", bound=KubeObject)

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Whole(Generic[T]):
    """An object twice: typed, and as it came. The document belongs to the store and must not be changed."""

    view: T
    document: Document

    @property
    def metadata(self) -> Metadata:
        """The object's metadata."""
        return self.view.metadata


class _Page(msgspec.Struct):
    metadata: dict[str, Any]
    items: list[msgspec.Raw] | None = None


class WholeDecoder(Generic[T]):
    """Decodes objects into `Whole`s."""

    def __init__(self, view: type[T]) -> None:
        self._views: msgspec.json.Decoder[T] = msgspec.json.Decoder(view)

    def page(self, document: bytes) -> Page[Whole[T]]:
        """The objects of one page of a list; raises MsgspecError when it is no list."""
        page = msgspec.json.decode(document, type=_Page)
        items: list[Whole[T]] = []
        misfits: list[tuple[Metadata, str]] = []
        for entry in page.items or []:
            try:
                items.append(self.item(entry))
            except msgspec.ValidationError as error:
                misfits.append((head_of(entry), str(error)))
        return Page(items, str(page.metadata.get("resourceVersion", "")), misfits)

    def item(self, document: msgspec.Raw) -> Whole[T]:
        """One object; raises MsgspecError when it does not fit."""
        return Whole(self._views.decode(document), msgspec.json.decode(document))
