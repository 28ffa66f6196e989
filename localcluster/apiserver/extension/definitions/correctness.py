"""What a CRD must be to be taken: names, versions, and structural schemas (the last in `structure`).

Not everything that the real server refuses is refused here: only what somebody who writes a CRD by hand is likely to get wrong.
"""

from typing import Any, Final

from localcluster.apiserver import fielderrors
from localcluster.apiserver.extension.definitions.document import is_true, schema_of, versions
from localcluster.apiserver.extension.definitions.structure import schema_errors
from localcluster.apiserver.fielderrors import FieldError
from localcluster.apiserver.kinds.names import label_1035_problems, subdomain_problems

Object = dict[str, Any]

SCOPES: Final = ("Cluster", "Namespaced")
_ONE_STORAGE: Final = "must have exactly one version marked as storage version"
_GO_VERSION: Final = {
    "Name": "name",
    "Served": "served",
    "Storage": "storage",
    "Deprecated": "deprecated",
    "DeprecationWarning": "deprecationWarning",
    "Schema": "",
    "Subresources": "",
    "AdditionalPrinterColumns": "additionalPrinterColumns",
    "SelectableFields": "selectableFields",
}
_FALSE_BY_DEFAULT: Final = frozenset({"served", "storage", "deprecated"})


def definition_errors(crd: Object) -> list[FieldError]:
    """Everything that is wrong with the CRD by itself."""
    spec = crd.get("spec")
    if not isinstance(spec, dict):
        return [fielderrors.required("spec")]
    names = spec.get("names") or {}
    errors = []
    name = crd["metadata"].get("name", "")
    if name != f"{names.get('plural', '')}.{spec.get('group', '')}":
        errors.append(fielderrors.invalid_value("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    errors += _group_errors(spec.get("group") or "")
    if not spec.get("scope"):
        errors.append(fielderrors.required("spec.scope"))
    elif spec["scope"] not in SCOPES:
        errors.append(fielderrors.unsupported("spec.scope", spec["scope"], SCOPES))
    errors += _version_errors(versions(crd))
    errors += _name_errors(names)
    if not storage_marked(crd):
        errors.append(fielderrors.invalid_value("status.storedVersions", None, "must have at least one stored version"))
    return errors


def storage_marked(crd: Object) -> bool:
    """Whether there is a storage version."""
    return any(each.get("storage") for each in versions(crd))


def update_errors(new: Object, old: Object) -> list[FieldError]:
    """What may not change any more once the kind is established."""
    if not is_true(old, "Established"):
        return []
    was, now = old["spec"], new["spec"]
    pairs = {
        "spec.group": (now.get("group"), was.get("group")),
        "spec.scope": (now.get("scope"), was.get("scope")),
        "spec.names.kind": (now["names"].get("kind"), was["names"].get("kind")),
        "spec.names.plural": (now["names"].get("plural"), was["names"].get("plural")),
    }
    return [
        fielderrors.invalid_value(field, value, "field is immutable")
        for field, (value, before) in pairs.items()
        if value != before
    ]


def _group_errors(group: str) -> list[FieldError]:
    if not group:
        return [fielderrors.required("spec.group")]
    if "." not in group:
        return [fielderrors.invalid_value("spec.group", group, "should be a domain with at least one dot")]
    return [fielderrors.invalid_value("spec.group", group, each) for each in subdomain_problems(group)]


def _version_errors(found: list[Object]) -> list[FieldError]:
    errors = []
    storage = sum(bool(each.get("storage")) for each in found)
    if storage != 1:
        errors.append(fielderrors.invalid_value("spec.versions", [_as_go(each) for each in found], _ONE_STORAGE))
    same = len(found) == 1 or all(schema_of(each) == schema_of(found[0]) for each in found)
    for index, version in enumerate(found):
        schema, has_status = schema_of(version), "status" in (version.get("subresources") or {})
        at = f"spec.versions[{index}]"
        if not version.get("name"):
            errors.append(fielderrors.required(f"{at}.name"))
        if not schema:
            errors.append(fielderrors.required(f"{at}.schema.openAPIV3Schema"))
        elif not same or index == 0:
            # The real server keeps equal schemas, and a single one, in one place, and names that place.
            place = "spec.validation.openAPIV3Schema" if same else f"{at}.schema.openAPIV3Schema"
            errors += schema_errors(schema, place, has_status=has_status)
    return errors


def _name_errors(names: Object) -> list[FieldError]:
    errors = []
    for field in ("plural", "singular", "kind", "listKind"):
        name = names.get(field) or ""
        at = f"spec.names.{field}"
        if not name:
            errors.append(fielderrors.required(at))
            continue
        mixed = field in {"kind", "listKind"}
        told = "may have mixed case, but should otherwise match: " if mixed else ""
        problems = label_1035_problems(name.lower() if mixed else name)
        errors += [fielderrors.invalid_value(at, name, f"{told}{each}") for each in problems]
    for field in ("shortNames", "categories"):
        for index, name in enumerate(names.get(field) or []):
            errors += [
                fielderrors.invalid_value(f"spec.names.{field}[{index}]", name, each)
                for each in label_1035_problems(name)
            ]
    return errors


def _as_go(version: Object) -> Object:
    """A version as Go writes the internal type into a message; schemas and subresources are left out there."""
    return {
        theirs: version.get(ours, False if ours in _FALSE_BY_DEFAULT else None) for theirs, ours in _GO_VERSION.items()
    }
