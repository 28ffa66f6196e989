"""Deleting objects: preconditions, grace periods, finalizers, and what becomes of dependents.

The garbage collector is a client. This file only leaves it its marks: the finalizers `orphan` and `foregroundDeletion`.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from localcluster.apiserver import status
from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.core import Core, rfc3339
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.verbs.options import DeleteOptions

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"


async def delete(
    core: Core, kind: KindInfo, namespace: str, name: str, options: DeleteOptions, context: RequestContext
) -> tuple[Stored, bool]:
    """Delete the object, or mark it as going; its last or present state, and whether it is gone.

    Raises:
        StatusError: refused.
    """
    found = core.store.get(kind.resource, namespace, name)
    if found is None:
        raise status.not_found(kind, name)
    await _admit(core, kind, found.obj, options, context)
    found = core.store.get(kind.resource, namespace, name)
    if found is None:
        raise status.not_found(kind, name)
    check_preconditions(kind, found.obj, options)
    return _deleted(core, kind, found, options, context)


async def delete_collection(
    core: Core, kind: KindInfo, records: list[Stored], options: DeleteOptions, context: RequestContext
) -> None:
    """Delete all of these; those that go by themselves meanwhile are no failure."""
    for each in records:
        metadata = each.obj["metadata"]
        try:
            await delete(core, kind, metadata.get("namespace") or "", metadata["name"], options, context)
        except status.StatusError as refusal:
            if refusal.code != 404:
                raise


async def _admit(core: Core, kind: KindInfo, old: Object, options: DeleteOptions, context: RequestContext) -> None:
    metadata = old["metadata"]
    attributes = AdmissionAttributes(
        verb="DELETE",
        kind=kind,
        subresource="",
        namespace=metadata.get("namespace") or "",
        name=metadata["name"],
        obj=None,
        old=kind.served(old),
        options=options.as_object(),
        user=context.user,
        dry_run=options.dry_run,
        object_api_version=kind.api_version,
        object_kind=kind.kind,
        warnings=context.warnings,
    )
    await core.admission.mutate(attributes)
    await core.admission.validate(attributes)


def check_preconditions(kind: KindInfo, obj: Object, options: DeleteOptions) -> None:
    """The object is the one that the sender means.

    Raises:
        StatusError: it is another one.
    """
    metadata = obj["metadata"]
    differs = getattr(kind.strategy, "precondition_failed", "")
    if differs:
        _check_by_hand(kind, metadata, options, differs)
    if options.uid and options.uid != metadata["uid"]:
        text = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise _mismatch(kind, metadata["name"], text)
    if options.version and options.version != metadata["resourceVersion"]:
        text = (
            f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion in record "
            f"({metadata['resourceVersion']}). The object might have been modified"
        )
        raise _mismatch(kind, metadata["name"], text)


def _check_by_hand(kind: KindInfo, metadata: Object, options: DeleteOptions, words: str) -> None:
    """Kinds whose deletion is not the common one look themselves, and say so in their own words."""
    for name, asked, key in (("UID", options.uid, "uid"), ("ResourceVersion", options.version, "resourceVersion")):
        if asked and asked != metadata[key]:
            text = f"{words}: {name} in precondition: {asked}, {name} in object meta: {metadata[key]}"
            raise status.conflict(kind, metadata["name"], text)


def _mismatch(kind: KindInfo, name: str, text: str) -> status.StatusError:
    details: Object = {"name": name}
    if kind.resource[0]:
        details["group"] = kind.resource[0]
    message = f'Operation cannot be fulfilled on {kind.qualified_kind} "{name}": {text}'
    return status.StatusError(409, "Conflict", message, details | {"kind": kind.kind})


def _deleted(
    core: Core, kind: KindInfo, found: Stored, options: DeleteOptions, context: RequestContext
) -> tuple[Stored, bool]:
    old = found.obj
    new: Object = {**old, "metadata": dict(old["metadata"])}
    metadata = new["metadata"]
    period = _grace_seconds(kind, old, options)
    if period is not None and old["metadata"].get("deletionTimestamp"):
        present = old["metadata"].get("deletionGracePeriodSeconds") or 0
        if present and (options.grace_seconds is None or period >= present):
            return found, False
        if present:
            _shorten(metadata, present, period)
        period = period if present else None
    elif period is not None:
        _mark(metadata, core.clock(), period)
    finalizers = _finalizers(kind, old, options)
    if finalizers != (old["metadata"].get("finalizers") or []):
        metadata["finalizers"] = finalizers
    if finalizers and period is None and not old["metadata"].get("deletionTimestamp"):
        _mark(metadata, core.clock(), 0)
    mark = getattr(kind.strategy, "mark_deleted", None)
    if mark is not None:
        mark(new, context)
    keeps = bool(metadata.get("finalizers")) or bool(period) or bool((new.get("spec") or {}).get("finalizers"))
    return _stored(core, kind, found, new, keeps=keeps, dry_run=options.dry_run)


def _stored(
    core: Core, kind: KindInfo, found: Stored, new: Object, *, keeps: bool, dry_run: bool
) -> tuple[Stored, bool]:
    if dry_run:
        return Stored(new, found.version), not keeps
    if new != found.obj:
        found = core.store.replace(kind.resource, found, new)
    if keeps:
        return found, False
    return core.store.delete(kind.resource, found), True


def _grace_seconds(kind: KindInfo, obj: Object, options: DeleteOptions) -> int | None:
    """How long the object may take to go; None for kinds that know no grace."""
    grace: Callable[[Object, int | None], int] | None = getattr(kind.strategy, "grace_seconds", None)
    return None if grace is None else grace(obj, options.grace_seconds)


def _mark(metadata: Object, now: datetime, period: int) -> None:
    metadata["deletionTimestamp"] = rfc3339(now + timedelta(seconds=period))
    metadata["deletionGracePeriodSeconds"] = period
    if metadata.get("generation"):
        metadata["generation"] += 1


def _shorten(metadata: Object, present: int, period: int) -> None:
    marked = datetime.fromisoformat(metadata["deletionTimestamp"])
    metadata["deletionTimestamp"] = rfc3339(marked + timedelta(seconds=period - present))
    metadata["deletionGracePeriodSeconds"] = period


def _finalizers(kind: KindInfo, obj: Object, options: DeleteOptions) -> list[str]:
    present = list(obj["metadata"].get("finalizers") or [])
    if not kind.collects_garbage:
        return present
    marks = {ORPHAN: _orphans(kind, present, options), FOREGROUND: _foreground(present, options)}
    kept = [each for each in present if each not in marks]
    wanted = kept + [each for each, is_set in marks.items() if is_set]
    return present if set(wanted) == set(present) else wanted


def _orphans(kind: KindInfo, present: list[str], options: DeleteOptions) -> bool:
    if options.legacy_orphan is not None:
        return options.legacy_orphan
    if options.policy:
        return options.policy == "Orphan"
    if ORPHAN in present:
        return True
    return kind.orphans_by_default and FOREGROUND not in present


def _foreground(present: list[str], options: DeleteOptions) -> bool:
    if options.legacy_orphan is not None:
        return False
    if options.policy:
        return options.policy == "Foreground"
    return FOREGROUND in present and ORPHAN not in present
