"""`tutti why` and `kubectl gang tree`, asked as a person would ask them: as programs."""

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
    code, out, complaint = await _asked(cluster, "tutti.py", "why", what, "--output=json")
    if not out:
        return Told(code, complaint=complaint)
    answer, *_ = json.loads(out)
    return Told(code, (answer.get("hint") or {}).get("message", ""), complaint)


async def tree(cluster: Cluster, what: str) -> list[str]:
    """What hangs together with `KIND/NAME`, line by line; what stands in the way of an answer if there is none."""
    _, out, complaint = await _asked(cluster, "kubectl_gang.py", "tree", what)
    return out.splitlines() or [complaint]


async def _asked(cluster: Cluster, program: str, *words: str) -> tuple[int, str, str]:
    """The exit code, what was said, and what was complained about as one line."""
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, str(REPOSITORY / program), *words, f"--kubeconfig={cluster.kubeconfig}"]
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, stdin=asyncio.subprocess.DEVNULL)
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(errors="replace"), " ".join(err.decode(errors="replace").split())
