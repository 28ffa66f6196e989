"""What the real LeaderWorkerSet and StatefulSet controllers made of public manifests, and the same of a cluster here.

Not compared, because no two runs have the same: UIDs (also those in owner references), resourceVersions, creation and
transition times, the order in which a list is answered, and the variables of pods on TPUs, which nobody here needs.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from api.constants import LWS_NAME
from kube.client.resources import CONTROLLER_REVISIONS, LEADER_WORKER_SETS, PODS, SERVICES, STATEFUL_SETS, Resource
from verify.shared_data import SHARED_DATA

Object = dict[str, Any]
Lister = Callable[[Resource], list[Object]]

RANDOM = frozenset({"uid", "resourceVersion", "creationTimestamp", "lastTransitionTime", "managedFields"})
KINDS = (LEADER_WORKER_SETS, STATEFUL_SETS, PODS, SERVICES, CONTROLLER_REVISIONS)


@dataclass(frozen=True)
class Record:
    """One record, and the LeaderWorkerSet it was made from."""

    name: str
    content: Object
    manifest: Object

    @property
    def set_name(self) -> str:
        return str(self.manifest["metadata"]["name"])


def records() -> Iterator[Record]:
    folder = SHARED_DATA / "lws-recorded"
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text())
        own = folder / content["manifest"]
        text = (own if own.exists() else SHARED_DATA / "manifests" / content["manifest"]).read_text()
        sets = [each for each in yaml.safe_load_all(text) if each and each["kind"] == "LeaderWorkerSet"]
        yield Record(path.stem, content, sets[0])


def parameters(*names: str) -> list[Any]:
    """The records, or those so named, as parameters; one that is skipped with the reason when there are none."""
    found = [pytest.param(each, id=each.name) for each in records() if not names or each.name in names]
    missing = pytest.mark.skip(reason=f"no records in {SHARED_DATA}; set TUTTI_SHARED_DATA")
    return found or [pytest.param(None, marks=missing, id="absent")]


def settled(value: Any) -> Any:
    """A copy without what differs from run to run."""
    if isinstance(value, dict):
        return {key: settled(each) for key, each in value.items() if key not in RANDOM}
    return [settled(each) for each in value if not _is_tpu_variable(each)] if isinstance(value, list) else value


def _is_tpu_variable(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("name", "")).startswith("TPU_")


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Where two documents differ, one line each."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = sorted(expected.keys() | found.keys())
        return [
            line
            for key in keys
            for line in differences(expected.get(key, "<absent>"), found.get(key, "<absent>"), f"{path}.{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [
            line
            for number, (left, right) in enumerate(zip(expected, found, strict=True))
            for line in differences(left, right, f"{path}[{number}]")
        ]
    return [] if expected == found else [f"{path}: recorded {expected!r}, here {found!r}"]


def gathered(record: Record, list_all: Lister) -> Object:
    """What the cluster has, in the form of a record."""
    by_kind = {resource: _labelled(list_all(resource), record) for resource in KINDS}
    name, pods, sets = record.set_name, by_kind[PODS], by_kind[STATEFUL_SETS]
    lws = [each for each in list_all(LEADER_WORKER_SETS) if each["metadata"]["name"] == name]
    return {
        "lws": lws,
        "pods": [each["metadata"]["name"] for each in pods],
        "statefulsets": [each["metadata"]["name"] for each in sets],
        "sts": [each for each in sets if each["metadata"]["name"] in {name, f"{name}-0"}],
        "leader": [each for each in pods if each["metadata"]["name"] == f"{name}-0"],
        "workers": [each for each in pods if each["metadata"]["name"] == f"{name}-0-1"],
        "services": by_kind[SERVICES],
        "controllerrevisions": by_kind[CONTROLLER_REVISIONS],
    }


def mismatches(record: Record, found: Object) -> list[str]:
    """All differences between a record and what was gathered; revisions' content is not in the records."""
    lines: list[str] = []
    for part, expected in record.content.items():
        if part in {"manifest", "startup", "pods_before_leaders_ready"}:
            continue
        here = settled(found[part])
        for each in here if part == "controllerrevisions" else ():
            each.pop("data", None)
            each.pop("apiVersion", None)
            each.pop("kind", None)
        for each in here if part != "controllerrevisions" else ():
            if isinstance(each, dict):
                each.setdefault("apiVersion", _api_version(part))
                each.setdefault("kind", _KIND_OF[part].kind)
        lines += differences(settled(expected), here, part)
    return lines


_KIND_OF = {
    "lws": LEADER_WORKER_SETS,
    "sts": STATEFUL_SETS,
    "leader": PODS,
    "workers": PODS,
    "services": SERVICES,
}


def _api_version(part: str) -> str:
    return _KIND_OF[part].api_version


def _labelled(objects: list[Object], record: Record) -> list[Object]:
    mine = [each for each in objects if (each["metadata"].get("labels") or {}).get(LWS_NAME) == record.set_name]
    return sorted(mine, key=lambda each: str(each["metadata"]["name"]))
