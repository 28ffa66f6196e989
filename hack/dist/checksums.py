"""Digests of the files of a release, as `sha256sum --check` reads them."""

import hashlib
from pathlib import Path


def checksums(folder: Path) -> str:
    """A line for every file of the folder, by name."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
