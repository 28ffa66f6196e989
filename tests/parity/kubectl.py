"""Runs the kubectl commands against a server and notes what they say."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.parity.commands import COMMANDS, NAMESPACE, Command
from tests.parity.normal import normal

TIMEOUT_SECONDS = 60


def run(kubectl: Path, kubeconfig: Path, home: Path, commands: Sequence[Command] = COMMANDS) -> dict[str, Any]:
    """What the commands say, by name; a command that is given a second time is told apart by its number."""
    _prepare(kubectl, kubeconfig, home)
    said: dict[str, Any] = {}
    for command in commands:
        made = _run(kubectl, kubeconfig, home, command.line.split(" "), command.manifest)
        name = next(
            name for number in range(1, 9) if (name := command.name + f" ({number})" * (number > 1)) not in said
        )
        said[name] = {"code": made.returncode} if command.code_only else _told(made)
    return said


def _prepare(kubectl: Path, kubeconfig: Path, home: Path) -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    made = _run(kubectl, kubeconfig, home, ["create", "-f", "-"], space)
    assert made.returncode == 0, made.stderr


def _run(
    kubectl: Path, kubeconfig: Path, home: Path, words: Sequence[str], manifest: dict[str, Any] | None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [kubectl, "--kubeconfig", kubeconfig, "-n", NAMESPACE, *words],
        input=None if manifest is None else json.dumps(manifest),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "TZ": "UTC"},
    )


def _told(made: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    return {"code": made.returncode, "out": _lines(made.stdout), "err": _lines(made.stderr)}


_AGE = re.compile(r"(?:(?<=\s)|^)(\d+[smhdy])+(?=[\s)]|$)")
_DATE = re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000")
_VERSION = re.compile(r"""(resource ?version"?:\s+"?)\d+""", re.IGNORECASE)
_LOG_TIME = re.compile(r"^([EIW])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ")
_ADDRESS = re.compile(r"10\.0\.\d+\.\d+")
_RANDOM = re.compile(r"(?<=kube-root-ca)\S+")


def _lines(text: str) -> list[str]:
    """Lines with placeholders, and with single blanks: the width of a column follows from the ages in it."""
    lines = []
    for line in str(normal(text)).splitlines():
        kept = _AGE.sub("<age>", _DATE.sub("<date>", _VERSION.sub(r"\1<version>", _LOG_TIME.sub(r"\1 ", line))))
        kept = _RANDOM.sub("", _ADDRESS.sub("<address>", kept))
        indent = len(kept) - len(kept.lstrip(" "))
        lines.append(" " * indent + re.sub(r"[ \t]+", " ", kept.strip()))
    return lines
