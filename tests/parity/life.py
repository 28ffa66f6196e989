"""The ordinary life of an object, the same for every kind: every verb, every sort of patch, every sort of conflict.

What is asked is what our own clients ask: lists in pages and watches are of the whole cluster and by label, updates put back
what was read, patches and deletions name the UID or the version that they were decided on.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.parity.scripts.objects import Object
from tests.parity.steps import Step, delete, get, patch, post, put, quiet, table, watch

LABEL = "parity"
OTHER_UID = "55555555-5555-5555-5555-555555555555"
STALE = {"metadata": {"resourceVersion": "1"}}
FOREIGN = {"metadata": {"uid": OTHER_UID}}
MARK = {"metadata": {"annotations": {"parity/marked": "yes"}}}
SCOPE = "namespaces/{ns}/"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind, and what is done to an object of it.

    Attributes:
        collection: the path of the collection; `{ns}` in that of a namespaced kind.
        body: a manifest, or what makes one of a name; the name and a label are put into it.
        change: a merge patch.
        status: a merge patch of its status, for kinds that have that path.
        replicas: it has a scale.
        names: of its two objects.
        after_creation: a merge patch that makes the object one that both servers can carry through its life.
        called: what its steps are called by, if not by the plural.
        ready: path and value to wait for after the creation, where a real server goes on working.
        skip: steps that make no sense for the kind, by name.
    """

    collection: str
    body: Object | Callable[[str], Object]
    change: Object
    status: Object | None = None
    replicas: bool = False
    names: tuple[str, str] = ("parity-one", "parity-two")
    after_creation: Object | None = None
    called: str = ""
    ready: tuple[str, Any] | None = None
    skip: Sequence[str] = field(default_factory=tuple)

    @property
    def title(self) -> str:
        """What its steps and its label say: the plural, or the group where several kinds of one script share that."""
        return self.called or self.collection.rpartition("/")[2]

    @property
    def key(self) -> str:
        """The title as part of the names of kept values."""
        return re.sub(r"\W", "_", self.title)

    def kept(self, what: str) -> str:
        """The placeholder of a value that was kept."""
        return "${" + f"{self.key}_{what}" + "}"

    @property
    def everywhere(self) -> str:
        """The collection of the whole cluster."""
        return self.collection.replace(SCOPE, "")


def lives(*kinds: Kind) -> list[Step]:
    """The lives of several kinds; their watches come last, where they can be held together."""
    steps = [step for kind in kinds for step in life(kind)]
    return [step for step in steps if not step.watch] + [step for step in steps if step.watch]


def life(kind: Kind) -> list[Step]:
    """All steps, their names beginning with the plural."""
    steps = [*_beginning(kind), *_changes(kind), *_updates(kind), *_parts(kind), *_end(kind)]
    return [_named(kind, step) for step in steps if step.name not in kind.skip]


def _named(kind: Kind, step: Step) -> Step:
    fields = {name: getattr(step, name) for name in Step.__slots__}
    return Step(**{**fields, "name": f"{kind.title}: {step.name}"})


def _selected(kind: Kind) -> Mapping[str, str]:
    return {"labelSelector": f"{LABEL}={kind.title}"}


def _manifest(kind: Kind, name: str) -> Object:
    body = kind.body(name) if callable(kind.body) else kind.body
    return {**body, "metadata": {**body.get("metadata", {}), "name": name, "labels": {LABEL: kind.title}}}


def _beginning(kind: Kind) -> Iterator[Step]:
    first, second = kind.names
    one = f"{kind.collection}/{first}"
    key = kind.key
    yield post(
        "create",
        kind.collection,
        _manifest(kind, first),
        keep={f"{key}_uid": "metadata.uid", f"{key}_made": "metadata.resourceVersion"},
    )
    yield post("create again", kind.collection, _manifest(kind, first))
    yield from _readied(kind, first)
    yield get("read", one)
    yield get("read what is not there", f"{kind.collection}/parity-nothing")
    yield post("create another for trial", kind.collection, _manifest(kind, second), query={"dryRun": "All"})
    yield quiet(post("create another", kind.collection, _manifest(kind, second)))
    yield from _readied(kind, second)
    page = {**_selected(kind), "limit": "1"}
    yield get("list a page", kind.everywhere, query=page, keep={f"{key}_next": "metadata.continue"})
    # What else there is in the cluster is no matter of this script, so the second page is one for all that is left.
    rest = {**page, "limit": "500", "continue": kind.kept("next")}
    yield get("list the next page", kind.everywhere, query=rest)
    yield get("list by name", kind.everywhere, query={"fieldSelector": f"metadata.name={second}"})
    yield table("list as a table", kind.everywhere, query=_selected(kind))


