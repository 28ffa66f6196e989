"""The commands of docs/install.md and docs/operations.md, each as it is written, typed on a cluster that knows nothing of Tutti.

A node has no registry: the image is on it under the name that `docker push` would have given it, and `docker` is not called.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hack.dist.install_file import install_yaml
from tests.docs.markdown import DOCS, commands, section
from tests.e2e.containers import running
from tests.e2e.installation import is_installed, remove
from tests.e2e.node import REPOSITORY, SYSTEM, Node
from tests.programs import tool
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Jobs, is_gang

REGISTRY = "registry.example/batch"
BY_REGISTRY = ("docker ", "sha256sum ", "make ")
"""What is done before there is something to install."""

RUN_SECONDS = 90.0
SAMPLES = {"gang": 4, "gang-that-waits": 0}
INSTALL = (DOCS / "install.md").read_text(encoding="utf-8")
OPERATIONS = (DOCS / "operations.md").read_text(encoding="utf-8")
FROM_OUTSIDE = ".venv/bin/tutti uninstall --kubeconfig FILE"


@pytest.fixture
def reader(node: Node, tmp_path: Path) -> Iterator["Reader"]:
    """Somebody with a checkout of the source, on a cluster without Tutti; nothing of his is left."""
    if is_installed(node):
        remove(node)
    node.publish(f"{REGISTRY}/tutti:0.1.0")
    for name in ("config", "charts"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(REPOSITORY / ".venv")
    yield Reader(node, tmp_path)
    for name in SAMPLES:
        node.kubectl("delete", "job", name, "--ignore-not-found")
    if is_installed(node):
        remove(node)


class Reader:
    """Types what a document says."""

    def __init__(self, node: Node, folder: Path) -> None:
        self.node = node
        self.folder = folder
        self._jobs = Jobs(node.api, "default")

    def types(self, command: str, *, code: int = 0, folder: Path | None = None) -> str:
        """One command, with his own names in it."""
        own = command.replace("REGISTRY", REGISTRY).replace("FILE", str(self.node.kubeconfig))
        return self.node.shell(own, folder=folder or self.folder, code=code, path=[tool("helm", "helm").parent])

    def follows(self, text: str, heading: str, *, folder: Path | None = None) -> list[str]:
        """All commands below a heading, but those that need a registry; what each of them said."""
        typed = [each for each in commands(section(text, heading)) if not each.startswith(BY_REGISTRY)]
        assert typed, heading
        return [self.types(each, folder=folder) for each in typed]

    def sees_that_it_works(self) -> None:
        """The section of that name; and what it promises is so."""
        *_, described = self.follows(INSTALL, "See that it works")
        assert "tutti.scheduler" in described
        assert is_gang(self._jobs.get("gang")), described
        eventually(lambda: running(self._jobs, "gang") == SAMPLES["gang"], within_seconds=RUN_SECONDS)
        self.types("kubectl apply -f config/samples/waiting-job.yaml")
        eventually(lambda: "cpu" in self.types("kubectl describe job gang-that-waits"), within_seconds=RUN_SECONDS)
        assert all(not pod["spec"].get("nodeName") for pod in self._jobs.pods("gang-that-waits"))

    def finds_nothing_of_it(self) -> None:
        """Nothing is left; the Job that waited for room is nobody's prisoner."""
        kinds = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations", "customresourcedefinitions")
        for kind in (*kinds, "clusterroles", "clusterrolebindings", "validatingadmissionpolicies"):
            assert [each for each in self.node.api.list(kind) if "tutti" in each["metadata"]["name"]] == [], kind
        assert not self._jobs.get("gang-that-waits")["spec"].get("suspend")


def in_the_cluster() -> list[str]:
    """The commands by which a Job takes Tutti off."""
    found = [each for each in commands(section(OPERATIONS, "Uninstall")) if each != FROM_OUTSIDE]
    assert len(found) == 4
    return found


def test_by_kustomize_and_away_by_a_job_in_the_cluster(reader: Reader) -> None:
    reader.follows(INSTALL, "kustomize")
    reader.sees_that_it_works()
    said = [reader.types(each) for each in in_the_cluster()]
    assert "Tutti is uninstalled" in said[2]
    assert reader.node.api.find("namespaces", SYSTEM) is None
    reader.finds_nothing_of_it()


def test_by_helm_and_away_from_outside(reader: Reader) -> None:
    reader.follows(INSTALL, "Helm")
    reader.sees_that_it_works()
    assert FROM_OUTSIDE in commands(section(OPERATIONS, "Uninstall"))
    assert SYSTEM in reader.types(FROM_OUTSIDE, code=1)
    reader.types(f"helm uninstall tutti --namespace {SYSTEM}")
    reader.finds_nothing_of_it()
    reader.types(FROM_OUTSIDE)
    assert reader.node.api.find("namespaces", SYSTEM) is None


def test_from_one_file_where_no_network_is(reader: Reader) -> None:
    carried = reader.folder / "dist"
    carried.mkdir()
    (carried / "install.yaml").write_text(install_yaml(), encoding="utf-8")
    reader.follows(INSTALL, "Air-gapped", folder=carried)
    reader.types("kubectl -n tutti-system rollout status deployment --timeout=2m")
    reader.sees_that_it_works()
    reader.types(FROM_OUTSIDE)
    reader.finds_nothing_of_it()
