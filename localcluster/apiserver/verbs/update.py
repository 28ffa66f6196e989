"""Changing objects: the one loop behind updates and patches of an object and its subresources.

The change is computed on a record and stored only if that record is still the present one; a change that named no version
is computed again, one that did is refused. A change that changes nothing is not stored. An object that is being deleted
and has lost its last finalizer goes.
"""

from collections.abc import Callable
from dataclasses import dataclass

from localcluster.apiserver import status
from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.core import Core
from localcluster.apiserver.fielderrors import invalid_value
from localcluster.apiserver.kinds.empties import drop_empties
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.kinds.metadata import (
    keep_identity,
    validate_described,
    validate_metadata,
    validate_metadata_update,
)
from localcluster.apiserver.kinds.names import path_segment_problems
from localcluster.apiserver.store.memory import Stored
from localcluster.apiserver.verbs.checks import check_fields, check_metadata
from localcluster.apiserver.verbs.options import WriteOptions

_ATTEMPTS = 5
_DEFINITIONS = "apiextensions.k8s.io"
_OLD_FOLDERS = {"nodes": "minions", "replicationcontrollers": "controllers", "services": "services/specs"}


@dataclass(frozen=True, slots=True)
class Target:
    """The object, or part of one, that a request changes."""

    kind: KindInfo
    namespace: str
    name: str
    subresource: str = ""


Change = Callable[[Stored, Object], Object]
"""Makes the new object from the record and its served form. The new object must share nothing that is changed later."""


async def update(core: Core, target: Target, body: Object, options: WriteOptions, context: RequestContext) -> Stored:
    """Put the body in the object's place.

    Raises:
        StatusError: refused.
    """
    check_metadata(target.kind, body, target.namespace)
    metadata = body["metadata"]
    check_name(target, body)
    check_fields(target.kind, body, options, context)
    uid = metadata.get("uid")
    unconditional = not metadata.get("resourceVersion")

    def change(stored: Stored, old: Object) -> Object:
        if uid and uid != old["metadata"]["uid"]:
            raise status.conflict(target.kind, target.name, _other_uid(target, uid, old["metadata"]["uid"]))
        if unconditional and not target.kind.unconditional_update:
            error = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
            raise status.unversioned(target.kind, target.name, error)
        new = {**body, "metadata": dict(metadata)}
        if unconditional:
            new["metadata"]["resourceVersion"] = str(stored.version)
        return new

    return await modify(core, target, change, options, context, once=not unconditional)


async def modify(
    core: Core,
    target: Target,
    change: Change,
    options: WriteOptions,
    context: RequestContext,
    *,
    once: bool = False,
) -> Stored:
    """Change the object; `once`: the change was made for one version, do not try again on another.

    Raises:
        StatusError: refused.
    """
    for _ in range(1 if once else _ATTEMPTS):
        stored = core.store.get(target.kind.resource, target.namespace, target.name)
        if stored is None:
            raise status.not_found(target.kind, target.name)
        old = target.kind.served(stored.obj)
        new = change(stored, old)
        if new["metadata"].get("resourceVersion") != str(stored.version):
            raise status.modified(target.kind, target.name)
        new = await _admitted(core, target, new, old, options, context)
        present = core.store.get(target.kind.resource, target.namespace, target.name)
        if present is stored:
            return commit(core, target.kind, stored, old, new, dry_run=options.dry_run)
    raise status.modified(target.kind, target.name)


async def _admitted(
    core: Core, target: Target, new: Object, old: Object, options: WriteOptions, context: RequestContext
) -> Object:
    kind, strategy = target.kind, target.kind.strategy
    new["apiVersion"], new["kind"] = kind.api_version, kind.kind
    _prepare(target, new, old, context)
    attributes = AdmissionAttributes(
        verb="UPDATE",
        kind=kind,
        subresource=target.subresource,
        namespace=target.namespace,
        name=target.name,
        obj=new,
        old=old,
        options=options.as_object(),
        user=context.user,
        dry_run=options.dry_run,
        object_api_version=kind.api_version,
        object_kind=kind.kind,
        warnings=context.warnings,
    )
    before = new
    await core.admission.mutate(attributes)
    new = attributes.obj or new
    if new is not before:
        _prepare(target, new, old, context)
    _validate(target, new, old)
    context.warnings.extend(strategy.warnings(new, old))
    attributes.obj = new
    await core.admission.validate(attributes)
    return new


def _prepare(target: Target, new: Object, old: Object, context: RequestContext) -> None:
    strategy = target.kind.strategy
    strategy.default(new)
    drop_empties(target.kind, new)
    keep_identity(new, old)
    strategy.prepare_update(new, old, target.subresource, context)


def _validate(target: Target, new: Object, old: Object) -> None:
    # The name was valid when the object was made, under rules that may have been stricter or looser.
    errors = validate_metadata_update(new, old) + validate_metadata(target.kind, new, path_segment_problems)
    if target.kind.definition is not None or target.kind.group == _DEFINITIONS:
        # A real server looks twice at what an update makes of the metadata of custom resources, and tells each fault.
        errors += 2 * validate_described(new) + validate_metadata_update(new, old)
    errors += target.kind.strategy.validate(new, old, target.subresource)
    if errors:
        raise status.invalid(target.kind, target.name, errors)


def commit(core: Core, kind: KindInfo, stored: Stored, old: Object, new: Object, *, dry_run: bool) -> Stored:
    """Store the next state of an object, unless nothing has changed or this was only a trial."""
    new["metadata"]["resourceVersion"] = str(stored.version)
    if new == old:
        return stored if kind.from_storage is None else Stored(old, stored.version)
    if dry_run:
        return Stored(new, stored.version)
    if _is_finished(new, old):
        kept = core.store.delete(kind.resource, stored, kind.stored(new))
    else:
        kept = core.store.replace(kind.resource, stored, kind.stored(new))
    return kept if kind.from_storage is None else Stored(kind.served(kept.obj), kept.version)


def _is_finished(new: Object, old: Object) -> bool:
    metadata = old["metadata"]
    if not metadata.get("deletionTimestamp") or new["metadata"].get("finalizers"):
        return False
    if (new.get("spec") or {}).get("finalizers"):
        return False
    return metadata.get("deletionGracePeriodSeconds") in {0, None}


def check_name(target: Target, body: Object) -> None:
    """The object has the name of the path.

    Raises:
        StatusError: it has none, or another.
    """
    name = body["metadata"].get("name")
    if not name:
        text = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        raise status.bad_request(text)
    if name != target.name:
        raise wrong_name(name, target.name)


def wrong_name(name: str, wanted: str) -> status.StatusError:
    """The object's name is not the one of the path."""
    return status.bad_request(f"the name of the object ({name}) does not match the name on the URL ({wanted})")


def _kept_under(kind: KindInfo) -> str:
    """The folder of a kind in the real server's storage."""
    folder = _OLD_FOLDERS.get(kind.plural, kind.plural)
    return f"{kind.group}/{folder}" if kind.definition or kind.group == _DEFINITIONS else folder


def _other_uid(target: Target, asked: str, present: str) -> str:
    scope = f"{target.namespace}/" if target.namespace else ""
    key = f"/registry/{_kept_under(target.kind)}/{scope}{target.name}"
    return (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: UID in precondition: {asked}, UID in object meta: {present}"
    )
