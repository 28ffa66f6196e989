"""All files of the chart, by their paths in it."""

import tomllib
from pathlib import Path
from typing import Final

from hack.chart.emit import Emitter
from hack.chart.parameters import NAMES, parametrize
from hack.chart.patches import apply_under
from hack.chart.sources import PARTS, Source, is_meant, patches_of, sources
from hack.chart.values_files import values_schema, values_yaml

REPOSITORY: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = REPOSITORY / "charts" / "tutti"
STATIC: Final = Path(__file__).parent / "static"
INSTALL_DEFINITIONS: Final = ".Values.crds.install"

_HEADER: Final = "{{- /* Written by `make chart` from config/, which is where to change it. */}}\n"
_CHART: Final = """\
# Written by `make chart`.
apiVersion: v2
name: tutti
description: {description}
type: application
version: {version}
appVersion: {version}
kubeVersion: ">=1.30.0-0"
keywords: [scheduling, gang-scheduling, batch, jobs, leaderworkerset, jobset]
"""


def rendered() -> dict[str, str]:
    """What each file has to hold."""
    return {
        "Chart.yaml": _chart(),
        "values.yaml": values_yaml(),
        "values.schema.json": values_schema(),
        **_templates(),
        **{f"templates/{path.name}": path.read_text(encoding="utf-8") for path in sorted(STATIC.iterdir())},
    }


def _chart() -> str:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return _CHART.format(description=project["description"], version=project["version"])


def _templates() -> dict[str, str]:
    emitter = Emitter(NAMES)
    templates: dict[str, str] = {}
    for source in sources():
        # Helm is told the namespace and makes it; a chart that holds its own cannot be installed into it.
        if source.body["kind"] == "Namespace":
            continue
        _patch(source)
        parametrize(source.body)
        text = emitter.document(source.body, condition=_condition(source))
        name = f"templates/{source.template}"
        templates[name] = templates.get(name, _HEADER) + text
    return templates


def _condition(source: Source) -> str | None:
    return INSTALL_DEFINITIONS if source.body["kind"] == "CustomResourceDefinition" else source.condition


def _patch(source: Source) -> None:
    for part in PARTS:
        for patch, target in patches_of(part):
            if is_meant(source.body, target):
                apply_under(part.condition, patch, source.body)
