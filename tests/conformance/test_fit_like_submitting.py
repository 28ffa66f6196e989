"""`tutti fit` says yes exactly of what is bound when it is submitted, on the same nodes, in others' place if so; it writes nothing.

A batch of cases is asked about at once and then submitted at once. `fit` meets nodes in the order of their names, as a scheduler
does that has just started: so the scheduler is started anew, and nodes come and go in an order that keeps this so.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest

from tests.conformance.fit_cases import PRIORITIES, Case, gang, generated, resident_jobs, resident_pods
from tests.conformance.test_preemption import Classes, classes
from verify.auditor.audit_log import AuditLog
from verify.auditor.identities import PROBES, READS
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually, throughout
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import CONDITION, Jobs, Object, condition
from verify.clusters.tutti_process import Tutti, run_tutti

__all__ = ["classes"]

pytestmark = pytest.mark.one_api
AGENT = "tutti-explain"
OWN_AGENT = "conformance"
QUICK = 15
CASES = 200
BATCH = 20
STARTS_SECONDS = 90
FIT_SECONDS = 300
QUIET_SECONDS = 1.0


@dataclass
class Told:
    """What became of the cases, or is said to."""

    nodes: dict[str, Counter[str]] = field(default_factory=dict)
    """Pods by node, of those that start."""
    left: dict[str, set[str]] = field(default_factory=dict)
    """Who leaves, as KIND/NAME; no entry where nobody does."""


@pytest.fixture
def in_order(tutti: Tutti) -> Tutti:
    """A scheduler that has met no node yet."""
    tutti.stop()
    tutti.ensure_running()
    return tutti


class Batch:
    """Some cases on one cluster."""

    def __init__(self, control_plane: ControlPlane, jobs: Jobs, classes: dict[int, str], seeds: Sequence[int]) -> None:
        self._control_plane, self._jobs, self._api, self._classes = control_plane, jobs, jobs.api, classes
        self.cases: list[Case] = [generated(seed) for seed in seeds]
        self._nodes: list[HollowNodes] = []
        self._residents: dict[str, dict[str, set[str]]] = {}
        """By case, KIND/NAME and the UIDs of its pods."""

    def set_up(self) -> None:
        for case in self.cases:
            nodes = HollowNodes(self._api, f"{self._jobs.namespace}-{case.name}")
            self._nodes.append(nodes)
            names = [nodes.add(**node)[0] for node in case.nodes]
            for pod in resident_pods(case, names, self._classes):
                self._api.create("pods", pod, self._jobs.namespace)
            for job in resident_jobs(case, names, self._classes):
                self._jobs.create(job)
        for case in self.cases:
            for one in case.residents:
                eventually(partial(self._runs, one.name, one.size), within_seconds=STARTS_SECONDS)
                pods = self._pods(one.name, one.size)
                shown = f"{'job' if one.size else 'pod'}/{one.name}"
                self._residents.setdefault(case.name, {})[shown] = {pod["metadata"]["uid"] for pod in pods}

    def _pods(self, name: str, size: int) -> list[Object]:
        if size:
            return self._jobs.pods(name)
        pod = self._api.find("pods", name, self._jobs.namespace)
        return [pod] if pod is not None else []

    def _runs(self, name: str, size: int) -> bool:
        pods = self._pods(name, size)
        return len(pods) == max(size, 1) and all(pod["status"].get("phase") == "Running" for pod in pods)

    def asked(self) -> Told:
        """What `tutti fit --evict` says of all of them."""
        file = self._control_plane.folder / f"{self._jobs.namespace}-fit.yaml"
        file.write_text("\n---\n".join(json.dumps(gang(case, self._classes)) for case in self.cases))
        kubeconfig = str(self._control_plane.kubeconfig_of(ADMIN))
        words = [
            "fit",
            "-f",
            str(file),
            "-n",
            self._jobs.namespace,
            "--evict",
            "-o",
            "json",
            "--kubeconfig",
            kubeconfig,
        ]
        ran = run_tutti(*words, folder=self._control_plane.folder, within_seconds=FIT_SECONDS)
        assert ran.code in {0, 3, 4}, ran
        told = Told()
        for case, item in zip(self.cases, json.loads(ran.out)["items"], strict=True):
            assert item["name"] == f"job/{case.name}"
            if item["fits"]:
                told.nodes[case.name] = Counter({share["node"]: share["pods"] for share in item["nodes"]})
            if item.get("evicts"):
                told.left[case.name] = set(item["evicts"])
        return told

    def submitted(self, expected: Told) -> Told:
        """What becomes of them when they are created; waits for what was said to come, and then for nothing more to come."""
        for case in self.cases:
            self._jobs.create(gang(case, self._classes))
        for case in self.cases:
            placed = expected.nodes.get(case.name)
            if placed is not None:
                eventually(partial(self._has, case.name, placed.total()), within_seconds=STARTS_SECONDS)
            else:
                eventually(partial(self._is_refused, case.name), within_seconds=STARTS_SECONDS)
        found = self._found()
        throughout(lambda: self._found() == found, seconds=QUIET_SECONDS, poll_seconds=QUIET_SECONDS / 2)
        return found

    def _has(self, name: str, pods: int) -> bool:
        return self._jobs.bound(name) >= pods

    def _is_refused(self, name: str) -> bool:
        groups = self._jobs.groups(name)
        return len(groups) == 1 and condition(groups[0], CONDITION) == "False"

    def _found(self) -> Told:
        pods = self._api.list("pods", self._jobs.namespace)
        staying = {pod["metadata"]["uid"] for pod in pods if not pod["metadata"].get("deletionTimestamp")}
        told = Told()
        for case in self.cases:
            bound = Counter(
                pod["spec"]["nodeName"]
                for pod in pods
                if (pod["metadata"].get("labels") or {}).get("app") == case.name and pod["spec"].get("nodeName")
            )
            if bound:
                told.nodes[case.name] = bound
            left = {name for name, uids in self._residents.get(case.name, {}).items() if not uids <= staying}
            if left:
                told.left[case.name] = left
        return told

    def clear(self) -> None:
        """Nothing is left, and the slots of the nodes are given again in the order of the next ones' names."""
        for kind in ("jobs", "pods"):
            for found in self._api.list(kind, self._jobs.namespace):
                self._api.delete(kind, found["metadata"]["name"], self._jobs.namespace)
        eventually(lambda: not self._api.list("pods", self._jobs.namespace), within_seconds=STARTS_SECONDS)
        eventually(lambda: not self._api.list("podgroups", self._jobs.namespace), within_seconds=STARTS_SECONDS)
        for nodes in reversed(self._nodes):
            nodes.names.reverse()
            nodes.remove_all()


