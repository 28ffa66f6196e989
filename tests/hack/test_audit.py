"""What `make audit` makes of pip-audit's report."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from hack import audit

REPOSITORY = Path(__file__).resolve().parents[2]


def fine(name: str) -> dict[str, Any]:
    return {"name": name, "version": "1.0", "vulns": []}


def unknown(name: str) -> dict[str, Any]:
    return {"name": name, "skip_reason": f"Dependency not found on PyPI and could not be audited: {name} (1.0)"}


def vulnerable(name: str, *mended: str) -> dict[str, Any]:
    return {"name": name, "version": "1.0", "vulns": [{"id": "GHSA-1", "fix_versions": [*mended], "aliases": []}]}


def test_nothing_known_is_fine() -> None:
    assert audit.verdict({"dependencies": [fine("a"), fine("b")]}) == (
        ["2 pinned packages looked at, 0 known vulnerabilities"],
        0,
    )


def test_a_known_vulnerability_is_named_with_the_version_that_mends_it() -> None:
    lines, code = audit.verdict({"dependencies": [fine("a"), vulnerable("b", "1.1"), vulnerable("c")]})
    assert lines[:2] == ["b 1.0: GHSA-1, mended in 1.1", "c 1.0: GHSA-1, mended in none yet"]
    assert code == 1


def test_a_package_that_nobody_judged_is_not_taken_for_fine() -> None:
    lines, code = audit.verdict({"dependencies": [fine("a"), unknown("b")]})
    assert lines[0] == "b: not known to the service, not judged"
    assert code == 1


def test_a_service_that_knows_nothing_is_no_service() -> None:
    """A mirror of a registry answers for PyPI and has no word about vulnerabilities; pip-audit then finds all well."""
    with pytest.raises(audit.NoServiceError, match="knows none of the 2 packages"):
        audit.verdict({"dependencies": [unknown("a"), unknown("b")]})


@pytest.mark.parametrize(("required", "code"), [(False, 0), (True, 1)])
def test_where_nobody_can_be_asked_one_line_says_so(
    required: bool, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "pip-audit"
    program.write_text("#!/bin/sh\necho 'Traceback' >&2\necho 'ConnectionError: no such host' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(audit, "pip_audit", lambda: program)
    monkeypatch.setattr("sys.argv", ["audit", *(["--require"] if required else [])])
    assert audit.main() == code
    assert capsys.readouterr().out == (
        "audit: left out: the service of vulnerabilities did not answer: ConnectionError: no such host\n"
    )


def test_pip_audit_itself_is_pinned() -> None:
    pinned = {line.partition("==")[0].replace("_", "-") for line in audit.PINNED.read_text().split()}
    assert "pip-audit" in pinned
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert [each.partition(">")[0] for each in extras["audit"]] == ["pip-audit"]
