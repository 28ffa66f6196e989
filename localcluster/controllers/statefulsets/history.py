"""Keeps a StatefulSet's ControllerRevisions: finds, makes, renumbers and drops them. The decisions are in `revisions`."""

from collections.abc import Sequence
from dataclasses import dataclass

from kube.client.client import Client
from kube.client.errors import AlreadyExists, Conflict, Invalid, NotFound
from kube.client.resources import CONTROLLER_REVISIONS
from localcluster.controllers.documents import Document
from localcluster.controllers.statefulsets.plan import Revisions
from localcluster.controllers.statefulsets.revisions import holds_same, new_revision, next_number, template_of


@dataclass(frozen=True, slots=True)
class History:
    """The two revisions that matter, and how often a name was taken by another template."""

    current: Document
    update: Document
    collisions: int

    @property
    def names(self) -> Revisions:
        """Their names."""
        return Revisions(self.current["metadata"]["name"], self.update["metadata"]["name"])

    def template(self, revision: str) -> Document:
        """The pod template of one of the two."""
        return template_of(self.update if revision == self.names.update else self.current)


async def sync_revisions(client: Client, document: Document, known: Sequence[Document]) -> History:
    """The history of a StatefulSet, after the revision of its present template was made if there was none.

    Raises:
        KubeError: a revision cannot be read or written.
    """
    status = document.get("status") or {}
    collisions = int(status.get("collisionCount") or 0)
    wanted = new_revision(document, next_number(known), collisions)
    equal = [each for each in known if holds_same(each, wanted)]
    if not equal:
        update, collisions = await _make(client, document, wanted, collisions)
    else:
        update = max(equal, key=lambda each: int(each["revision"]))
        if update["revision"] < wanted["revision"] - 1:
            update = await _renumber(client, update, wanted["revision"])
    named = [each for each in known if each["metadata"]["name"] == status.get("currentRevision")]
    return History(named[0] if named else update, update, collisions)


async def _make(client: Client, document: Document, wanted: Document, collisions: int) -> tuple[Document, int]:
    """Creates the revision, under another name when another template has this one."""
    namespace = document["metadata"]["namespace"]
    while True:
        try:
            return await client.create(CONTROLLER_REVISIONS, wanted, namespace), collisions
        except AlreadyExists:
            found = await client.get(CONTROLLER_REVISIONS, wanted["metadata"]["name"], namespace)
        owners = found["metadata"].get("ownerReferences") or []
        if holds_same(found, wanted) and any(each["uid"] == document["metadata"]["uid"] for each in owners):
            return found, collisions
        collisions += 1
        wanted = new_revision(document, wanted["revision"], collisions)


async def _renumber(client: Client, revision: Document, number: int) -> Document:
    """An old revision becomes the newest: the template went back to it.

    The server compares what a revision holds byte for byte and may refuse one that another controller spelled; it then keeps its
    number, which only matters for what is forgotten first.
    """
    meta = revision["metadata"]
    try:
        return await client.replace(
            CONTROLLER_REVISIONS, {**revision, "revision": number}, meta["name"], meta["namespace"]
        )
    except Invalid:
        return revision


async def drop(client: Client, revision: Document) -> None:
    """Deletes exactly this revision."""
    meta = revision["metadata"]
    try:
        await client.delete(CONTROLLER_REVISIONS, meta["name"], meta["namespace"], uid=meta["uid"])
    except (NotFound, Conflict):
        return
