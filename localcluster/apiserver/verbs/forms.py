"""The forms an answer can have: whole objects, tables for people, or metadata alone.

Pure. The client says which by its Accept header; a form that the server cannot make is passed over for the next one.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache

import orjson

from localcluster.apiserver import status
from localcluster.apiserver.core import Core, Tables
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.verbs.read import Listing


class Form(Enum):
    """What an answer looks like."""

    OBJECT = "object"
    TABLE = "table"
    METADATA = "metadata"


Render = Callable[[Stored], bytes]

_JSON = frozenset({"application/json", "application/*", "*/*", ""})


@lru_cache(maxsize=256)
def accepted_form(accept: str) -> Form:
    """The first form in an Accept header that the server can make.

    Raises:
        StatusError: there is none.
    """
    for part in accept.split(","):
        media_type, *parameters = [each.strip() for each in part.split(";")]
        if media_type not in _JSON:
            continue
        given = dict(each.partition("=")[::2] for each in parameters)
        wanted = given.get("as", "")
        if not wanted:
            return Form.OBJECT
        if given.get("g") == "meta.k8s.io" and given.get("v") in {"v1", "v1beta1"}:
            if wanted == "Table":
                return Form.TABLE
            if wanted in {"PartialObjectMetadata", "PartialObjectMetadataList"}:
                return Form.METADATA
    raise status.not_acceptable()


def renderer(core: Core, kind: KindInfo, form: Form, query: Mapping[str, str]) -> Render | None:
    """How the events of a watch are shown; None: as the stored objects are."""
    if form is Form.METADATA:
        return lambda stored: orjson.dumps(partial(kind.served(stored.obj)))
    if form is Form.TABLE and core.tables is not None:
        return _Rows(core.tables, kind, query.get("includeObject", "Metadata"))
    if kind.from_storage is not None:
        return lambda stored: orjson.dumps(kind.served(stored.obj))
    return None


class _Rows:
    """Tables of one row; only the first of a stream says what the columns are."""

    def __init__(self, tables: Tables, kind: KindInfo, include_object: str) -> None:
        self._tables = tables
        self._kind = kind
        self._include_object = include_object
        self._with_columns = True

    def __call__(self, stored: Stored) -> bytes:
        table = self._tables.render(
            self._kind,
            [self._kind.served(stored.obj)],
            list_metadata=None,
            include_object=self._include_object,
            with_columns=self._with_columns,
        )
        self._with_columns = False
        return orjson.dumps(table)


def one(core: Core, kind: KindInfo, stored: Stored, form: Form, query: Mapping[str, str]) -> bytes:
    """An object that was read; it is in its served form."""
    if form is Form.METADATA:
        return orjson.dumps(partial(stored.obj))
    if form is Form.TABLE and core.tables is not None:
        include = query.get("includeObject", "Metadata")
        return orjson.dumps(core.tables.render(kind, [stored.obj], list_metadata=None, include_object=include))
    return stored.encoded


def many(core: Core, listing: Listing, form: Form, query: Mapping[str, str]) -> bytes:
    """A list that was read."""
    if form is Form.METADATA:
        items = [partial(each) for each in listing.objects()]
        kind = "PartialObjectMetadataList"
        return orjson.dumps(
            {"kind": kind, "apiVersion": "meta.k8s.io/v1", "metadata": listing.metadata(), "items": items}
        )
    if form is Form.TABLE and core.tables is not None:
        include = query.get("includeObject", "Metadata")
        table = core.tables.render(
            listing.kind, listing.objects(), list_metadata=listing.metadata(), include_object=include
        )
        return orjson.dumps(table)
    return listing.encoded()


def partial(obj: Object) -> Object:
    """The metadata of an object, as an object."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}
