"""Prometheus itself has nothing against the rules, and lets each of them fire and go."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hack.dashboard.panels import ROWS
from tests.monitoring.alert_cases import CASES, Case
from tests.monitoring.rules import alerts, spec
from tests.programs import tool


def promtool(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [tool("promtool", "promtool"), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_case() -> None:
    assert CASES.keys() == {alert["alert"] for alert in alerts()}


def test_prometheus_understands_the_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(spec()))
    promtool(tmp_path, "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")


def test_prometheus_understands_every_panel_of_the_dashboard(tmp_path: Path) -> None:
    expressions = [each for row in ROWS.values() for panel in row for each in panel.queries.values()]
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(expressions)
    ]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    promtool(tmp_path, "check", "rules", "panels.yaml")


def expected(alert: dict[str, Any], case: Case) -> list[dict[str, Any]]:
    return [{"exp_labels": {**alert["labels"], **case.labels}}]


@pytest.mark.parametrize("alert", alerts(), ids=lambda each: each["alert"])
def test_an_alert_fires_when_it_should_and_goes_again(alert: dict[str, Any], tmp_path: Path) -> None:
    case = CASES[alert["alert"]]
    # Texts are for people and depend on figures: here it is only whether an alert is there.
    rule = {key: value for key, value in alert.items() if key != "annotations"}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "tutti", "rules": [rule]}]}))
    moments = {0: [], case.fires: expected(alert, case), case.gone: []}
    tests = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
                "alert_rule_test": [
                    {"eval_time": f"{minute}m", "alertname": alert["alert"], "exp_alerts": found}
                    for minute, found in moments.items()
                ],
            }
        ],
    }
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(tests))
    promtool(tmp_path, "test", "rules", "tests.yaml")
