"""Forgets objects that were deleted while nobody watched.

kopf lists again after its watch has expired (410 Gone) and reports what is there, but not what has gone since. So the server is
asked now and then how many objects there are, which costs next to nothing; only when that is another number than we know are all
of them listed, and those that the list lacks are forgotten.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from controllers.owner_store import OwnerStore
from kube.cache.decoding import ListDecoder, ObjectHead
from kube.cache.store import KubeObject
from kube.client.client import Client
from kube.client.errors import KubeError
from kube.client.resources import Resource

_log = logging.getLogger(__name__)

T = TypeVar("T", bound=KubeObject)

_HEADS: Final = ListDecoder(ObjectHead)


async def forget_deleted(store: OwnerStore[T], client: Client, resource: Resource) -> int:
    """Take objects out of the store that the server has no more; gives their number. What cannot be asked is left for next time."""
    known = [item for key in store.keys() if (item := store.get(key)) is not None]  # noqa: SIM118 (no mapping)
    if not known:
        return 0
    try:
        first = await client.request_json("GET", resource.path(), params={"limit": "1"})
        if _count(first) == len(known):
            return 0
        there = await _uids(client, resource)
    except KubeError as error:
        _log.info("whether %s were deleted unnoticed could not be found out: %s", resource.plural, error)
        return 0
    # Known before the list began, and not in it: deleted, whatever has happened since.
    gone = [item for item in known if item.metadata.uid not in there]
    for item in gone:
        store.remove(item)
    if gone:
        _log.info("%d %s were deleted while their watch was broken", len(gone), resource.plural)
    return len(gone)


def _count(found: Mapping[str, Any]) -> int | None:
    """How many objects there are, by the first page of a list; None where the server does not say."""
    metadata, listed = found.get("metadata") or {}, len(found.get("items") or ())
    rest = metadata.get("remainingItemCount")
    if rest is None and metadata.get("continue"):
        return None
    return listed + int(rest or 0)


async def _uids(client: Client, resource: Resource) -> set[str]:
    there: set[str] = set()
    async for document in client.list_pages(resource):
        page = _HEADS.page(document)
        there.update(item.metadata.uid for item in page.items)
        there.update(metadata.uid for metadata, _ in page.misfits)
    return there
