"""Creating objects.

The order is the real server's: defaults, changing admission, identity, the kind's rules, refusing admission, storing. A
webhook that changes objects therefore sees neither a UID nor a generated name.
"""

import random

from localcluster.apiserver import status
from localcluster.apiserver.admission import AdmissionAttributes
from localcluster.apiserver.core import Core
from localcluster.apiserver.kinds.empties import drop_empties
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.kinds.metadata import validate_metadata
from localcluster.apiserver.kinds.names import subdomain_problems
from localcluster.apiserver.store.memory import Stored, Taken
from localcluster.apiserver.verbs.checks import check_fields, check_metadata
from localcluster.apiserver.verbs.options import WriteOptions

NAMESPACES = ("", "namespaces")
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_PREFIX = 63 - _SUFFIX_LENGTH
_ATTEMPTS = 8
_ONLY_ONES_WHILE_GOING = frozenset({("", "events"), ("authorization.k8s.io", "localsubjectaccessreviews")})


async def create(
    core: Core, kind: KindInfo, namespace: str, obj: Object, options: WriteOptions, context: RequestContext
) -> Stored:
    """Create the object; it is changed in place and belongs to the store afterwards.

    Raises:
        StatusError: refused.
    """
    strategy = kind.strategy
    check_metadata(kind, obj, namespace)
    obj["apiVersion"], obj["kind"] = kind.api_version, kind.kind
    check_fields(kind, obj, options, context)
    strategy.default(obj)
    drop_empties(kind, obj)
    require_open_namespace(core, kind, namespace, obj)
    attributes = AdmissionAttributes(
        verb="CREATE",
        kind=kind,
        subresource="",
        namespace=namespace,
        name=obj["metadata"].get("name") or "",
        obj=obj,
        old=None,
        options=options.as_object(),
        user=context.user,
        dry_run=options.dry_run,
        object_api_version=kind.api_version,
        object_kind=kind.kind,
        warnings=context.warnings,
    )
    await core.admission.mutate(attributes)
    obj = attributes.obj or obj
    strategy.default(obj)
    drop_empties(kind, obj)
    prefix = _give_identity(core, obj, context)
    strategy.prepare_create(obj, context)
    name_check = getattr(strategy, "name_check", subdomain_problems)
    errors = validate_metadata(kind, obj, name_check) + strategy.validate(obj, None, "")
    if errors:
        raise status.invalid(kind, obj["metadata"].get("name") or "", errors)
    context.warnings.extend(strategy.warnings(obj, None))
    attributes.obj = obj
    await core.admission.validate(attributes)
    require_open_namespace(core, kind, namespace, obj)
    return _kept(core, kind, obj, context, prefix, dry_run=options.dry_run)


def require_open_namespace(core: Core, kind: KindInfo, namespace: str, obj: Object) -> None:
    """Objects go into namespaces that are there and are not going away.

    Raises:
        StatusError: it is not such a namespace.
    """
    if not kind.namespaced:
        return
    found = core.store.get(NAMESPACES, "", namespace)
    if found is None:
        raise status.StatusError(
            404, "NotFound", f'namespaces "{namespace}" not found', {"name": namespace, "kind": "namespaces"}
        )
    if found.obj["metadata"].get("deletionTimestamp") and kind.resource not in _ONLY_ONES_WHILE_GOING:
        metadata = obj["metadata"]
        _refuse_going(kind, namespace, metadata.get("name") or metadata.get("generateName") or "")


def _refuse_going(kind: KindInfo, namespace: str, name: str) -> None:
    text = f"unable to create new content in namespace {namespace} because it is being terminated"
    refusal = status.forbidden(kind, name, text)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    refusal.details["causes"] = [cause]
    raise refusal


def _give_identity(core: Core, obj: Object, context: RequestContext) -> str:
    """Sets what the server alone decides; the prefix of the name if that is one of those things, else ""."""
    metadata = obj["metadata"]
    if metadata.get("resourceVersion"):
        raise status.StatusError(500, "", "resourceVersion should not be set on objects to be created")
    for key in ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"):
        metadata.pop(key, None)
    metadata["uid"] = core.new_uid()
    metadata["creationTimestamp"] = context.now
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = generated_name(metadata["generateName"], context.random)
        return str(metadata["generateName"])
    return ""


def generated_name(prefix: str, source: random.Random) -> str:
    """The prefix with five random characters."""
    return prefix[:_LONGEST_PREFIX] + "".join(source.choices(_SUFFIX, k=_SUFFIX_LENGTH))


def _kept(core: Core, kind: KindInfo, obj: Object, context: RequestContext, prefix: str, *, dry_run: bool) -> Stored:
    """Keeps the object; one whose name was made from a prefix gets another name when that is taken."""
    for _ in range(_ATTEMPTS if prefix else 1):
        try:
            return _put(core, kind, obj, dry_run=dry_run)
        except Taken:
            name = obj["metadata"]["name"]
            if prefix:
                obj["metadata"]["name"] = generated_name(prefix, context.random)
    if obj["metadata"].get("generateName"):
        raise status.generate_name_conflict(kind, name)
    raise status.already_exists(kind, name)


def _put(core: Core, kind: KindInfo, obj: Object, *, dry_run: bool) -> Stored:
    if dry_run:
        if core.store.get(kind.resource, obj["metadata"].get("namespace") or "", obj["metadata"]["name"]):
            raise Taken
        return Stored(obj, 0)
    stored = core.store.put(kind.resource, kind.stored(obj))
    return stored if kind.from_storage is None else Stored(kind.served(stored.obj), stored.version)
