"""What the product imports is what an installation of it brings along, in versions that do what we count on."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PRODUCT = (
    "api",
    "controllers",
    "explain",
    "install",
    "kube",
    "localcluster",
    "providers",
    "scheduler",
    "views",
    "webhooks",
)
COMMAND_LINE = ("tutti", "asking", "kubectl_gang")


def imported() -> Iterator[tuple[str, Path]]:
    """Every top-level module that a file of the product imports from elsewhere."""
    files = [
        REPOSITORY / "tutti.py",
        REPOSITORY / "kubectl_gang.py",
        *(path for name in PRODUCT for path in (REPOSITORY / name).rglob("*.py")),
    ]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            else:
                continue
            for name in names:
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and top not in {*PRODUCT, *COMMAND_LINE}:
                    yield top, path


def lowest_allowed(package: str) -> tuple[int, ...]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    (found,) = (re.match(rf"{package}>=([0-9.]+),", each) for each in project["dependencies"] if package in each)
    assert found, package
    return tuple(int(part) for part in found[1].split("."))


def test_no_kopf_is_allowed_that_survives_a_watch_it_has_given_up() -> None:
    """1.44 goes on when it has given up a watch. Nothing of ours is watched by kopf now, but nothing older than 1.45 is tried."""
    assert lowest_allowed("kopf") >= (1, 45)


def test_every_import_is_a_declared_dependency_and_no_tool_of_development() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    always = {each.split(">")[0].lower() for each in project["dependencies"]}
    extra = {each.split(">")[0].lower() for each in project["optional-dependencies"]["local"]}
    provided_by = packages_distributions()

    def declared_for(path: Path) -> set[str]:
        return always | extra if path.is_relative_to(REPOSITORY / "localcluster") else always

    missing = {
        f"{module} ({path.relative_to(REPOSITORY)})"
        for module, path in imported()
        if not declared_for(path) & {name.lower().replace("_", "-") for name in provided_by.get(module, [])}
    }
    assert missing == set()
