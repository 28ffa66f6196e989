"""The kubectl plugin for krew: an archive with the wheel and the program that installs it, and the manifest that names it."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path
from typing import Any, Final

import yaml

from hack.dist.project import REPOSITORY, version

PROGRAM: Final = "kubectl-gang"
_LAUNCHER: Final = REPOSITORY / "hack" / "krew" / PROGRAM
_SYSTEMS: Final = ("linux", "darwin")
_DESCRIPTION: Final = """\
Lists gangs (pods that start together or not at all) with what they wait for and their place in the queue, shows what belongs
together as a tree, follows both live, and says what would help a gang that waits.
"""


def archive_name() -> str:
    """Of the archive of this release."""
    return f"{PROGRAM}-{version()}.tar.gz"


def plugin_archive(wheel: Path, epoch: int) -> bytes:
    """The archive: always the same bytes for the same wheel, all of that time."""
    files = {
        PROGRAM: (_LAUNCHER.read_bytes(), 0o755),
        "LICENSE": ((REPOSITORY / "LICENSE").read_bytes(), 0o644),
        wheel.name: (wheel.read_bytes(), 0o644),
    }
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), epoch, mode
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=epoch)


def manifest(archive: bytes, address: str) -> str:
    """The manifest for krew.

    Args:
        archive: as `plugin_archive` made it.
        address: from where people get it.
    """
    platforms: list[dict[str, Any]] = [
        {
            "selector": {"matchLabels": {"os": system}},
            "uri": address,
            "sha256": hashlib.sha256(archive).hexdigest(),
            "bin": PROGRAM,
            "files": [{"from": "*", "to": "."}],
        }
        for system in _SYSTEMS
    ]
    body = {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "gang"},
        "spec": {
            "version": f"v{version()}",
            "shortDescription": "See gangs of pods and what they wait for",
            "description": _DESCRIPTION,
            "caveats": "It needs Python 3.11 or newer, and installs itself into a folder of its own at the first call.\n",
            "platforms": platforms,
        },
    }
    return yaml.safe_dump(body, sort_keys=False)
