"""One run of a workflow: a namespace with nodes of its own, in which users act, and what is there in the end."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.conformance.conftest import empty
from verify.auditor.end_state import KINDS, State, normalised
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs
from verify.clusters.lws import Sets

LOW, HIGH = "faults-low", "faults-high"
PRIORITIES = {LOW: 10, HIGH: 100}
SETTLE_SECONDS = 120.0


@dataclass(frozen=True)
class World:
    """What users have: Jobs and LeaderWorkerSets in a namespace, nodes.

    Attributes:
        noted: what a workflow remembers of the state in which it began.
    """

    jobs: Jobs
    sets: Sets
    nodes: HollowNodes
    noted: set[str] = field(default_factory=set)

    def state(self) -> State:
        """What is there, but for chance."""
        api, namespace = self.jobs.api, self.jobs.namespace
        return normalised({kind: api.list(kind, namespace) for kind in KINDS})

    def change(self, name: str, **spec: object) -> None:
        """A user changes fields of a Job."""
        self.jobs.api.patch("jobs", name, {"spec": spec}, self.jobs.namespace)

    def delete(self, name: str) -> None:
        """A user deletes a Job."""
        self.jobs.api.delete("jobs", name, self.jobs.namespace)

    def gone(self) -> bool:
        """Whether nothing is left of any Job."""
        left = {
            kind: self.jobs.api.list(kind, self.jobs.namespace) for kind in ("jobs", "pods", "workloads", "podgroups")
        }
        assert not any(left.values()), {kind: len(found) for kind, found in left.items()}
        return True


@contextmanager
def world(control_plane: ControlPlane) -> Iterator[World]:
    """A namespace and nodes that go with the run."""
    api = control_plane.admin
    for name, value in PRIORITIES.items():
        if api.find("priorityclasses", name) is None:
            api.create("priorityclasses", {"metadata": {"name": name}, "value": value})
    namespace = f"faults-{secrets.token_hex(3)}"
    api.create("namespaces", {"metadata": {"name": namespace}})
    nodes = HollowNodes(api, f"node-{secrets.token_hex(3)}")
    try:
        yield World(Jobs(api, namespace), Sets(api, namespace), nodes)
    finally:
        for kind in ("leaderworkersets", "poddisruptionbudgets"):
            for each in api.list(kind, namespace):
                api.delete(kind, each["metadata"]["name"], namespace)
        eventually(lambda: not api.list("statefulsets", namespace), within_seconds=SETTLE_SECONDS)
        empty(control_plane, namespace)
        nodes.remove_all()
        api.delete("namespaces", namespace)
        eventually(lambda: not api.list("podgroups", namespace), within_seconds=SETTLE_SECONDS)
