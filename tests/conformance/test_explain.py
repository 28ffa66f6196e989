"""`tutti why` and `tutti fit` on a cluster: a hint carried out starts the gang, a yes is bound there, nothing is written."""

import copy
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from verify.auditor.audit_log import AuditLog
from verify.auditor.identities import PROBES, READS
from verify.clusters.cluster_files import ADMIN
from verify.clusters.controlplane import ControlPlane
from verify.clusters.eventually import eventually
from verify.clusters.hollow import HollowNodes
from verify.clusters.jobs import Jobs, indexed_job
from verify.clusters.tutti_process import Tutti, run_tutti

pytestmark = pytest.mark.one_api
AGENT = "tutti-explain"
ZONE = "topology.kubernetes.io/zone"
GPU = "example.com/gpu"
STARTS_SECONDS = 60
QUICK = 6
"""Gangs that are generated; with --slow there are more, until so many hints have been carried out,"""
HINTS = 30
MOST_GANGS = 60
"""of so many gangs: some have no hint."""
KINDS = 4
"""Among the hints there are at least so many kinds."""


@dataclass
class Scene:
    """Nodes as arguments of `HollowNodes.add`, a Job that runs already, and one that waits."""

    nodes: list[dict[str, Any]]
    job: dict[str, Any]
    running: dict[str, Any] | None = None
    names: list[str] = field(default_factory=list)


class Story:
    """Asks about the gang of a scene, and does what the hint says."""

    def __init__(self, jobs: Jobs, nodes: HollowNodes, control_plane: ControlPlane, scene: Scene) -> None:
        self.jobs, self.nodes, self.control_plane, self.scene = jobs, nodes, control_plane, scene

    def set_up(self) -> None:
        self.scene.names = [self.nodes.add(**node)[0] for node in self.scene.nodes]
        if self.scene.running is not None:
            self.jobs.create(self.scene.running)
            eventually(lambda: self.jobs.whole(self.name_of(self.scene.running)), within_seconds=STARTS_SECONDS)
        self.jobs.create(self.scene.job)
        eventually(lambda: self.jobs.waits("waiting"), within_seconds=STARTS_SECONDS)

    @staticmethod
    def name_of(job: dict[str, Any] | None) -> str:
        return str(job["metadata"]["name"]) if job else ""

    def why(self) -> tuple[int, dict[str, Any]]:
        ran = ask(self.control_plane, "why", "job/waiting", "-n", self.jobs.namespace)
        answers = json.loads(ran.out)
        assert len(answers) == 1, answers
        return ran.code, answers[0]

    def carry_out(self, hint: dict[str, Any]) -> None:
        """What somebody would do who reads the hint: change the cluster, or make the Job anew."""
        if hint["kind"] in CLUSTER_CHANGES:
            CLUSTER_CHANGES[hint["kind"]](self, hint)
            return
        job = copy.deepcopy(self.scene.job)
        JOB_CHANGES[hint["kind"]](job, job["spec"]["template"]["spec"], hint)
        self.jobs.api.delete("jobs", "waiting", self.jobs.namespace)
        eventually(
            lambda: self.jobs.api.find("jobs", "waiting", self.jobs.namespace) is None, within_seconds=STARTS_SECONDS
        )
        self.jobs.create(job)

    def add_nodes(self, hint: dict[str, Any]) -> None:
        like = self.scene.nodes[self.scene.names.index(hint["like"])]
        for _ in range(hint["count"]):
            self.nodes.add(**like)

    def end(self, hint: dict[str, Any]) -> None:
        self.jobs.api.delete("jobs", hint["what"].removeprefix("job/"), self.jobs.namespace)

    def starts(self) -> bool:
        """Whether as many pods as it needs are bound."""
        job = self.jobs.get("waiting")
        annotations = job["metadata"].get("annotations") or {}
        need = int(annotations.get("tutti.scheduler/min-count", job["spec"]["parallelism"]))
        return self.jobs.bound("waiting") >= need


