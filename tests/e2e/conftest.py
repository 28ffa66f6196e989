"""One node and one installation for all tests, and a namespace for each."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e.installation import install, is_installed, wait_until_ready
from tests.e2e.node import FOLDER, NAME, REPOSITORY, Node, running_node
from verify.clusters.eventually import eventually
from verify.clusters.jobs import Jobs

HERE = Path(__file__).parent
EMPTY_SECONDS = 60.0
TAKE_TUTTI_OFF = {"reader", "chart", "uninstaller"}
"""Fixtures of tests that begin or end without it."""

HOLD_GANGS = REPOSITORY / "config/components/hold-gangs/hold-gangs.yaml"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever the order, one installation serves all tests that need one, before those that take it off."""
    items.sort(key=lambda item: item.path.parent == HERE and not TAKE_TUTTI_OFF.isdisjoint(fixtures_of(item)))


def fixtures_of(item: pytest.Item) -> list[str]:
    """The names of the fixtures that a test uses, by others too."""
    return list(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """The node that `make e2e` has started."""
    found = running_node()
    if found is None:
        pytest.skip(f"no node: `make e2e` starts one and names it in {FOLDER}")
    found.offer_slots()
    yield found
    found.api.close()


@pytest.fixture
def tutti(node: Node) -> Node:
    """The node with all of Tutti ready on it, as `config/default` puts it there."""
    if not is_installed(node):
        install(node)
    wait_until_ready(node)
    return node


@pytest.fixture
def namespace(node: Node) -> Iterator[str]:
    """A namespace of the test's own; its pods have left the real node when the next test begins."""
    name = f"e2e-{uuid4().hex[:8]}"
    node.api.create("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    eventually(lambda: node.api.find("serviceaccounts", "default", name), within_seconds=EMPTY_SECONDS)
    yield name
    node.api.delete("namespaces", name)
    node.kubectl(
        "-n", name, "delete", "pods", f"--field-selector=spec.nodeName={NAME}", "--now", "--wait=false", code=None
    )
    eventually(lambda: not on_the_node(node, name), within_seconds=EMPTY_SECONDS)


def on_the_node(node: Node, namespace: str) -> list[str]:
    """The pods that still take room there; those of pretended nodes end with these."""
    pods = node.api.list("pods", namespace)
    return [pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName") == NAME]


@pytest.fixture
def jobs(tutti: Node, namespace: str) -> Jobs:
    """The Jobs of the test's namespace."""
    return Jobs(tutti.api, namespace)


@pytest.fixture
def holding(tutti: Node) -> Iterator[Node]:
    """The node with the policy in force."""
    if "MutatingAdmissionPolicy" not in tutti.kubectl("api-resources", "--api-group=admissionregistration.k8s.io"):
        pytest.skip("this server has no MutatingAdmissionPolicies")
    tutti.kubectl("apply", "-f", str(HOLD_GANGS))
    yield tutti
    tutti.kubectl("delete", "-f", str(HOLD_GANGS))
