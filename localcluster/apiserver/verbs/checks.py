"""Checks that every written object passes before anything else: is it what the path says, and are its fields known?

Pure.
"""

from typing import Any

from localcluster.apiserver import status
from localcluster.apiserver.kinds.empties import drop_empties
from localcluster.apiserver.kinds.kind import KindInfo, Object, RequestContext
from localcluster.apiserver.kinds.wiretypes import WrongType, check_types, go_kind
from localcluster.apiserver.verbs.options import WriteOptions

_TEXTS = ("name", "generateName", "namespace", "resourceVersion", "uid")
_LISTS: dict[str, tuple[type, str]] = {"finalizers": (str, "string"), "ownerReferences": (dict, "v1.OwnerReference")}


def check_type(kind: KindInfo, obj: Object, *, api_version: str = "", object_kind: str = "") -> None:
    """The body is of the kind that the path is about; a body that does not say is taken for one.

    Raises:
        StatusError: it is something else.
    """
    wanted_version, wanted = api_version or kind.api_version, object_kind or kind.kind
    version, name = obj.get("apiVersion") or wanted_version, obj.get("kind") or wanted
    if not isinstance(version, str) or not isinstance(name, str):
        raise status.bad_request(f"couldn't get version/kind; json parse error: {wanted} expected")
    if (version, name) == (wanted_version, wanted):
        return
    short = version.rpartition("/")[2]
    if name == wanted:
        told = f'no kind "{name}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
    else:
        group = wanted_version.rpartition("/")[0] if api_version else kind.group
        internal = group.partition(".")[0] or "core"
        told = f"converting ({short}.{name}) to ({internal}.{wanted}): unknown conversion"
    raise status.bad_request(f'{name} in version "{short}" cannot be handled as a {wanted}: {told}')


def check_metadata(kind: KindInfo, obj: Object, namespace: str) -> None:
    """The object has metadata that fit the path; the namespace is filled in.

    Raises:
        StatusError: they do not.
    """
    metadata = obj.get("metadata")
    if metadata is None:
        metadata = obj["metadata"] = {}
    if not isinstance(metadata, dict):
        raise undecodable(kind, metadata, f"{kind.kind}.metadata", "v1.ObjectMeta")
    _check_metadata_types(kind, metadata)
    if kind.namespaced:
        if metadata.get("namespace") and metadata["namespace"] != namespace:
            raise status.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = namespace
    elif metadata.get("namespace") == "":
        del metadata["namespace"]
    for key in ("labels", "annotations"):
        for value in _values(kind, metadata, key):
            if not isinstance(value, str):
                raise undecodable(kind, value, f"ObjectMeta.metadata.{key}", "string")


def _check_metadata_types(kind: KindInfo, metadata: Object) -> None:
    for key in _TEXTS:
        if metadata.get(key) is not None and not isinstance(metadata[key], str):
            raise undecodable(kind, metadata[key], f"ObjectMeta.metadata.{key}", "string")
    for key, (item, go_type) in _LISTS.items():
        found = metadata.get(key)
        if found is None:
            continue
        if not isinstance(found, list):
            raise undecodable(kind, found, f"ObjectMeta.metadata.{key}", f"[]{go_type}")
        for each in found:
            if not isinstance(each, item):
                raise undecodable(kind, each, f"ObjectMeta.metadata.{key}", go_type)


def _values(kind: KindInfo, metadata: Object, key: str) -> list[Any]:
    found = metadata.get(key)
    if found is None:
        metadata.pop(key, None)
        return []
    if not isinstance(found, dict):
        raise undecodable(kind, found, f"ObjectMeta.metadata.{key}", "map[string]string")
    return list(found.values())


def undecodable(kind: KindInfo, value: Any, field: str, go_type: str) -> status.StatusError:
    """A value of a type that its field cannot have."""
    found = go_kind(value)
    return status.bad_request(
        f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
        f"json: cannot unmarshal {found} into Go struct field {field} of type {go_type}"
    )


def check_fields(kind: KindInfo, obj: Object, options: WriteOptions, context: RequestContext) -> None:
    """All values have the types of their fields; unknown fields are dropped, told of, or refused, as the sender wishes.

    Raises:
        StatusError: a value has a wrong type, or there are unknown fields and the sender asked for Strict.
    """
    try:
        check_types(kind, obj)
    except WrongType as error:
        text = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {error}'
        raise status.bad_request(text) from error
    complaints = kind.strategy.decode(obj)
    drop_empties(kind, obj)
    tell(kind, complaints, options, context)


def tell(kind: KindInfo, complaints: list[str], options: WriteOptions, context: RequestContext) -> None:
    """Complaints about fields are refused, told or kept quiet, as the sender wishes.

    Raises:
        StatusError: there are some, and the sender asked for Strict.
    """
    if not complaints:
        return
    if options.field_validation == "Strict":
        raise status.bad_request(
            f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
            f"strict decoding error: {', '.join(complaints)}"
        )
    if options.field_validation == "Warn":
        context.warnings.extend(complaints)