def _lower_request(_job: dict[str, Any], spec: dict[str, Any], hint: dict[str, Any]) -> None:
    resources = spec["containers"][0]["resources"]
    resources["requests"][hint["resource"]] = hint["amount"]
    if hint["resource"] == GPU:
        resources["limits"] = {GPU: hint["amount"]}


def _lower_min_count(job: dict[str, Any], _spec: dict[str, Any], hint: dict[str, Any]) -> None:
    job["metadata"]["annotations"]["tutti.scheduler/min-count"] = str(hint["count"])


def _tolerate(_job: dict[str, Any], spec: dict[str, Any], hint: dict[str, Any]) -> None:
    named = {"key": hint["key"], "value": hint.get("value", ""), "effect": hint["effect"]}
    spec["tolerations"] = [{**named, "operator": "Equal"}]


def _remove_node_selector(_job: dict[str, Any], spec: dict[str, Any], hint: dict[str, Any]) -> None:
    del spec["nodeSelector"][hint["key"]]


def _remove_topology(job: dict[str, Any], _spec: dict[str, Any], _hint: dict[str, Any]) -> None:
    del job["metadata"]["annotations"]["tutti.scheduler/topology"]


def _remove_pod_affinity(_job: dict[str, Any], spec: dict[str, Any], _hint: dict[str, Any]) -> None:
    del spec["affinity"]


def _remove_ports(_job: dict[str, Any], spec: dict[str, Any], _hint: dict[str, Any]) -> None:
    del spec["containers"][0]["ports"]


CLUSTER_CHANGES = {"add-nodes": Story.add_nodes, "wait-for": Story.end}
JOB_CHANGES = {
    "lower-request": _lower_request,
    "lower-min-count": _lower_min_count,
    "tolerate": _tolerate,
    "remove-node-selector": _remove_node_selector,
    "remove-topology": _remove_topology,
    "remove-pod-affinity": _remove_pod_affinity,
    "remove-ports": _remove_ports,
}


def ask(control_plane: ControlPlane, *arguments: str) -> Any:
    kubeconfig = str(control_plane.kubeconfig_of(ADMIN))
    ran = run_tutti(*arguments, "-o", "json", "--kubeconfig", kubeconfig, folder=control_plane.folder)
    assert ran.code in {0, 3, 4}, ran
    return ran


def waiting(size: int, **more: Any) -> dict[str, Any]:
    """The Job that waits; `more`: `cpu`, `gpus`, `annotations`, `spec` (of its pods), `labels`, `ports`."""
    job = indexed_job(
        "waiting",
        size,
        cpu=more.get("cpu", "1"),
        annotations=dict(more.get("annotations", {})),
        template_labels=more.get("labels"),
    )
    container = job["spec"]["template"]["spec"]["containers"][0]
    if "gpus" in more:
        container["resources"]["limits"] = {GPU: str(more["gpus"])}
        container["resources"]["requests"][GPU] = str(more["gpus"])
    if "ports" in more:
        container["ports"] = more["ports"]
    job["spec"]["template"]["spec"] |= more.get("spec", {})
    return job


def apart(key: str) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "w"}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


