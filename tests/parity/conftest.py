"""Fixtures of the parity tests: the two servers, and their answers, each asked for once."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.parity.play import FOREIGN, Answer, Server, missing_files
from tests.parity.record import KUBECTL, answers_of
from tests.parity.scripts import SCRIPTS
from tests.parity.servers import embedded_server, real_server

RECORDED_KUBECTL = ("1", "37")
Answers = Callable[[str], dict[str, Answer]]


@pytest.fixture(scope="session")
def kubectl() -> Path:
    """A kubectl of the recorded version, beside the real server or in PATH: other versions word some things otherwise."""
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    found = Path(assets, "kubectl") if assets else Path(shutil.which("kubectl") or "")
    if not found.is_file():
        pytest.skip("there is no kubectl: neither in KUBEBUILDER_ASSETS nor in PATH")
    if "FAKETIME" in os.environ:
        pytest.skip("kubectl, which is linked statically, has the true time and takes no certificate of another one")
    said = subprocess.run([found, "version", "--client", "-o", "json"], capture_output=True, check=True)
    version = json.loads(said.stdout)["clientVersion"]
    if (version["major"], version["minor"]) != RECORDED_KUBECTL:
        pytest.skip(f"the recording is of kubectl {'.'.join(RECORDED_KUBECTL)}, this is {version['gitVersion']}")
    return found


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The embedded server."""
    with embedded_server(tmp_path_factory.mktemp("embedded")) as server:
        yield server


@pytest.fixture(scope="session")
def real() -> Iterator[Server]:
    """A real server; skips when there is none."""
    assets = Path(os.environ.get("KUBEBUILDER_ASSETS", ""))
    if not (assets / "kube-apiserver").is_file():
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver, etcd and kubectl; see `make conformance`")
    with real_server(assets) as server:
        yield server


def _cached(server: Server, request: pytest.FixtureRequest) -> Answers:
    kept: dict[str, dict[str, Answer]] = {}

    def ask(script: str) -> dict[str, Answer]:
        if script in SCRIPTS and (missing := missing_files(SCRIPTS[script])):
            pytest.skip(f"no {', '.join(missing)} in {FOREIGN}; set TUTTI_SHARED_DATA")
        if script not in kept:
            tool = request.getfixturevalue("kubectl") if script == KUBECTL else None
            kept[script] = answers_of(server, script, tool)
        return kept[script]

    return ask


@pytest.fixture(scope="session")
def embedded_answers(embedded: Server, request: pytest.FixtureRequest) -> Answers:
    """What the embedded server answers to a script."""
    return _cached(embedded, request)


@pytest.fixture(scope="session")
def real_answers(real: Server, request: pytest.FixtureRequest) -> Answers:
    """What the real server answers to a script."""
    return _cached(real, request)
