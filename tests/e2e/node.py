"""The node that the tests run on, as they see it: an API, kubectl, and commands inside it."""

import base64
import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from verify.clusters.client import Api

Object = dict[str, Any]

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = "TUTTI_E2E_NODE"
"""The environment's name for the folder of a running node."""

NAME = "node"
"""Of the node, in its own cluster."""
SYSTEM = "tutti-system"
SLOT = "e2e.example/slot"
"""What the tests' containers ask for, so that the room they find does not depend on the machine."""
SLOTS = 4

KUBECTL_SECONDS = 90.0
SHELL_SECONDS = 300.0
IMAGE = "docker.io/library/tutti:0.1.0"
"""What `hack/node/image` has given to the node."""
ADMINISTRATOR = "e2e"


class Node:
    """A running node of `hack/node`.

    Attributes:
        folder: holds its kubeconfig, its programs and its logs.
        api: the API as an administrator of the cluster sees it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.api = self._administrator()

    def kubectl(self, *arguments: str, stdin: str | None = None, code: int | None = 0) -> str:
        """Runs kubectl and gives its output; AssertionError when the exit code is another one than `code` (None: any)."""
        done = self.run(
            str(self.folder / "bin" / "kubectl"), "--kubeconfig", str(self.kubeconfig), *arguments, stdin=stdin
        )
        told = f"kubectl {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        assert code is None or done.returncode == code, told
        return done.stdout + done.stderr

    def inside(self, *command: str) -> str:
        """Runs a command among the node's own processes and gives its output."""
        done = self.run(str(REPOSITORY / "hack/node/enter"), str(self.folder), *command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def shell(self, command: str, *, folder: Path, code: int = 0, path: Iterable[Path] = ()) -> str:
        """Runs a command as a person types it who has kubectl, and these folders, in the PATH; its output."""
        folders = [str(self.folder / "bin"), *map(str, path), os.environ["PATH"]]
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig), "PATH": os.pathsep.join(folders)}
        done = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            timeout=SHELL_SECONDS,
            check=False,
            cwd=folder,
            env=environment,
        )
        assert done.returncode == code, f"$ {command}\nexit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def run(self, *command: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        """Runs a command of this machine."""
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=KUBECTL_SECONDS, check=False, cwd=REPOSITORY
        )

    def processes(self, command: str = "") -> list[str]:
        """Our processes in containers that were started with this sub-command, by their ids inside the node."""
        own = '[ "$(cat $each/comm 2> /dev/null)" = tutti ] && tr "\\0" " " < $each/cmdline | grep -q -- "$0"'
        return self.inside(
            "sh", "-c", f'for each in /proc/[0-9]*; do {own} && echo "${{each#/proc/}}"; done; true', f"tutti {command}"
        ).split()

    def offer_slots(self, count: int = SLOTS) -> None:
        """Gives the node so many slots, a resource of nobody's but ours."""
        path = f"/api/v1/nodes/{NAME}/status"
        self.api.request("PATCH", path, {"status": {"capacity": {SLOT: str(count)}}}, kind="merge")

    def publish(self, name: str) -> None:
        """Gives the node the image under this name, as if it came from a registry."""
        self.inside("ctr", "--namespace", "k8s.io", "images", "tag", "--force", IMAGE, name)

    def _administrator(self) -> Api:
        found = json.loads(self.kubeconfig.read_text())
        cluster = found["clusters"][0]["cluster"]
        authority = self.folder / "e2e-ca.crt"
        authority.write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        if "NotFound" in self.kubectl("-n", "kube-system", "get", "serviceaccount", ADMINISTRATOR, code=None):
            self.kubectl("-n", "kube-system", "create", "serviceaccount", ADMINISTRATOR)
            account = f"--serviceaccount=kube-system:{ADMINISTRATOR}"
            self.kubectl("create", "clusterrolebinding", ADMINISTRATOR, "--clusterrole=cluster-admin", account)
        token = self.kubectl("-n", "kube-system", "create", "token", ADMINISTRATOR, "--duration=8h").strip()
        return Api(cluster["server"], token=token, ca=authority, group_api="own", agent="e2e")


def running_node() -> Node | None:
    """The node that the environment names, None when it names none."""
    folder = os.environ.get(FOLDER)
    return Node(Path(folder)) if folder else None
