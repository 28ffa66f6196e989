"""Rules for `metadata`, the same for all kinds.

Pure. Identity (name, namespace, UID, times) never changes; a client that leaves it out of an update means the present one.
"""

from typing import Any

from localcluster.apiserver.fielderrors import FieldError, forbidden_field, invalid_value, required, too_long
from localcluster.apiserver.kinds.kind import KindInfo, Object
from localcluster.apiserver.kinds.names import (
    NameCheck,
    generated,
    label_problems,
    label_value_problem,
    qualified_name_problems,
)

MOST_ANNOTATION_BYTES = 256 * 1024
_SYSTEM = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_CLUSTER_FINALIZERS = frozenset({"foregroundDeletion", "orphan", "kubernetes"})


def validate_metadata(kind: KindInfo, obj: Object, check: NameCheck) -> list[FieldError]:
    """What is wrong with the metadata of an object by itself."""
    metadata = obj["metadata"]
    errors = _validate_name(metadata, check)
    errors += _validate_namespace(kind, metadata)
    return errors + validate_described(obj) + _validate_finalizers(metadata.get("finalizers") or [])


def validate_described(obj: Object) -> list[FieldError]:
    """What is wrong with what describes an object: its labels, annotations and owners."""
    metadata = obj["metadata"]
    errors = validate_labels(metadata.get("labels") or {}, "metadata.labels")
    errors += validate_annotations(metadata.get("annotations") or {}, "metadata.annotations")
    return errors + _validate_owners(metadata.get("ownerReferences") or [])


def keep_identity(new: Object, old: Object) -> None:
    """Fill in what an update left out and may not change anyway."""
    metadata, present = new["metadata"], old["metadata"]
    for key in _SYSTEM:
        if metadata.get(key) is None and key in present:
            metadata[key] = present[key]
    _copy(metadata, present, "generation")
    _copy(metadata, present, "selfLink")
    metadata.pop("managedFields", None)


def validate_metadata_update(new: Object, old: Object) -> list[FieldError]:
    """What an update may not change about identity, and finalizers that may not come late."""
    metadata, present = new["metadata"], old["metadata"]
    errors = [
        invalid_value(f"metadata.{key}", metadata.get(key), "field is immutable")
        for key in ("name", "namespace", *_SYSTEM)
        if metadata.get(key) != present.get(key)
    ]
    if present.get("deletionTimestamp"):
        known = set(present.get("finalizers") or [])
        added = [each for each in metadata.get("finalizers") or [] if each not in known]
        if added:
            text = f"no new finalizers can be added if the object is being deleted, found new finalizers {_go(added)}"
            errors.append(forbidden_field("metadata.finalizers", text))
    return errors


def validate_labels(labels: dict[str, Any], field: str) -> list[FieldError]:
    """Keys and values of labels."""
    errors: list[FieldError] = []
    for key, value in labels.items():
        errors += [invalid_value(field, key, each) for each in qualified_name_problems(key)]
        problem = label_value_problem(value) if isinstance(value, str) else "must be a string"
        if problem:
            errors.append(invalid_value(field, value, problem))
    return errors


def validate_annotations(annotations: dict[str, Any], field: str) -> list[FieldError]:
    """Keys of annotations, and their size together."""
    errors: list[FieldError] = []
    size = 0
    for key, value in annotations.items():
        errors += [invalid_value(field, key, each) for each in qualified_name_problems(key.lower())]
        size += len(key.encode()) + len(str(value).encode())
    if size > MOST_ANNOTATION_BYTES:
        errors.append(too_long(field, MOST_ANNOTATION_BYTES))
    return errors


def _validate_name(metadata: Object, check: NameCheck) -> list[FieldError]:
    errors: list[FieldError] = []
    if metadata.get("generateName"):
        prefix = metadata["generateName"]
        errors += [invalid_value("metadata.generateName", prefix, each) for each in generated(check, prefix)]
    name = metadata.get("name")
    if not name:
        return [*errors, required("metadata.name", "name or generateName is required")]
    return errors + [invalid_value("metadata.name", name, each) for each in check(name)]


def _validate_namespace(kind: KindInfo, metadata: Object) -> list[FieldError]:
    namespace = metadata.get("namespace")
    if not kind.namespaced:
        return [forbidden_field("metadata.namespace", "not allowed on this type")] if namespace else []
    if not namespace:
        return [required("metadata.namespace")]
    return [invalid_value("metadata.namespace", namespace, each) for each in label_problems(namespace)]


def _validate_owners(owners: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    controllers: list[Object] = []
    for number, owner in enumerate(owners):
        field = "metadata.ownerReferences"
        if not owner.get("apiVersion"):
            errors.append(required(f"{field}[{number}].apiVersion", "must not be empty"))
        missing = [key for key in ("kind", "name", "uid") if not owner.get(key)]
        errors += [required(f"{field}[{number}].{key}", "must not be empty") for key in missing]
        if owner.get("apiVersion") == "v1" and owner.get("kind") == "Event":
            text = "/v1, Kind=Event is disallowed from being an owner"
            errors.append(invalid_value(f"{field}[{number}]", owner, text))
        if owner.get("controller"):
            controllers.append(owner)
    if len(controllers) > 1:
        first, second = controllers[0], controllers[1]
        text = (
            "Only one reference can have Controller set to true. Found "
            f'"true" in references for {first.get("kind")}/{first.get("name")} and '
            f"{second.get('kind')}/{second.get('name')}"
        )
        errors.append(invalid_value("metadata.ownerReferences", owners, text))
    return errors


def _validate_finalizers(finalizers: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for number, name in enumerate(finalizers):
        problems = qualified_name_problems(name)
        errors += [invalid_value("metadata.finalizers", name, each) for each in problems]
        if not problems and "/" not in name and name not in _CLUSTER_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid_value(f"metadata.finalizers[{number}]", name, text))
    if {"foregroundDeletion", "orphan"} <= set(finalizers):
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid_value("metadata.finalizers", finalizers, text))
    return errors


def _copy(target: Object, source: Object, key: str) -> None:
    if key in source:
        target[key] = source[key]
    else:
        target.pop(key, None)


def _go(texts: list[str]) -> str:
    """A list of strings as Go prints it with %#v."""
    return "[]string{" + ", ".join(f'"{each}"' for each in texts) + "}"
