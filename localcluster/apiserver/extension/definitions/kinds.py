"""The kinds that a CRD makes: one per served version. All versions are the same objects under another `apiVersion`."""

import copy
from collections.abc import Callable
from typing import Any

from localcluster.apiserver.extension.definitions.custom import CustomStrategy
from localcluster.apiserver.extension.definitions.document import (
    schema_of,
    storage_version,
    version_priority,
    versions,
)
from localcluster.apiserver.extension.schema.decode import prune
from localcluster.apiserver.extension.schema.structural import parse_schema
from localcluster.apiserver.kinds.kind import KindInfo

Object = dict[str, Any]


def kinds_of(crd: Object) -> list[KindInfo]:
    """The kinds of an established CRD, the preferred version first."""
    served = [each for each in versions(crd) if each.get("served")]
    ordered = sorted(served, key=lambda each: version_priority(each["name"]), reverse=True)
    return [_kind(crd, each, is_preferred=index == 0) for index, each in enumerate(ordered)]


def _kind(crd: Object, version: Object, *, is_preferred: bool) -> KindInfo:
    spec, names = crd["spec"], crd["spec"]["names"]
    group, name = spec["group"], version["name"]
    alone = len(versions(crd)) == 1
    storage = storage_version(crd)
    return KindInfo(
        group=group,
        version=name,
        kind=names["kind"],
        plural=names["plural"],
        strategy=CustomStrategy(version, _deprecation(crd, version)),
        singular=names.get("singular") or names["kind"].lower(),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        namespaced=spec["scope"] == "Namespaced",
        subresources=frozenset(version.get("subresources") or ()) & {"status", "scale"},
        from_storage=None if alone else _in_version(f"{group}/{name}"),
        to_storage=None if alone or name == storage else _stored_as(crd, storage),
        unconditional_update=False,
        fields={
            each["jsonPath"].lstrip("."): _field(each["jsonPath"]) for each in version.get("selectableFields") or ()
        },
        definition=crd,
        preferred=is_preferred,
    )


def _in_version(api_version: str) -> Callable[[Object], Object]:
    def converted(obj: Object) -> Object:
        return obj if obj.get("apiVersion") == api_version else {**obj, "apiVersion": api_version}

    return converted


def _stored_as(crd: Object, storage: str) -> Callable[[Object], Object]:
    """What the storage version does not know is lost."""
    schema = parse_schema(next(schema_of(each) for each in versions(crd) if each["name"] == storage))
    api_version = f"{crd['spec']['group']}/{storage}"

    def converted(obj: Object) -> Object:
        kept = copy.deepcopy(obj)
        kept["apiVersion"] = api_version
        prune(kept, schema)
        return kept

    return converted


def _deprecation(crd: Object, version: Object) -> str:
    """What users of a deprecated version are told; empty when it is not deprecated."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    told = f"{group}/{version['name']} {kind} is deprecated"
    better = [each["name"] for each in versions(crd) if each.get("served") and not each.get("deprecated")]
    newer = [each for each in better if version_priority(each) > version_priority(version["name"])]
    return f"{told}; use {group}/{max(newer, key=version_priority)} {kind}" if newer else told


def _field(path: str) -> Callable[[Object], str]:
    names = path.lstrip(".").split(".")

    def read(obj: Object) -> str:
        value: Any = obj
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value)

    return read
