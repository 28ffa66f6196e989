"""`make audit`: asks pip-audit whether any version that we pin has a known vulnerability.

pip-audit lives in an environment of its own, in the version that is pinned here like everything else, so that it adds nothing to
the one that is judged. Its word is read from its report, not from its exit code: packages that the service does not know count
as fine there.

Exit codes: 0 nothing is known, or the service is not to be had (one line says so; 1 with `--require`); 1 something is known.
"""

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, Final

from hack.dist.project import REPOSITORY, project

PINNED: Final = REPOSITORY / "hack" / "constraints.txt"
ENVIRONMENT: Final = REPOSITORY / "build" / "audit"
ANSWER_SECONDS: Final = 15


class NoServiceError(Exception):
    """Nobody could be asked; the text says why."""


def main() -> int:
    """Asks and tells; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m hack.audit", description="Look for known vulnerabilities.")
    parser.add_argument(
        "--require", action="store_true", help="fail where the service of vulnerabilities is not to be had"
    )
    required = parser.parse_args().require
    try:
        lines, code = verdict(report(pip_audit()))
    except NoServiceError as error:
        print(f"audit: left out: {error}")
        return 1 if required else 0
    print("\n".join(lines))
    return code


def pip_audit() -> Path:
    """The program, installed if need be."""
    program = ENVIRONMENT / "bin" / "pip-audit"
    if not program.exists():
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        (requirement,) = project()["optional-dependencies"]["audit"]
        command: list[str | Path] = [
            ENVIRONMENT / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        subprocess.run([*command, "--constraint", PINNED, requirement], check=True)
    return program


def report(program: Path) -> dict[str, Any]:
    """What pip-audit found about the pinned versions.

    Raises:
        NoServiceError: it could not ask.
    """
    options: list[str | Path] = [
        "--requirement",
        PINNED,
        "--no-deps",
        "--disable-pip",
        "--format=json",
        "--progress-spinner=off",
    ]
    command = [program, *options, f"--timeout={ANSWER_SECONDS}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        raise NoServiceError(f"the service of vulnerabilities did not answer: {said[-1]}") from None
    return found


def verdict(found: dict[str, Any]) -> tuple[list[str], int]:
    """The lines for people, and the exit code.

    Raises:
        NoServiceError: the service knows none of the packages, so it is not the real one.
    """
    packages = found["dependencies"]
    unknown = [each["name"] for each in packages if "skip_reason" in each]
    if packages and len(unknown) == len(packages):
        raise NoServiceError(f"the service of vulnerabilities knows none of the {len(packages)} packages")
    bad = [_line(each, one) for each in packages for one in each.get("vulns", ())]
    lines = [*bad, *(f"{name}: not known to the service, not judged" for name in unknown)]
    checked = len(packages) - len(unknown)
    return [*lines, f"{checked} pinned packages looked at, {len(bad)} known vulnerabilities"], 1 if lines else 0


def _line(package: dict[str, Any], vulnerability: dict[str, Any]) -> str:
    mended = ", ".join(vulnerability.get("fix_versions") or ["none yet"])
    return f"{package['name']} {package['version']}: {vulnerability['id']}, mended in {mended}"


if __name__ == "__main__":
    sys.exit(main())
