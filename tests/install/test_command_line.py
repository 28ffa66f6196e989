"""What a person meets at the command line, for all sub-commands."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ["scheduler", "controllers", "webhooks", "run", "uninstall"]
PROCESSES = COMMANDS[:3]


def tutti(*arguments: str, home: Path) -> "subprocess.CompletedProcess[str]":
    """Runs `tutti` as a user without any kubeconfig would."""
    return subprocess.run(
        [sys.executable, str(ROOT / "tutti.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        env={"HOME": str(home), "PATH": ""},
    )


def refusal(*arguments: str, home: Path) -> str:
    """The one line on standard error of a command that ends with exit code 2."""
    done = tutti(*arguments, home=home)
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    return line


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_kubeconfig_is_named(command: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    assert refusal(command, "--kubeconfig", missing, home=tmp_path) == f"error: kubeconfig {missing} does not exist"


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unreachable_server_is_named(command: str, tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        server = f"https://127.0.0.1:{held.getsockname()[1]}"
        file = tmp_path / "kubeconfig"
        file.write_text(json.dumps(kubeconfig(server)))
        assert f"cannot reach {server}: " in refusal(command, "--kubeconfig", str(file), home=tmp_path)


def test_without_any_kubeconfig_it_says_where_it_looked(tmp_path: Path) -> None:
    assert "give --kubeconfig FILE" in refusal("run", home=tmp_path)


@pytest.mark.parametrize("command", [*PROCESSES, "run"])
def test_an_unknown_setting_is_named_with_its_file(command: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("shceduler_name: x\n")
    assert refusal(command, "--config", str(file), home=tmp_path) == f"error: {file}: unknown setting 'shceduler_name'"


@pytest.mark.parametrize("command", [*PROCESSES, "run"])
def test_where_records_are_for_collectors_a_refusal_is_one_too(command: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("shceduler_name: x\n")
    for wrong in (("--config", str(file)), ("--kubeconfig", str(tmp_path / "none"))):
        done = tutti(command, "--log-format=json", *wrong, home=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        (record,) = map(json.loads, done.stderr.splitlines())
        assert (record["level"], record["component"]) == ("ERROR", command)
        assert str(tmp_path) in record["message"]


def test_a_wrong_command_is_a_usage_error(tmp_path: Path) -> None:
    done = tutti("fly", home=tmp_path)
    assert done.returncode == 2
    assert "invalid choice: 'fly'" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, tmp_path: Path) -> None:
    done = tutti(command, "--help", home=tmp_path)
    assert done.returncode == 0
    assert "--kubeconfig FILE" in done.stdout


def test_help_needs_none_of_the_components() -> None:
    code = "import sys, tutti; tutti.parser().format_help(); print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    heavy = {"numpy", "aiohttp", "kopf", "kubernetes", "pydantic", "scheduler", "controllers", "webhooks", "install"}
    assert not heavy & set(done.stdout.split())


def kubeconfig(server: str) -> dict[str, object]:
    """A kubeconfig for a server."""
    return {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }


def test_what_a_component_is_loaded_with_is_never_searched_for_garbage() -> None:
    code = """
import gc
import tutti
with tutti.loading():
    assert not gc.isenabled()
    import kube.client.client
assert gc.isenabled()
print(gc.get_freeze_count() > len(gc.get_objects()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
