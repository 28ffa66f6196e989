"""`python -m hack.dashboard`: writes the JSON of the dashboard. A test fails while the file is not what this writes."""

import json
from pathlib import Path
from typing import Any, Final

from hack.dashboard.panels import ROWS, Panel

FILE: Final = Path(__file__).resolve().parents[2] / "config" / "components" / "grafana" / "tutti.json"
_WIDTH: Final = 12
_HEIGHT: Final = 8
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}


def rendered() -> str:
    """What the file has to hold."""
    variable = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    dashboard = {
        "title": "Tutti",
        "uid": "tutti",
        "tags": ["tutti", "scheduling"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [variable]},
        "panels": _panels(),
    }
    return json.dumps(dashboard, indent=1, ensure_ascii=False) + "\n"


def _panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    top = 0
    for row, panels in ROWS.items():
        found.append({"type": "row", "title": row, "id": len(found) + 1, "gridPos": _place(0, top, 2 * _WIDTH, 1)})
        top += 1
        for number, panel in enumerate(panels):
            left = number % 2 * _WIDTH
            found.append(_panel(panel, len(found) + 1, _place(left, top + number // 2 * _HEIGHT, _WIDTH, _HEIGHT)))
        top += (len(panels) + 1) // 2 * _HEIGHT
    return found


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + index), "expr": expression, "legendFormat": name, "datasource": _SOURCE}
        for index, (name, expression) in enumerate(panel.queries.items())
    ]
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.text,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": targets,
    }


def _place(left: int, top: int, width: int, height: int) -> dict[str, int]:
    return {"x": left, "y": top, "w": width, "h": height}


def main() -> None:
    """Writes the file."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(rendered(), encoding="utf-8")


if __name__ == "__main__":
    main()
