"""`python -m hack.dist`: writes the files of a release into dist/. The image is built from the Dockerfile and is not among them.

Two builds of one commit give the same bytes: every time in them is that of the commit, or SOURCE_DATE_EPOCH.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from hack.dist.archive import chart_archive
from hack.dist.checksums import checksums
from hack.dist.install_file import install_yaml
from hack.dist.krew import archive_name, manifest, plugin_archive
from hack.dist.project import REPOSITORY, version
from hack.dist.sbom import sbom

FOLDER: Final = REPOSITORY / "dist"


def main() -> int:
    """Writes all files, the checksums last."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or _commit_time())
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    _build_packages(epoch)
    (FOLDER / f"tutti-chart-{version()}.tgz").write_bytes(chart_archive(epoch))
    (FOLDER / "install.yaml").write_text(install_yaml(), encoding="utf-8")
    (FOLDER / "sbom.cdx.json").write_text(sbom(epoch), encoding="utf-8")
    plugin = plugin_archive(next(FOLDER.glob("tutti-*.whl")), epoch)
    (FOLDER / archive_name()).write_bytes(plugin)
    (FOLDER / "gang.yaml").write_text(manifest(plugin, f"https://RELEASES/{archive_name()}"), encoding="utf-8")
    (FOLDER / "SHA256SUMS").write_text(checksums(FOLDER), encoding="utf-8")
    print((FOLDER / "SHA256SUMS").read_text(encoding="utf-8"), end="")
    return 0


def _commit_time() -> str:
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()


def _build_packages(epoch: int) -> None:
    """Wheel and source archive, by the builder that pyproject.toml names, in the version that was tried."""
    with tempfile.TemporaryDirectory(prefix="dist-") as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder]
        subprocess.run([*pip, "--constraint", REPOSITORY / "hack" / "constraints.txt", "hatchling"], check=True)
        environment = {**os.environ, "PYTHONPATH": str(Path(folder)), "SOURCE_DATE_EPOCH": str(epoch)}
        build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--target", "sdist"]
        subprocess.run([*build, "--directory", FOLDER], cwd=REPOSITORY, env=environment, check=True, stdout=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
