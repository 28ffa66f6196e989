"""`python -m hack.dist`: writes the files of a release into dist/.

Two builds of one commit give the same bytes: every time in them is that of the commit, or SOURCE_DATE_EPOCH. The image is built
where the machine can build one, and one line says why not; what it is made from is the base image of that machine.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from hack.dist.archive import chart_archive
from hack.dist.checksums import checksums
from hack.dist.image import archive_name, build_image, obstacle
from hack.dist.install_file import install_yaml
from hack.dist.krew import archive_name as plugin_name
from hack.dist.krew import manifest, plugin_archive
from hack.dist.project import REPOSITORY, version
from hack.dist.sbom import sbom

FOLDER: Final = REPOSITORY / "dist"


def main() -> int:
    """Writes all files, the checksums last; 1 when the image is required and cannot be built."""
    parser = argparse.ArgumentParser(prog="python -m hack.dist", description="Write the files of a release into dist/.")
    parser.add_argument("--require-image", action="store_true", help="fail where the image cannot be built")
    parser.add_argument("--without-image", action="store_true", help="do not build the image, which takes minutes")
    given = parser.parse_args()
    missing = "it was not asked for" if given.without_image else obstacle()
    if missing and given.require_image:
        print(f"dist: the image is required and cannot be built: {missing}", file=sys.stderr)
        return 1
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or _commit_time())
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    _build_packages(epoch)
    (FOLDER / f"tutti-chart-{version()}.tgz").write_bytes(chart_archive(epoch))
    (FOLDER / "install.yaml").write_text(install_yaml(), encoding="utf-8")
    (FOLDER / "sbom.cdx.json").write_text(sbom(epoch), encoding="utf-8")
    if missing:
        print(f"dist: {archive_name()} is left out: {missing}", file=sys.stderr)
    else:
        build_image(epoch, FOLDER / archive_name())
    plugin = plugin_archive(next(FOLDER.glob("tutti-*.whl")), epoch)
    (FOLDER / plugin_name()).write_bytes(plugin)
    (FOLDER / "gang.yaml").write_text(manifest(plugin, f"https://RELEASES/{plugin_name()}"), encoding="utf-8")
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