SCENES = {
    "a little room": Scene([{"cpu": "7"}] * 2, waiting(2, cpu="8")),
    "too few nodes": Scene([{"resources": {GPU: "1"}}], waiting(4, gpus=1)),
    "room for most": Scene([{"resources": {GPU: "1"}}] * 3, waiting(4, gpus=1)),
    "a selected zone": Scene([{"labels": {ZONE: "us-b"}}], waiting(2, spec={"nodeSelector": {ZONE: "us-a"}})),
    "one zone": Scene(
        [{"cpu": "4", "labels": {ZONE: zone}} for zone in ("us-a", "us-b")],
        waiting(2, cpu="3", annotations={"tutti.scheduler/topology": ZONE}),
    ),
    "a taint": Scene([{"taints": ({"key": "team", "value": "b", "effect": "NoSchedule"},)}], waiting(2)),
    "one pod a node": Scene([{}], waiting(2, labels={"app": "w"}, spec=apart("kubernetes.io/hostname"))),
    "host ports": Scene([{}], waiting(2, ports=[{"hostPort": 80, "containerPort": 80}])),
    "another Job": Scene([{"cpu": "8"}], waiting(4, cpu="2"), indexed_job("running", 3, cpu="2")),
}
REASONS = {
    "a little room": ("room", "lower-request"),
    "too few nodes": ("room", "add-nodes"),
    "room for most": ("room", "lower-min-count"),
    "a selected zone": ("node-affinity", "remove-node-selector"),
    "one zone": ("topology", "remove-topology"),
    "a taint": ("taints", "tolerate"),
    "one pod a node": ("pod-affinity", "remove-pod-affinity"),
    "host ports": ("ports", "remove-ports"),
    "another Job": ("room", "wait-for"),
}


@pytest.mark.parametrize("name", SCENES)
def test_the_reason_is_told_and_the_hint_starts_the_gang(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, name: str
) -> None:
    story = Story(jobs, nodes, control_plane, copy.deepcopy(SCENES[name]))
    story.set_up()
    code, answer = story.why()
    assert code in {3, 4}, answer
    assert (answer["reason"], answer["hint"]["kind"]) == REASONS[name], answer
    story.carry_out(answer["hint"])
    eventually(story.starts, within_seconds=STARTS_SECONDS)


def generated(seed: int) -> Scene:
    """Nodes of two zones, some tainted, some full, and a gang with one rule of any kind."""
    chance = random.Random(seed)
    nodes: list[dict[str, Any]] = []
    for number in range(chance.randint(1, 4)):
        taint = {"key": "team", "value": "b", "effect": "NoSchedule"}
        nodes.append(
            {
                "cpu": str(chance.randint(2, 6)),
                "labels": {ZONE: ("us-a", "us-b")[number % 2]},
                "taints": (taint,) if chance.random() < 0.2 else (),
                "resources": {GPU: str(chance.randint(0, 3))},
            }
        )
    rules: list[dict[str, Any]] = [
        {},
        {"gpus": chance.randint(1, 2)},
        {"spec": {"nodeSelector": {ZONE: "us-c"}}},
        {"labels": {"app": "w"}, "spec": apart(chance.choice(["kubernetes.io/hostname", ZONE]))},
        {"annotations": {"tutti.scheduler/topology": ZONE}},
        {"ports": [{"hostPort": 80, "containerPort": 80}]},
    ]
    return Scene(nodes, waiting(chance.randint(2, 8), cpu=str(chance.randint(1, 5)), **chance.choice(rules)))


@pytest.mark.parametrize("seed", range(QUICK))
def test_a_hint_starts_its_gang(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, seed: int
) -> None:
    carried_out(jobs, nodes, control_plane, seed)


@pytest.mark.slow
def test_thirty_hints_are_carried_out_and_each_starts_its_gang(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane
) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(QUICK, QUICK + MOST_GANGS):
        kind = carried_out(jobs, nodes, control_plane, seed)
        if kind:
            kinds[kind] += 1
            sys.stdout.write(f"hint {kinds.total()}: {kind}\n")
        tidy(jobs, nodes)
        if kinds.total() == HINTS:
            break
    sys.stdout.write(f"{kinds.total()} hints were carried out and started their gangs: {dict(kinds)}\n")
    assert kinds.total() == HINTS
    assert len(kinds) >= KINDS


