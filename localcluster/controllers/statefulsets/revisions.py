"""The history of a StatefulSet's pod template, as ControllerRevisions. Pure.

A revision holds a patch that puts the template back. Its name is the set's and a hash of that patch, so the same template
has the same revision for ever, and going back to an old template finds the old revision again.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson

from localcluster.controllers.documents import Document
from localcluster.controllers.revisions import canonical, fingerprint
from localcluster.controllers.statefulsets.model import HASH_LABEL

LONGEST_PREFIX: Final = 223
"""Characters of a set's name in a revision's name."""


def patch_of(document: Document) -> dict[str, Any]:
    """What a revision of this StatefulSet holds."""
    return {"spec": {"template": {**document["spec"]["template"], "$patch": "replace"}}}


def new_revision(document: Document, number: int, collisions: int) -> Document:
    """The ControllerRevision of a StatefulSet as it is now; `collisions` makes another name of the same template."""
    meta, patch = document["metadata"], patch_of(document)
    digest = fingerprint(canonical(patch) + str(collisions).encode())
    labels = dict(document["spec"]["template"]["metadata"].get("labels") or {}) | {HASH_LABEL: digest}
    head: Document = {
        "name": f"{meta['name'][:LONGEST_PREFIX]}-{digest}",
        "namespace": meta["namespace"],
        "labels": labels,
        "ownerReferences": [owned_by(document)],
    }
    if meta.get("annotations"):
        head["annotations"] = dict(meta["annotations"])
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": head,
        "data": patch,
        "revision": number,
    }


def owned_by(document: Document) -> dict[str, Any]:
    """The owner reference of what a StatefulSet makes."""
    meta = document["metadata"]
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def holds_same(revision: Document, other: Document) -> bool:
    """Whether two revisions put the same template back."""
    return orjson.dumps(revision.get("data"), option=orjson.OPT_SORT_KEYS) == orjson.dumps(
        other.get("data"), option=orjson.OPT_SORT_KEYS
    )


def next_number(history: Iterable[Document]) -> int:
    """The number of the revision after all of these."""
    return max((each["revision"] for each in history), default=0) + 1


def template_of(revision: Document) -> dict[str, Any]:
    """The pod template that a revision holds."""
    template: dict[str, Any] = copy.deepcopy(revision["data"]["spec"]["template"])
    template.pop("$patch", None)
    return template


def superfluous(history: Sequence[Document], live: frozenset[str], limit: int) -> list[Document]:
    """Revisions to delete, oldest first: those that no pod and no status names, beyond the last `limit` of them."""
    dead = sorted(
        (each for each in history if each["metadata"]["name"] not in live), key=lambda each: int(each["revision"])
    )
    return dead[: max(0, len(dead) - limit)]
