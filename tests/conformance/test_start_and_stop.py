"""How `tutti run` begins and ends: one clear line when it cannot start, no trace of a dead address when it stops."""

import json
import socket
from pathlib import Path

import pytest

from verify.clusters.cluster_files import NOBODY
from verify.clusters.controlplane import ControlPlane, Ran
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, plain_job
from verify.clusters.tutti_process import Tutti, run_tutti

COMMANDS = ["run", "controllers", "webhooks", "scheduler", "uninstall"]
CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


def configurations_of_tutti(control_plane: ControlPlane) -> list[str]:
    """The names of all webhook configurations but those of the controllers that run beside Tutti."""
    names = [each["metadata"]["name"] for kind in CONFIGURATIONS for each in control_plane.admin.list(kind)]
    return [name for name in names if not name.startswith(("lws-", "jobset-"))]


def refused(done: Ran) -> str:
    """The one line on stderr of a command that could not start."""
    told = f"exit code {done.code}\n{done.out}\n{done.err}"
    assert done.code == 2, told
    assert len(done.err.strip().splitlines()) == 1, told
    assert "Traceback" not in done.err
    return done.err


def flags(command: str) -> list[str]:
    return ["--listen", "127.0.0.1:0"] if command == "webhooks" else []


@pytest.mark.one_api
@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_kubeconfig_is_named(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "no-such.kubeconfig"
    told = refused(run_tutti(command, *flags(command), "--kubeconfig", str(missing), folder=tmp_path))
    assert "no-such.kubeconfig" in told


@pytest.mark.one_api
@pytest.mark.parametrize("command", COMMANDS)
def test_an_unreachable_server_is_named(command: str, tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        server = f"https://127.0.0.1:{held.getsockname()[1]}"
        kubeconfig = tmp_path / "kubeconfig"
        user = {"name": "u", "user": {"token": "t"}}
        cluster = {"name": "c", "cluster": {"server": server, "insecure-skip-tls-verify": True}}
        context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
        kubeconfig.write_text(
            json.dumps({"current-context": "x", "contexts": [context], "clusters": [cluster], "users": [user]})
        )
        told = refused(run_tutti(command, *flags(command), "--kubeconfig", str(kubeconfig), folder=tmp_path))
    assert server in told


@pytest.mark.parametrize("command", COMMANDS)
def test_missing_rights_are_named_with_verb_and_resource(
    control_plane: ControlPlane, tutti: Tutti, command: str, tmp_path: Path
) -> None:
    kubeconfig = str(control_plane.kubeconfig_of(NOBODY))
    told = refused(run_tutti(command, *flags(command), "--kubeconfig", kubeconfig, folder=tmp_path))
    assert any(verb in told for verb in ("get", "list", "watch", "create", "patch", "update", "delete")), told


@pytest.mark.one_api
def test_without_any_kubeconfig_there_is_one_line_too(tmp_path: Path) -> None:
    refused(run_tutti("run", folder=tmp_path))


def test_sigterm_ends_it_cleanly_and_leaves_no_webhook_configuration(
    control_plane: ControlPlane, tutti: Tutti, jobs: Jobs, nodes: HollowNodes
) -> None:
    nodes.add()
    assert tutti.stop() == 0
    assert configurations_of_tutti(control_plane) == []
    jobs.create(plain_job("later", 2, run_seconds=0.1))
    eventually(lambda: jobs.succeeded("later"), within_seconds=20)


def test_it_starts_again_where_it_stopped(tutti: Tutti) -> None:
    assert tutti.stop() == 0
    tutti.ensure_running()


@pytest.mark.one_api
def test_a_sigterm_while_it_starts_ends_it_too(control_plane: ControlPlane, tutti: Tutti) -> None:
    tutti.stop()
    tutti.server.start()
    eventually(tutti.children, within_seconds=30)
    assert tutti.stop() == 0
    assert configurations_of_tutti(control_plane) == []
