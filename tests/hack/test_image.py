"""The image is made without what our processes never import; here that is looked at where all of it is installed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kube.certificates import make_certificates

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
LEFT_OUT = (
    "cel_expr_python.ext",
    "kubernetes.aio",
    "kubernetes.client.api.",
    "kubernetes.client.models.",
    "numpy.f2py",
)

WITHOUT_THEM = """
import sys, importlib.abc
class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith({left_out!r}):
            raise ImportError(name + " is not in the image")
sys.meta_path.insert(0, Without())
import {module}
from kube.client.credentials import load_credentials
print(load_credentials({kubeconfig!r}).tokens.authorization(refresh=False))
"""
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: me, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: PLUGIN, interactiveMode: Never}}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
"""
ANSWER = '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}'


@pytest.mark.parametrize(
    "module", ["controllers.main", "scheduler.main", "webhooks.main", "install.uninstall", "explain.fit_command"]
)
def test_each_process_starts_without_what_the_image_leaves_out(module: str, tmp_path: Path) -> None:
    plugin, kubeconfig = tmp_path / "plugin", tmp_path / "kubeconfig"
    plugin.write_text(f"#!/bin/sh\necho '{ANSWER}'\n")
    plugin.chmod(0o755)
    kubeconfig.write_text(KUBECONFIG.replace("PLUGIN", str(plugin)))
    code = WITHOUT_THEM.format(left_out=LEFT_OUT, module=module, kubeconfig=str(kubeconfig))
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("Bearer t", 0), done.stderr


IN_A_POD = """
import sys
import {module}
from pathlib import Path
from kube.client.credentials import load_credentials
load_credentials(environ={{"KUBERNETES_SERVICE_HOST": "h", "KUBERNETES_SERVICE_PORT": "1"}}, service_account=Path({folder!r}))
print("kubernetes" in sys.modules)
"""


@pytest.mark.parametrize("module", ["scheduler.main", "webhooks.main"])
def test_in_a_pod_nobody_loads_the_reader_of_kubeconfigs(module: str, tmp_path: Path) -> None:
    """A fifth of a second and 15 MiB of every process. The controllers load it all the same, because kopf does."""
    (tmp_path / "token").write_text("t")
    (tmp_path / "ca.crt").write_bytes(make_certificates(tmp_path).ca.read_bytes())
    code = IN_A_POD.format(module=module, folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("False", 0), done.stderr


def test_the_image_leaves_out_those_packages() -> None:
    removed = " ".join(re.findall(r"(?:rm -r|find) ([^&]*)", DOCKERFILE))
    for package in LEFT_OUT:
        assert package.strip(".").replace(".", "/") in removed


def test_the_image_runs_as_a_user_that_is_nobody_else() -> None:
    assert re.search(r"^USER 65532:65532$", DOCKERFILE, re.MULTILINE)


def test_everything_a_process_imports_is_copied_into_the_image() -> None:
    copied = set(re.findall(r"^COPY (\w+) \1$", DOCKERFILE, re.MULTILINE))
    assert copied == {
        "api",
        "config",
        "controllers",
        "explain",
        "install",
        "kube",
        "providers",
        "scheduler",
        "views",
        "webhooks",
    }


def test_what_the_base_image_has_not_compiled_is_compiled_while_the_image_is_made() -> None:
    """The official one compiles nothing, and its containers write nothing: each start would compile the library anew."""
    last_stage = DOCKERFILE.rpartition("\nFROM ")[2]
    (imported,) = re.findall(r'^RUN \["/tutti/bin/python", "-c", "import (.*)"\]$', last_stage, re.MULTILINE)
    modules = set(imported.split(", "))
    assert {"controllers.main", "install.uninstall", "scheduler.main", "webhooks.main"} <= modules
    # Written by root, and before Python is told to write nothing.
    before = last_stage.partition("RUN ")[0]
    assert "PYTHONDONTWRITEBYTECODE" not in before
    assert "USER" not in before


def test_compiled_modules_say_nothing_of_the_time_of_the_build() -> None:
    assert "compileall -q --invalidation-mode unchecked-hash" in DOCKERFILE
