"""`tutti why`, asked as a person would ask it: as a program."""

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import Final

from localcluster.cluster import Cluster
from localcluster.processes import REPOSITORY

NOT_STARTED: Final = frozenset({3, 4})
"""Its exit codes for what waits, and for what would not start on this cluster even if it were empty."""


@dataclass(frozen=True, slots=True)
class Told:
    """What it answered: its exit code, the hint (empty for none), and what it said on standard error."""

    code: int
    hint: str = ""
    complaint: str = ""


async def why(cluster: Cluster, what: str) -> Told:
    """Why `KIND/NAME` waits."""
    pipe = asyncio.subprocess.PIPE
    command = [
        sys.executable,
        str(REPOSITORY / "tutti.py"),
        "why",
        what,
        f"--kubeconfig={cluster.kubeconfig}",
        "--output=json",
    ]
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, stdin=asyncio.subprocess.DEVNULL)
    out, err = await process.communicate()
    complaint = " ".join(err.decode(errors="replace").split())
    if not out:
        return Told(process.returncode or 0, complaint=complaint)
    answer, *_ = json.loads(out)
    return Told(process.returncode or 0, (answer.get("hint") or {}).get("message", ""), complaint)
