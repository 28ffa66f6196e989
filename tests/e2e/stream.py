"""A steady stream of small gangs that are really stored, run by a node whose containers are only pretended.

So many real containers a second are more than one machine starts; everything before a kubelet is real.
"""

import datetime
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from urllib3.exceptions import HTTPError

from localcluster.shapes import HOLLOW_LABEL, NodeShape, node_manifest
from tests.e2e.node import REPOSITORY, Node
from verify.clusters.client import ApiError
from verify.clusters.eventually import eventually
from verify.clusters.jobs import indexed_job, is_gang
from verify.clusters.server import Server

Object = dict[str, Any]

CLIENTS = 16
WORKERS = 2
RUN_SECONDS = 0.5
HOLLOW_NODES = 4
START_SECONDS = 30.0
KEEP_AWAY = {"key": "e2e.example/hollow", "effect": "NoSchedule"}
"""Keeps real pods, ours among them, off the pretended nodes."""


@contextmanager
def hollow_nodes(node: Node) -> Iterator[None]:
    """Pretended nodes beside the real one. Nobody renews their leases, so whoever runs there tolerates all taints."""
    kubelet = Server(
        "hollow kubelet",
        [sys.executable, "-m", "localcluster.nodes", "--kubeconfig", str(node.kubeconfig), "--nodes=0"],
        log=node.folder / "log" / "hollow-kubelet.log",
        environment={"PYTHONPATH": str(REPOSITORY)},
    )
    names = [f"hollow-{number}" for number in range(HOLLOW_NODES)]
    shape = NodeShape({"cpu": "1000", "memory": "1000Gi", "pods": "1000"}, taints=(KEEP_AWAY,))
    kubelet.start()
    try:
        eventually(lambda: "hollow nodes ready" in kubelet.last_log_lines(), within_seconds=START_SECONDS)
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for name in names:
            node.api.create("nodes", node_manifest(name, shape, now=now))
        yield
    finally:
        for name in names:
            node.api.delete("nodes", name)
        kubelet.kill()


def small_gang(name: str, *, run_seconds: float) -> Object:
    """A gang that runs on the pretended nodes."""
    job = indexed_job(name, WORKERS, cpu="100m", run_seconds=run_seconds)
    job["spec"]["template"]["spec"] |= {
        "nodeSelector": {HOLLOW_LABEL: "true"},
        "tolerations": [{"operator": "Exists"}],
    }
    return job


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one creation; `at` in seconds since the stream began."""

    name: str
    at: float
    took_seconds: float
    outcome: str


class Stream:
    """Creates so many gangs a second while the block runs; afterwards `made` says what became of each."""

    def __init__(self, node: Node, namespace: str, *, per_second: float, run_seconds: float = RUN_SECONDS) -> None:
        self._api = node.api
        self._run_seconds = run_seconds
        self._namespace = namespace
        self._pause = 1 / per_second
        self._stop = threading.Event()
        self._guard = threading.Lock()
        self._next = 0
        self._pool = ThreadPoolExecutor(CLIENTS)
        self.began = 0.0
        self.made: list[Made] = []

    def __enter__(self) -> "Stream":
        self.began = time.monotonic()
        for _ in range(CLIENTS):
            self._pool.submit(self._create_all)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._pool.shutdown()
        self.made.sort(key=lambda one: one.at)

    def having(self, outcome: str) -> list[Made]:
        """Those with this outcome: `gang`, `plain`, or what begins with `refused`."""
        return [one for one in self.made if one.outcome.startswith(outcome)]

    @property
    def rate(self) -> float:
        """Creations a second."""
        return len(self.made) / (self.made[-1].at - self.made[0].at)

    def _create_all(self) -> None:
        while True:
            with self._guard:
                number, self._next = self._next, self._next + 1
            if self._stop.wait(max(0.0, self.began + number * self._pause - time.monotonic())):
                return
            begin = time.monotonic()
            outcome = self._create(f"stream-{number}")
            ended = time.monotonic()
            with self._guard:
                self.made.append(Made(f"stream-{number}", begin - self.began, ended - begin, outcome))

    def _create(self, name: str) -> str:
        try:
            job = self._api.create("jobs", small_gang(name, run_seconds=self._run_seconds), self._namespace)
        except (ApiError, HTTPError) as error:
            return f"refused: {error}"
        return "gang" if is_gang(job) else "plain"
