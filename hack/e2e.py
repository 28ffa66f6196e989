"""Runs tests/e2e: builds the image, starts the node of hack/node, installs Tutti on it as people do, and judges real containers.

A machine that cannot run such a node is told so in one line, and the exit code is 0: nothing was found to be wrong. With
`--require` it is 1. Otherwise the exit code is that of the tests.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
NODE = REPOSITORY / "hack" / "node"
IMAGE = "tutti:0.1.0"
BASE = "python:3.11-slim-bookworm"
FOLDER = "TUTTI_E2E_NODE"
SHOWN_LOG_LINES = 15


def main() -> int:
    arguments = parse_arguments(sys.argv[1:])
    missing = obstacle()
    if missing:
        print(f"e2e: skipped: {missing}")
        return 1 if arguments.require else 0
    begin = time.monotonic()
    run(NODE / "image", REPOSITORY, IMAGE)
    print(f"image: {sizes()}, {time.monotonic() - begin:.0f} s", flush=True)
    with running_node(arguments.keep) as folder:
        print(f"node: ready in {folder} after {time.monotonic() - begin:.0f} s", flush=True)
        command = [sys.executable, "-m", "pytest", *(arguments.pytest or ["tests/e2e", "--durations=5"])]
        code = subprocess.run(command, cwd=REPOSITORY, env={**os.environ, FOLDER: str(folder)}, check=False).returncode
        if code:
            show_logs(folder)
    print(f"{time.monotonic() - begin:.0f} s in all")
    return code


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the tests with real containers.")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="the node's folder; it goes on running afterwards")
    parser.add_argument("--require", action="store_true", help="fail where the machine cannot run a node")
    parser.add_argument("pytest", nargs="*", metavar="PYTEST_ARGUMENT", help="after --: handed on, such as -k rollout")
    return parser.parse_args(arguments)


def obstacle() -> str:
    """What this machine lacks for a node, in a few words; empty when it has all."""
    if not sys.platform.startswith("linux"):
        return "a node needs Linux"
    if os.geteuid() != 0:
        return "a node needs root"
    if shutil.which("apt-get") is None:
        return "a node needs Debian's apt"
    if shutil.which("go") is None:
        return "a node needs Go to be built"
    if not any(line.split(":")[1] == "memory" for line in Path("/proc/self/cgroup").read_text().splitlines()):
        return "a node needs the memory hierarchy of cgroup v1"
    return "" if can_mount_overlays() else "a node needs overlayfs and namespaces of its own"


def can_mount_overlays() -> bool:
    """Whether an overlay can be mounted in a mount namespace of one's own."""
    with tempfile.TemporaryDirectory(prefix="tutti-e2e-") as folder:
        for name in ("lower", "upper", "work", "merged"):
            (Path(folder) / name).mkdir()
        mount = "mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged"
        command = ["unshare", "--mount", "--net", "--pid", "--cgroup", "--uts", "--ipc", "--fork", "sh", "-c", mount]
        try:
            return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            return False


def sizes() -> str:
    """The size of the image and what of it is ours."""
    image, base = megabytes(IMAGE), megabytes(BASE)
    return f"{image:.0f} MB, {image - base:.0f} MB over its base"


def megabytes(image: str) -> float:
    """The size of an image that the node's scripts keep."""
    told = run("bash", "-c", '. "$0"; store images --json "$1"', NODE / "lib.sh", image)
    number, unit = str(json.loads(told)[0]["size"]).split()
    return float(number) * {"KB": 0.001, "MB": 1.0, "GB": 1000.0}[unit]


@contextmanager
def running_node(keep: Path | None) -> Iterator[Path]:
    """A node, which ends with the block unless it is to be kept."""
    folder = keep or Path(tempfile.mkdtemp(prefix="tutti-node-"))
    try:
        run(NODE / "up", folder)
        if keep is not None:
            # One that has been running may have been given another image before.
            run(NODE / "image", REPOSITORY, IMAGE, folder)
        yield folder
    finally:
        if keep is None:
            run(NODE / "down", folder)
            shutil.rmtree(folder, ignore_errors=True)


def show_logs(folder: Path) -> None:
    """The end of what our processes said, for whoever looks into a failure."""
    kubectl = [str(folder / "bin" / "kubectl"), "--kubeconfig", str(folder / "kubeconfig")]
    told = [*kubectl, "-n", "tutti-system", "logs", "-l", "app.kubernetes.io/name=tutti", "--prefix"]
    subprocess.run([*told, f"--tail={SHOWN_LOG_LINES}"], check=False)
    subprocess.run([*kubectl, "get", "pods", "-A", "-o", "wide"], check=False)


def run(*command: str | Path) -> str:
    """Runs a command of the node; its output, and an end of all when it fails."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"e2e: {Path(command[0]).name} failed; its output is above")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
