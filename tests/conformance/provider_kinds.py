"""The CRDs of other gang schedulers, as those publish them: installed for a test and removed again."""

import pytest
import yaml

from providers.base import GroupKind
from providers.selection import standard_providers
from tests.providers.expected import TABLE
from verify.clusters.client import Api, ApiError, Object
from verify.clusters.eventually import eventually
from verify.shared_data import SHARED_DATA

CRDS = SHARED_DATA / "crds"
SERVED_SECONDS = 30

WITH_KINDS = [name for name, row in TABLE.items() if row.crd_file]


def kind_of(provider: str) -> GroupKind:
    """The kind of group this scheduler brings along."""
    found = standard_providers().named(provider)
    assert found is not None
    assert found.kind is not None
    return found.kind


def path_of(kind: GroupKind, namespace: str = "") -> str:
    """Where its objects are."""
    scope = f"/namespaces/{namespace}" if namespace else ""
    return f"/apis/{kind.group}/{kind.version}{scope}/{kind.plural}"


def definition_of(provider: str) -> Object:
    """The published CRD; skips the test when the shared data are not there."""
    file = CRDS / TABLE[provider].crd_file
    if not file.exists():
        pytest.skip(f"no {file.name} in {CRDS}; set TUTTI_SHARED_DATA")
    (found,) = (each for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if each)
    definition: Object = found
    return definition


def install_kind(api: Api, provider: str) -> None:
    """Installs the CRD and waits until its kind is served."""
    definition = definition_of(provider)
    if api.find("customresourcedefinitions", definition["metadata"]["name"]) is None:
        api.create("customresourcedefinitions", definition)
    eventually(lambda: is_served(api, kind_of(provider)), within_seconds=SERVED_SECONDS)


def remove_kind(api: Api, provider: str) -> None:
    """Removes the CRD, and with it all objects of the kind."""
    kind = kind_of(provider)
    api.delete("customresourcedefinitions", kind.crd)
    eventually(lambda: not is_served(api, kind), within_seconds=SERVED_SECONDS)


def is_served(api: Api, kind: GroupKind) -> bool:
    """Whether objects of the kind can be listed."""
    try:
        api.request("GET", path_of(kind))
    except ApiError as error:
        if error.status == 404:
            return False
        raise
    return True
