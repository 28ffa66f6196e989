"""An older version of Tutti, taken from the history of this repository, and how it is run."""

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

from verify.clusters.controlplane import ControlPlane
from verify.clusters.tutti_process import Tutti

REPOSITORY = Path(__file__).parents[3]
OLDER = "3027c3bcb038e84904078425e21ad98a597e63ff"
"""From before devices, recordings, `tutti why` and the second version of the settings of processes."""
GIT_SECONDS = 60


def check_out(folder: Path) -> bool:
    """Writes the older version's files there; false where the history does not go back so far."""
    done = subprocess.run(
        ["git", "-C", str(REPOSITORY), "archive", "--format=tar", OLDER],
        capture_output=True,
        timeout=GIT_SECONDS,
        check=False,
    )
    if done.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return True


def older_tutti(control_plane: ControlPlane, files: Path) -> Tutti:
    """`tutti run` of those files, with settings that it knows."""
    made = Tutti(
        control_plane,
        command=(sys.executable, str(files / "tutti.py")),
        variables={"PYTHONPATH": str(files)},
        name="older",
    )
    (control_plane.folder / "older.yaml").write_text(json.dumps({}))
    return made
