"""The manifests of `config/`, read as an administrator's `kubectl apply -k` would read them.

There is one set of manifests. What kustomize offers beyond a list of files is not used in them on purpose (and refused here),
so that reading them needs no kustomize and both ways of installing give the very same objects.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from api.errors import ConfigurationError
from install.kinds import resource_of
from kube.client.errors import one_line
from kube.client.resources import Resource

Area = Literal[
    "crd",
    "rbac",
    "policy",
    "webhook",
    "manager",
    "default",
    "components/hold-gangs",
    "components/metrics-authentication/rights",
    "components/why/rights",
]
"""A folder of `config/` that holds parts of an installation; `default` is all of them but the components', which are a choice."""

CONFIG_FOLDER: Final = Path(__file__).resolve().parent.parent / "config"
"""Beside this package, in a checkout as in an installed wheel."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The same language, read by libyaml where that is there: several times as fast."""

_LIST_FILE: Final = "kustomization.yaml"
_LIST_KEYS: Final = frozenset({"apiVersion", "kind", "resources"})


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object as we want it to be.

    Attributes:
        resource: where the API server keeps it.
        body: the object, as written in its file.
    """

    resource: Resource
    body: dict[str, Any]

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str | None:
        """`metadata.namespace`, None for cluster-scoped objects."""
        namespace = self.body["metadata"].get("namespace")
        return None if namespace is None else str(namespace)

    @property
    def title(self) -> str:
        """Kind and name, for people."""
        return f"{self.resource.kind} {self.name}"


def load(area: Area, *, folder: Path = CONFIG_FOLDER) -> tuple[Manifest, ...]:
    """The objects of one area, in the order of its list.

    Raises:
        ConfigurationError: the installation is incomplete or a file in it is unusable.
    """
    return tuple(
        Manifest(resource_of(document, str(file)), document)
        for file in _files(folder / area)
        for document in _documents(file)
    )


def _files(folder: Path) -> Iterator[Path]:
    listing = folder / _LIST_FILE
    documents = _documents(listing)
    if len(documents) != 1 or not set(documents[0]) <= _LIST_KEYS:
        raise ConfigurationError(f"{listing}: only a list of resources is understood")
    for entry in documents[0].get("resources") or []:
        path = (folder / str(entry)).resolve()
        if path.is_dir():
            yield from _files(path)
        else:
            yield path


def _documents(file: Path) -> list[dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"Tutti's manifests are incomplete: {file}: {error.strerror or error}") from error
    try:
        documents = [document for document in yaml.load_all(text, _LOADER) if document is not None]
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{file} is no YAML: {one_line(str(error))}") from error
    if not all(isinstance(document, dict) for document in documents):
        raise ConfigurationError(f"{file}: every document must be an object")
    return documents
