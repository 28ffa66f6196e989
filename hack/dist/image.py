"""The image as an archive that `docker load` reads, built as the tests with real containers build it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from hack.dist.project import REPOSITORY, version

_SCRIPT = REPOSITORY / "hack" / "node" / "image"
_PROGRAMS = {"apt-get": "Debian's apt", "go": "Go"}


def archive_name() -> str:
    """The file's name."""
    return f"tutti-image-{version()}.tar"


def obstacle() -> str:
    """What this machine lacks to build it, in a few words; empty when it has all. buildah is installed if need be."""
    if not sys.platform.startswith("linux"):
        return "that needs Linux"
    if os.geteuid() != 0:
        return "that needs root"
    missing = [what for program, what in _PROGRAMS.items() if shutil.which(program) is None]
    return f"that needs {' and '.join(missing)}" if missing else ""


def build_image(epoch: int, archive: Path) -> None:
    """Builds it from the Dockerfile; the same bytes for the same sources, time and base image.

    Raises:
        SystemExit: the build failed; its output is above.
    """
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "ARCHIVE": str(archive)}
    command = [str(_SCRIPT), str(REPOSITORY), f"tutti:{version()}"]
    if subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode:
        raise SystemExit("dist: the image could not be built; the output is above")
