"""The history of a LeaderWorkerSet's templates, as ControllerRevisions. Pure.

A revision holds the pod templates, size and network of the set, so that a group which is made again in the middle of a
rollout gets what its leader was made from. Replicas, rollout strategy, startup policy and annotations are no part of it.
"""

import copy
from collections.abc import Sequence
from typing import Any, Final

from api.constants import LWS_NAME, LWS_REVISION
from localcluster.controllers.documents import Document
from localcluster.controllers.leaderworkersets.model import SHARED
from localcluster.controllers.revisions import canonical, fingerprint

LONGEST_PREFIX: Final = 220
"""Characters of a set's name in a revision's name."""

_REPLACE: Final = {"$patch": "replace"}


def new_revision(document: Document, number: int, key: str = "") -> Document:
    """The ControllerRevision of a LeaderWorkerSet as it is now, by its own hash or a given key."""
    meta, patch = document["metadata"], _patch_of(document)
    digest = fingerprint(canonical(patch))
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{meta['name'][:LONGEST_PREFIX]}-{digest}-{number}",
            "namespace": meta["namespace"],
            "labels": {LWS_NAME: meta["name"], LWS_REVISION: key or digest},
            "ownerReferences": [owned_by(document)],
        },
        "data": patch,
        "revision": number,
    }


def key_of(obj: Document) -> str:
    """The revision key that an object carries, "" when it has none."""
    return str((obj["metadata"].get("labels") or {}).get(LWS_REVISION, ""))


def latest(history: Sequence[Document], key: str) -> Document | None:
    """The newest revision with that key, None when there is none."""
    found = [each for each in history if key_of(each) == key]
    return max(found, key=lambda each: int(each["revision"]), default=None)


def as_it_was(document: Document, revision: Document) -> Document:
    """The LeaderWorkerSet with what the revision holds put back."""
    held = copy.deepcopy(revision["data"]["spec"])
    for part in held.values():
        part.pop("$patch", None)
    return {**document, "spec": {**document["spec"], **held}}


def owned_by(document: Document) -> dict[str, Any]:
    """The owner reference of what a LeaderWorkerSet, or a leader pod, makes."""
    meta = document["metadata"]
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _patch_of(document: Document) -> dict[str, Any]:
    spec = document["spec"]
    network = spec.get("networkConfig") or {"subdomainPolicy": SHARED}
    return {
        "spec": {
            "networkConfig": {**network, **_REPLACE},
            "leaderWorkerTemplate": {**spec["leaderWorkerTemplate"], **_REPLACE},
        }
    }
