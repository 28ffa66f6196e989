"""What the product imports is what an installation of it brings along."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PRODUCT = ("api", "controllers", "install", "kube", "localcluster", "providers", "scheduler", "webhooks")


def imported() -> Iterator[tuple[str, Path]]:
    """Every top-level module that a file of the product imports from elsewhere."""
    files = [REPOSITORY / "tutti.py", *(path for name in PRODUCT for path in (REPOSITORY / name).rglob("*.py"))]
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
                if top not in sys.stdlib_module_names and top not in {*PRODUCT, "tutti"}:
                    yield top, path


def test_every_import_is_a_declared_dependency_and_no_tool_of_development() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    declared = {each.split(">")[0].lower() for each in project["dependencies"]}
    provided_by = packages_distributions()
    missing = {
        f"{module} ({path.relative_to(REPOSITORY)})"
        for module, path in imported()
        if not declared & {name.lower().replace("_", "-") for name in provided_by.get(module, [])}
    }
    assert missing == set()
