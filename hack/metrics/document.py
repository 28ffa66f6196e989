"""The text of docs/metrics.md."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hack.metrics.notes import NOTES
from hack.metrics.served import Metric, metrics, registries

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"

_HEAD: Final = """\
# Metrics

<!-- Written by `make metrics-docs` from the code that counts and from hack/metrics/notes.py. -->

Every process serves `/metrics` beside its health checks (`--metrics`, in the cluster port 8080). No label ever has a name as its
value that users choose, so the number of series does not grow with the cluster. Where Kubernetes has a metric of that meaning, it
is named. The processes also serve what is known of any process: `process_resident_memory_bytes`, `process_cpu_seconds_total`.

`config/components/prometheus` has the alerts (what to do about each: `docs/runbooks`), `config/components/grafana` a dashboard.
In a chart: `monitoring.prometheus`, `monitoring.grafana`.
"""


def rendered() -> str:
    """What the file has to hold."""
    parts = [_HEAD]
    for process, registry in registries().items():
        parts.append(f"\n## {process.capitalize()}\n\n" + "".join(_lines(list(metrics(registry)))))
    return "".join(parts)


def _lines(found: list[Metric]) -> Iterator[str]:
    yield "| metric | kind, unit | what | labels | what to do |\n|---|---|---|---|---|\n"
    for metric in found:
        note = NOTES[metric.shown_name]
        upstream = f"<br>upstream: {note.upstream}" if note.upstream else ""
        labels = "<br>".join(f"`{label}`: {note.labels[label]}" for label in metric.labels)
        yield f"| `{metric.shown_name}` | {metric.kind}, {note.unit} | {metric.text}{upstream} | {labels} | {note.act} |\n"