def _readied(kind: Kind, name: str) -> Iterator[Step]:
    path = f"{kind.collection}/{name}"
    if kind.after_creation is not None:
        yield quiet(patch(f"prepare {name}", path, kind.after_creation))
    if kind.ready is not None:
        yield quiet(get(f"wait for {name}", path, until=kind.ready))


def _changes(kind: Kind) -> Iterator[Step]:
    one = f"{kind.collection}/{kind.names[0]}"
    here = kind.kept("uid")
    yield patch("patch", one, kind.change)
    yield patch("patch a stale version", one, {**MARK, "metadata": {**MARK["metadata"], **STALE["metadata"]}})
    yield patch("patch another UID", one, {"metadata": {**MARK["metadata"], **FOREIGN["metadata"]}})
    yield patch("patch this UID", one, {"metadata": {**MARK["metadata"], "uid": here}})
    yield patch("patch what is not there", f"{kind.collection}/parity-nothing", MARK)
    yield patch("patch strategically", one, {"metadata": {"labels": {"strategic": "yes"}}}, "strategic")
    tested = [
        {"op": "test", "path": "/metadata/uid", "value": here},
        {"op": "add", "path": "/metadata/labels/json", "value": "yes"},
    ]
    yield patch("patch by JSON", one, tested, "json")
    yield patch("patch by JSON what it is not", one, [{**tested[0], "value": OTHER_UID}, tested[1]], "json")
    yield patch("patch with a bad label", one, {"metadata": {"labels": {"bad": "a b"}}})
    yield patch("patch nothing", one, {})
    yield patch("patch a list in the place of the metadata", one, {"metadata": []})


def _updates(kind: Kind) -> Iterator[Step]:
    one = f"{kind.collection}/{kind.names[0]}"
    read = f"{kind.key}_read"
    yield quiet(get("read for the update", one, keep_as=read))
    relabelled: dict[str, Any] = {"metadata": {"labels": {"put": "yes"}}}
    yield put("put", one, relabelled, onto=read)
    yield put("put a stale version", one, {"metadata": {"labels": {"put": "no"}}}, onto=read)
    yield put("put the first manifest", one, _manifest(kind, kind.names[0]))
    yield put("put another UID", one, {"metadata": {**FOREIGN["metadata"], "resourceVersion": None}}, onto=read)
    yield put("put another name", one, {"metadata": {"name": "parity-other"}}, onto=read)
    missing: dict[str, Any] = {"metadata": {"name": "parity-nothing", "uid": None, "resourceVersion": None}}
    yield put("put what is not there", f"{kind.collection}/parity-nothing", missing, onto=read, query={"dryRun": "All"})


def _parts(kind: Kind) -> Iterator[Step]:
    one = f"{kind.collection}/{kind.names[0]}"
    if kind.status is not None:
        read = f"{kind.key}_state"
        yield get("read the status", f"{one}/status", keep_as=read)
        yield patch("patch the status", f"{one}/status", kind.status)
        yield put("put a stale status", f"{one}/status", kind.status, onto=read)
        yield quiet(get("read for the status", one, keep_as=read))
        yield put("put the status", f"{one}/status", {**kind.status, **MARK}, onto=read)
        yield patch("patch the status of what is not there", f"{kind.collection}/parity-nothing/status", kind.status)
        yield patch("patch the status strategically", f"{one}/status", kind.status, "strategic")
        yield table("reported, as a table", one)
    if kind.replicas:
        read = f"{kind.key}_scale"
        yield get("read the scale", f"{one}/scale", keep_as=read)
        yield put("put the scale", f"{one}/scale", {"spec": {"replicas": 4}}, onto=read)
        yield put("put a stale scale", f"{one}/scale", {"spec": {"replicas": 5}}, onto=read)
        yield patch("patch the scale", f"{one}/scale", {"spec": {"replicas": 2}})
        yield patch("patch the scale badly", f"{one}/scale", {"spec": {"replicas": -2}})


def _end(kind: Kind) -> Iterator[Step]:
    one = f"{kind.collection}/{kind.names[0]}"
    here = {"uid": kind.kept("uid")}
    yield delete("delete another UID", one, {"preconditions": {"uid": OTHER_UID}, "propagationPolicy": "Background"})
    yield delete("delete a stale version", one, {"preconditions": {**here, "resourceVersion": "1"}})
    yield delete("delete in an unknown way", one, {"propagationPolicy": "Sometimes"})
    yield delete("delete for trial", one, {"preconditions": here, "dryRun": ["All"]})
    yield delete("delete", one, {"preconditions": here, "propagationPolicy": "Background"})
    yield delete("delete what is gone", one, {"preconditions": here})
    yield get("it is gone", one)
    yield delete("delete by label", kind.collection, query=_selected(kind))
    yield get("none is left", kind.everywhere, query=_selected(kind))
    followed = {**_selected(kind), "resourceVersion": kind.kept("made"), "allowWatchBookmarks": "true"}
    yield watch("follow", kind.everywhere, query=followed)
