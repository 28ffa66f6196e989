"""What the chart is made from: the objects of `config/default`, and the components with what they add and change."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from install.manifests import CONFIG_FOLDER

AREAS: Final = ("crd", "rbac", "policy", "webhook", "manager")
OWN_CERTIFICATES: Final = 'eq .Values.certificates.source "own"'
CERT_MANAGER: Final = 'eq .Values.certificates.source "cert-manager"'
HAS_SETTINGS: Final = 'include "tutti.hasSettings" .'


@dataclass(frozen=True, slots=True)
class Part:
    """A folder of `config/` that an installation may have or not.

    Attributes:
        folder: below `config/`.
        condition: when it has it, in Helm's language.
    """

    folder: str
    condition: str


PARTS: Final = (
    Part("profiles", HAS_SETTINGS),
    Part("components/given-certificates", f"not ({OWN_CERTIFICATES})"),
    Part("components/cert-manager", CERT_MANAGER),
    Part("components/network-policy", ".Values.networkPolicy.enabled"),
    Part("components/hold-gangs", ".Values.holdGangs"),
    Part("components/prometheus", ".Values.monitoring.prometheus"),
    Part("components/grafana", ".Values.monitoring.grafana"),
    Part("components/metrics-authentication", ".Values.metrics.authentication"),
    Part("components/log-levels", ".Values.logLevels.enabled"),
    Part("components/why", ".Values.why.enabled"),
)
"""Those without a value of their own are not here: `one-replica` is `replicas: 1`, and what comes with it (`parameters`)."""

MADE_BY_TEMPLATES: Final = frozenset({"profiles", "components/log-levels"})
"""Parts whose ConfigMap holds what the values say, not what stands in `config/`."""


@dataclass(frozen=True, slots=True)
class Source:
    """One object, and the template that holds it.

    Attributes:
        template: file name in `templates/`.
        body: the object.
        condition: when it is there; None: always.
    """

    template: str
    body: dict[str, Any]
    condition: str | None = None


def sources() -> list[Source]:
    """All objects that the chart may hold, in the order in which they are written."""
    found = [each for area in AREAS for each in _of_folder(area, area, None)]
    for part in PARTS:
        found += _of_folder(part.folder, Path(part.folder).name, part.condition)
    return found


def patches_of(part: Part) -> Iterator[tuple[list[dict[str, Any]], dict[str, str]]]:
    """Each JSON patch of that part with its target."""
    folder = CONFIG_FOLDER / part.folder
    for each in _listing(folder).get("patches", ()):
        yield yaml.safe_load((folder / each["path"]).read_text(encoding="utf-8")), each["target"]


def is_meant(body: dict[str, Any], target: dict[str, str]) -> bool:
    """Whether a patch with that target is about this object, by kustomize's rules."""
    metadata = body["metadata"]
    label, _, value = target.get("labelSelector", "").partition("=")
    return (
        body["kind"] == target["kind"]
        and re.fullmatch(target.get("name", ".*"), metadata["name"]) is not None
        and (not label or metadata["labels"].get(label) == value)
    )


def _of_folder(folder: str, title: str, condition: str | None) -> Iterator[Source]:
    listing = _listing(CONFIG_FOLDER / folder)
    if folder not in MADE_BY_TEMPLATES:
        for made in listing.get("configMapGenerator", ()):
            yield Source(f"{title}-{made['name']}.yaml", _config_map(made, CONFIG_FOLDER / folder), condition)
    for entry in listing.get("resources", ()):
        if entry.startswith(".."):
            continue
        file = CONFIG_FOLDER / folder / entry
        if file.is_dir():
            yield from _of_folder(f"{folder}/{entry}", title, condition)
            continue
        for body in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            # Anchors make one value of two places, and places are changed one by one.
            yield Source(f"{title}-{entry}", _untied(body), condition)


def _config_map(made: dict[str, Any], folder: Path) -> dict[str, Any]:
    metadata = {"name": made["name"], "namespace": made["namespace"], "labels": made["options"]["labels"]}
    data = {file: (folder / file).read_text(encoding="utf-8") for file in made["files"]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _untied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _untied(each) for key, each in value.items()}
    return [_untied(each) for each in value] if isinstance(value, list) else value


def _listing(folder: Path) -> dict[str, Any]:
    listing: dict[str, Any] = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    return listing
