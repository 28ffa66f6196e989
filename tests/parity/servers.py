"""The two servers to compare: the embedded one, and a real one without the controllers that would change objects."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.parity.play import REPOSITORY, Server
from tests.parity.steps import ADMIN, NOBODY
from verify.clusters import cluster_files as files
from verify.clusters.real import RealControlPlane

START_SECONDS = 30
OUR_DEFINITIONS = [each for each in sorted((REPOSITORY / "config/crd").glob("*.yaml")) if each.stem != "kustomization"]
"""There from the start: what a script is answered must not depend on which scripts came before it."""

TOKENS = {user: files.token_of(user) for user in (ADMIN, NOBODY)}


@contextmanager
def real_server(assets: Path) -> Iterator[Server]:
    """A kube-apiserver with etcd; its controller manager is gone once the default service account is there."""
    with RealControlPlane(group_api="own", assets=assets, stock_scheduler=False) as plane:
        plane.controller_manager.kill()
        server = Server(plane.url, plane.ca, TOKENS, plane.kubeconfig)
        try:
            server.define(OUR_DEFINITIONS)
            yield server
        finally:
            server.close()


@contextmanager
def embedded_server(folder: Path) -> Iterator[Server]:
    """The embedded API server in a process of its own."""
    url, process = start_embedded(folder)
    kubeconfig = folder / "parity.kubeconfig"
    files.write_kubeconfig(kubeconfig, server=url, ca=folder / "ca.crt", user=ADMIN)
    server = Server(url, folder / "ca.crt", TOKENS, kubeconfig)
    try:
        server.define(OUR_DEFINITIONS)
        yield server
    finally:
        server.close()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(START_SECONDS)
        finally:
            process.kill()
            process.wait()


def start_embedded(folder: Path) -> tuple[str, "subprocess.Popen[str]"]:
    """Starts it; its URL and its process. AssertionError when it does not start."""
    command = [sys.executable, "-m", "localcluster.apiserver", "--folder", str(folder), "--tokens"]
    command.append(str(files.write_tokens(folder / "users.csv")))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with (folder / "apiserver.log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("https://"), (url, (folder / "apiserver.log").read_text()[-2000:])
    process.stdout.close()
    return url, process
