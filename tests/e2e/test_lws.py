"""LeaderWorkerSets with real containers. Their controller is the stand-in of the local cluster, among the node's processes."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.containers import container, state
from tests.e2e.node import REPOSITORY, SLOTS, Node
from verify.clusters.eventually import eventually, throughout
from verify.clusters.lws import Sets, is_followed, is_served
from verify.clusters.server import Server

SERVED_SECONDS = 60.0
RUN_SECONDS = 60.0
SERVES = "trap 'exit 0' TERM; while :; do sleep 0.2; done"


@pytest.fixture(scope="module")
def lws_controller(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The stand-in, where the API server reaches its webhooks by 127.0.0.1."""
    command = [str(REPOSITORY / "hack/node/enter"), str(node.folder), "env", f"PYTHONPATH={REPOSITORY}", sys.executable]
    command += ["-m", "localcluster.controllers", "--only", "leaderworkerset", "--kubeconfig", str(node.kubeconfig)]
    log: Path = tmp_path_factory.mktemp("lws") / "leaderworkerset.log"
    server = Server("LeaderWorkerSet controller", command, log=log)
    server.start()
    yield server
    os.killpg(server.pid, signal.SIGTERM)
    server.wait(within_seconds=20)


@pytest.fixture
def sets(tutti: Node, namespace: str, lws_controller: Server) -> Sets:
    """The LeaderWorkerSets of the test's namespace, in a cluster that has the kind."""

    def served() -> bool:
        lws_controller.require_running()
        return is_served(tutti.api)

    eventually(served, within_seconds=SERVED_SECONDS, poll_seconds=0.5)
    eventually(lambda: is_followed(tutti.api), within_seconds=SERVED_SECONDS, poll_seconds=0.5)
    return Sets(tutti.api, namespace)


def serving(name: str, *, replicas: int, size: int) -> dict[str, object]:
    """A LeaderWorkerSet of containers that run until they are asked to end."""
    pods = {"spec": {"terminationGracePeriodSeconds": 5, "containers": [container(SERVES)]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {"size": size, "workerTemplate": pods}},
    }


def running(sets: Sets, name: str) -> int:
    """How many of its containers run."""
    return sum("running" in state(pod) for pod in sets.pods(name))


def test_each_replica_starts_whole_and_the_set_becomes_available(sets: Sets) -> None:
    sets.create(serving("serve", replicas=2, size=SLOTS // 2))
    eventually(lambda: running(sets, "serve") == SLOTS, within_seconds=RUN_SECONDS)
    eventually(lambda: sets.available("serve") and sets.sound("serve"), within_seconds=RUN_SECONDS)
    assert len(sets.groups("serve")) == 2
    sets.remove("serve")


def test_a_replica_without_room_for_all_of_it_waits_whole(sets: Sets) -> None:
    sets.create(serving("serve", replicas=2, size=1 + SLOTS // 2))
    eventually(lambda: running(sets, "serve") == 1 + SLOTS // 2, within_seconds=RUN_SECONDS)
    waiting = 1 if sets.whole("serve", 0) else 0
    eventually(lambda: sets.waits("serve", waiting), within_seconds=RUN_SECONDS)
    throughout(lambda: sets.bound("serve", waiting) == 0, seconds=2)
    sets.remove("serve")


def test_a_replica_whose_container_dies_is_made_again_as_a_new_gang(sets: Sets, tutti: Node) -> None:
    sets.create(serving("serve", replicas=1, size=2))
    eventually(lambda: sets.available("serve"), within_seconds=RUN_SECONDS)
    before = sets.group("serve")["metadata"]["uid"]
    tutti.kubectl("-n", sets.namespace, "delete", "pod", "serve-0", "--wait=false")
    eventually(
        lambda: sets.groups("serve") and sets.group("serve")["metadata"]["uid"] != before, within_seconds=RUN_SECONDS
    )
    eventually(lambda: running(sets, "serve") == 2 and sets.sound("serve"), within_seconds=RUN_SECONDS)
    sets.remove("serve")
