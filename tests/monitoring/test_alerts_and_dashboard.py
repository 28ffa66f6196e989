"""Every expression names metrics and labels that are served; every alert has its page; the dashboard is current."""

import json
import re

import pytest

from hack.dashboard.__main__ import FILE as DASHBOARD
from hack.dashboard.__main__ import rendered
from hack.dashboard.panels import ROWS, Panel
from hack.metrics.expressions import problems
from hack.metrics.served import all_series
from install.manifests import CONFIG_FOLDER
from tests.monitoring.rules import alerts

RUNBOOKS = CONFIG_FOLDER.parent / "docs" / "runbooks"
SERIES = all_series()


@pytest.mark.parametrize("alert", alerts(), ids=lambda each: each["alert"])
def test_an_alert_looks_at_what_is_served(alert: dict[str, str]) -> None:
    assert list(problems(alert["expr"], SERIES)) == []


@pytest.mark.parametrize("alert", alerts(), ids=lambda each: each["alert"])
def test_an_alert_says_what_is_wrong_and_where_it_is_written_what_to_do(alert: dict[str, dict[str, str]]) -> None:
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert alert["annotations"]["summary"].endswith(".")
    page = CONFIG_FOLDER.parent / alert["annotations"]["runbook"]
    assert page == RUNBOOKS / f"{alert['alert']}.md"
    text = page.read_text()
    assert text.startswith(f"# {alert['alert']}\n")
    assert "**What it means.**" in text
    assert "**What to do.**" in text


def test_no_page_is_about_an_alert_that_is_gone() -> None:
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == {alert["alert"] for alert in alerts()}


def test_pages_name_only_metrics_that_are_served() -> None:
    for page in [*RUNBOOKS.glob("*.md"), *(CONFIG_FOLDER.parent / "docs").glob("*.md")]:
        named = set(re.findall(r"`(tutti_\w+)(?![\w.])", page.read_text()))
        unknown = {name for name in named if not any(each == name or each.startswith(f"{name}_") for each in SERIES)}
        assert not unknown, page.name


@pytest.mark.parametrize("panel", [panel for row in ROWS.values() for panel in row], ids=lambda each: each.title)
def test_a_panel_shows_what_is_served(panel: Panel) -> None:
    for legend, expression in panel.queries.items():
        assert list(problems(expression, SERIES)) == []
        for label in re.findall(r"\{\{(\w+)\}\}", legend):
            assert label in expression or label in {"pod", "name"}


def test_the_dashboard_is_current_and_its_panels_do_not_overlap() -> None:
    assert DASHBOARD.read_text() == rendered(), "run `make metrics-docs`"
    places = [panel["gridPos"] for panel in json.loads(rendered())["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert all(at["x"] + at["w"] <= 24 for at in places)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("sum(tutti_nonsense)", "no metric tutti_nonsense"),
        ("tutti_bind_duration_seconds", "no metric tutti_bind_duration_seconds"),
        ('tutti_cache_drift{sort="x"}', "tutti_cache_drift has no label sort"),
        ("sum by (colour) (tutti_cache_drift)", "no metric of the expression has a label colour"),
    ],
)
def test_a_name_that_nobody_serves_is_found(expression: str, problem: str) -> None:
    assert list(problems(expression, SERIES)) == [problem]