def differences(batch: Batch, said: Told, came: Told) -> Iterator[str]:
    for case in batch.cases:
        for what in ("nodes", "left"):
            was, now = getattr(said, what).get(case.name), getattr(came, what).get(case.name)
            if was != now:
                yield f"{case.name} ({case.rule}): fit said {what} {was}, and it was {now}"


def compared(
    control_plane: ControlPlane, jobs: Jobs, classes: dict[int, str], log: AuditLog, seeds: Sequence[int]
) -> Counter[str]:
    """How many cases there were of which end; AssertionError where `fit` said something else than what came."""
    batch = Batch(control_plane, jobs, classes, seeds)
    try:
        batch.set_up()
        begin = log.position()
        said = batch.asked()
        came = batch.submitted(said)
        written = [one for one in log.since(begin) if one.verb not in READS and one.resource not in PROBES]
        assert any(one.agent == OWN_AGENT for one in written), "the log does not show what the test itself has written"
        assert not [one for one in written if one.agent == AGENT]
        wrong = list(differences(batch, said, came))
        assert not wrong, "\n".join(wrong)
        ends = Counter[str]()
        for case in batch.cases:
            ends["in others' place" if case.name in said.left else "yes" if case.name in said.nodes else "no"] += 1
        return ends
    finally:
        batch.clear()


def made(classes: Classes) -> dict[int, str]:
    return {priority: classes.make(f"p{priority}", priority) for priority in PRIORITIES}


def test_fit_says_of_some_gangs_what_comes(
    jobs: Jobs, nodes: HollowNodes, in_order: Tutti, classes: Classes, control_plane: ControlPlane, audit_log: AuditLog
) -> None:
    ends = compared(control_plane, jobs, made(classes), audit_log, range(QUICK))
    sys.stdout.write(f"{dict(ends)}\n")
    assert set(ends) == {"yes", "no", "in others' place"}


@pytest.mark.slow
def test_fit_says_of_two_hundred_gangs_what_comes(
    jobs: Jobs, nodes: HollowNodes, in_order: Tutti, classes: Classes, control_plane: ControlPlane, audit_log: AuditLog
) -> None:
    names, ends = made(classes), Counter[str]()
    for first in range(0, CASES, BATCH):
        ends += compared(control_plane, jobs, names, audit_log, range(first, first + BATCH))
        sys.stdout.write(f"{ends.total()} gangs: {dict(ends)}\n")
    assert ends.total() == CASES
    assert min(ends.values()) >= CASES // 10
