"""Looks ControllerRevisions up: what the pods of a replica were made from.

They never change and are needed once per group, so they are listed when one is needed and remembered for a while, not watched.
"""

import json
from collections import OrderedDict
from typing import Final

import msgspec

from api.constants import LWS_NAME, LWS_REVISION
from api.lws import LeaderWorkerSet
from api.meta import controller_of
from api.revision import Revision
from kube.client.client import Client
from kube.client.resources import CONTROLLER_REVISIONS

MAX_REMEMBERED: Final = 256


class Revisions:
    """The revisions of all LeaderWorkerSets."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: OrderedDict[tuple[str, str], Revision] = OrderedDict()

    async def find(self, lws: LeaderWorkerSet, revision: str) -> Revision | None:
        """The revision of that hash, None when it does not exist (yet).

        Raises:
            KubeError: it could not be looked up.
        """
        key = (lws.metadata.uid, revision)
        if key not in self._known:
            found = await self._read(lws, revision)
            if found is None:
                return None
            self._known[key] = found
        self._known.move_to_end(key)
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return self._known[key]

    async def _read(self, lws: LeaderWorkerSet, revision: str) -> Revision | None:
        selector = f"{LWS_NAME}={lws.metadata.name},{LWS_REVISION}={revision}"
        newest: tuple[int, Revision] | None = None
        async for page in self._client.list_pages(
            CONTROLLER_REVISIONS, lws.metadata.namespace, label_selector=selector
        ):
            for item in json.loads(page).get("items") or ():
                # What it holds stays JSON, so that its templates are read like pods.
                found = msgspec.json.decode(json.dumps(item), type=Revision)
                owner, number = controller_of(found.metadata), int(item.get("revision") or 0)
                # A StatefulSet's own revisions carry the same labels.
                if owner is None or owner.uid != lws.metadata.uid:
                    continue
                if newest is None or number > newest[0]:
                    newest = (number, found)
        return newest[1] if newest is not None else None