def carried_out(jobs: Jobs, nodes: HollowNodes, control_plane: ControlPlane, seed: int) -> str:
    """The kind of the hint that was carried out, and has started the gang; empty when none was given."""
    scene = next(made for made in map(generated, range(1000 * seed, 1000 * seed + 100)) if waits(made))
    story = Story(jobs, nodes, control_plane, scene)
    story.set_up()
    code, answer = story.why()
    assert code in {3, 4}, answer
    if "hint" not in answer:
        return ""
    story.carry_out(answer["hint"])
    eventually(story.starts, within_seconds=STARTS_SECONDS)
    return str(answer["hint"]["kind"])


def tidy(jobs: Jobs, nodes: HollowNodes) -> None:
    """Nothing is left of a gang that could be in the way of the next one."""
    jobs.api.delete("jobs", "waiting", jobs.namespace)
    eventually(lambda: not jobs.api.list("pods", jobs.namespace), within_seconds=STARTS_SECONDS)
    eventually(lambda: not jobs.api.list("podgroups", jobs.namespace), within_seconds=STARTS_SECONDS)
    nodes.remove_all()


def waits(scene: Scene) -> bool:
    """Whether the gang cannot start: it asks for more than all nodes have, or for what none has."""
    spec = scene.job["spec"]["template"]["spec"]
    size, cpu = scene.job["spec"]["parallelism"], int(spec["containers"][0]["resources"]["requests"]["cpu"])
    return sum(int(node["cpu"]) // cpu for node in scene.nodes) < size or "nodeSelector" in spec


# --- fit -----------------------------------------------------------------------------------------------------------------


def fits(control_plane: ControlPlane, namespace: str, job: dict[str, Any], *options: str) -> dict[str, Any]:
    file = control_plane.folder / f"{namespace}.json"
    file.write_text(json.dumps(job))
    ran = ask(control_plane, "fit", "-f", str(file), "-n", namespace, *options)
    (found,) = json.loads(ran.out)["items"]
    assert (ran.code == 0) == found["fits"], ran
    return dict(found)


@pytest.mark.parametrize("name", ["another Job", "one zone", "one pod a node", "room for most"])
def test_no_is_told_of_what_waits(
    jobs: Jobs, nodes: HollowNodes, tutti: Tutti, control_plane: ControlPlane, name: str
) -> None:
    scene = copy.deepcopy(SCENES[name])
    job = scene.job
    for node in scene.nodes:
        nodes.add(**node)
    if scene.running is not None:
        jobs.create(scene.running)
        eventually(lambda: jobs.whole("running"), within_seconds=STARTS_SECONDS)
    found = fits(control_plane, jobs.namespace, job)
    assert not found["fits"]
    assert found["answer"]["reason"] == REASONS[name][0]
    jobs.create(job)
    eventually(lambda: jobs.waits("waiting"), within_seconds=STARTS_SECONDS)


@pytest.mark.parametrize("spread", [{}, {"annotations": {"tutti.scheduler/topology": ZONE}}, {"cpu": "3"}])
def test_yes_names_the_nodes_on_which_it_is_bound_and_nothing_is_written(
    jobs: Jobs,
    nodes: HollowNodes,
    tutti: Tutti,
    control_plane: ControlPlane,
    audit_log: AuditLog,
    spread: dict[str, Any],
) -> None:
    for number in range(4):
        nodes.add(cpu=str(4 + 3 * (number % 2)), labels={ZONE: ("us-a", "us-b")[number % 2]})
    job = waiting(4, **spread)
    begin = audit_log.position()
    found = fits(control_plane, jobs.namespace, job)
    sent = [record for record in audit_log.since(begin) if record.agent == AGENT]
    assert {record.verb for record in sent if record.resource not in PROBES} <= READS, sent
    assert found["fits"], found
    jobs.create(job)
    eventually(lambda: jobs.whole("waiting"), within_seconds=STARTS_SECONDS)
    bound = Counter(pod["spec"]["nodeName"] for pod in jobs.pods("waiting"))
    assert {share["node"]: share["pods"] for share in found["nodes"]} == bound
