"""Cases for `tutti fit`: a few nodes of their own, who runs there, and a gang Job that may fit, may not, or only in others' place.

Cases do not meet: their gangs select nodes by a label, zones are named by the case. So many are decided, and submitted, at once.
In a case no two pods that could leave are equally important, for of equals the order in which they came decides, which only
the scheduler knows; and gangs start whole, for of one that may start with fewer pods the first are placed before the last exist.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from verify.clusters.jobs import Object, indexed_job

CASE = "tests.tutti.scheduler/case"
ZONE = "topology.kubernetes.io/zone"
GPU = "example.com/gpu"
DISRUPTION_MODE = "tutti.scheduler/disruption-mode"
PRIORITIES = (10, 20, 30, 40, 50, 60)
"""Of the classes that a test makes; a pod without one has 0."""
CROWDED = 0.65
"""Share of the cases in which somebody runs on every node."""
TAINT = {"key": "team", "value": "b", "effect": "NoSchedule"}


@dataclass
class Resident:
    """A pod, or with `size` a gang Job that leaves whole, that runs before anybody asks; on the node of this number."""

    name: str
    cpu: int
    priority: int
    node: int = 0
    size: int = 0


@dataclass
class Case:
    """`nodes` are arguments of `HollowNodes.add`, `job` is the gang; `priority` is its class, 0 for none."""

    name: str
    nodes: list[dict[str, Any]]
    residents: list[Resident]
    job: Object
    priority: int
    rule: str


def generated(seed: int) -> Case:
    """The case of a seed."""
    chance = random.Random(seed)
    name = f"c{seed:03d}"
    nodes = [_node(chance, name, number) for number in range(chance.randint(1, 4))]
    free = [int(node["cpu"]) for node in nodes]
    priorities = chance.sample(PRIORITIES[:-1], len(PRIORITIES) - 1)
    is_crowded = chance.random() < CROWDED
    residents: list[Resident] = []
    if chance.random() < 0.3 and max(free) >= 2 and not any("taints" in node for node in nodes):
        residents.append(_gang_resident(name, free, priorities))
    for number in range(len(nodes) if is_crowded else chance.randint(0, 2)):
        at = number if is_crowded else chance.randrange(len(nodes))
        cpu = min(chance.randint(1, 5), free[at])
        if cpu and priorities:
            free[at] -= cpu
            residents.append(_resident(name, at, cpu, priorities.pop()))
    priority = chance.choice((PRIORITIES[2], PRIORITIES[-1], PRIORITIES[-1])) if is_crowded else 0
    rule, more = chance.choice(_rules(chance, name))
    job = _gang(name, chance.randint(2, 4), cpu=chance.randint(1, 3), **more)
    return Case(name, nodes, residents, job, priority, rule)


def _node(chance: random.Random, name: str, number: int) -> dict[str, Any]:
    node: dict[str, Any] = {
        "cpu": str(chance.randint(3, 8)),
        "labels": {CASE: name, ZONE: f"{name}-{'ab'[number % 2]}"},
        "resources": {GPU: str(chance.randint(0, 3))},
    }
    if chance.random() < 0.1:
        node["taints"] = (TAINT,)
    return node


def _resident(name: str, at: int, cpu: int, priority: int) -> Resident:
    return Resident(f"{name}-r{priority}", cpu, priority, at)


def _gang_resident(name: str, free: list[int], priorities: list[int]) -> Resident:
    """Two pods, for which one node has room for certain."""
    at = free.index(max(free))
    free[at] -= 2
    priority = priorities.pop()
    return Resident(f"{name}-r{priority}", 1, priority, at, size=2)


def _rules(chance: random.Random, name: str) -> list[tuple[str, dict[str, Any]]]:
    apart = {"topologyKey": chance.choice(["kubernetes.io/hostname", ZONE]), "labelSelector": _selects(name)}
    even = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _selects(name)}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return [
        ("none", {}),
        ("none", {}),
        ("devices", {"gpus": chance.randint(1, 2)}),
        ("zone", {"spec": {"nodeSelector": {ZONE: f"{name}-{chance.choice('ab')}"}}}),
        ("tolerates", {"spec": {"tolerations": [{"key": "team", "operator": "Exists"}]}}),
        ("topology", {"annotations": {"tutti.scheduler/topology": ZONE}}),
        ("apart", {"spec": {"affinity": {"podAntiAffinity": {required: [apart]}}}}),
        ("together", {"spec": {"affinity": {"podAffinity": {required: [apart]}}}}),
        ("spread", {"spec": {"topologySpreadConstraints": [even]}}),
        ("ports", {"ports": [{"hostPort": 80, "containerPort": 80}]}),
    ]


def _selects(name: str) -> dict[str, Any]:
    return {"matchLabels": {"app": name}}


def _gang(name: str, size: int, *, cpu: int, **more: Any) -> Object:
    job = indexed_job(name, size, cpu=str(cpu), annotations=more.get("annotations"), template_labels={"app": name})
    spec = job["spec"]["template"]["spec"]
    spec |= more.get("spec", {})
    spec["nodeSelector"] = {**spec.get("nodeSelector", {}), CASE: name}
    (container,) = spec["containers"]
    if "gpus" in more:
        container["resources"]["limits"] = {GPU: str(more["gpus"])}
        container["resources"]["requests"][GPU] = str(more["gpus"])
    if "ports" in more:
        container["ports"] = more["ports"]
    return job


def resident_pods(case: Case, node_names: Sequence[str], classes: dict[int, str]) -> list[Object]:
    """The pods that are put on their nodes past every scheduler."""
    return [
        {
            "metadata": {"name": one.name},
            "spec": {
                "nodeName": node_names[one.node],
                "priorityClassName": classes[one.priority],
                "containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": str(one.cpu)}}}],
            },
        }
        for one in case.residents
        if not one.size
    ]


def resident_jobs(case: Case, node_names: Sequence[str], classes: dict[int, str]) -> list[Object]:
    """The gangs that run already, each on one node."""
    made = []
    for one in case.residents:
        if one.size:
            job = indexed_job(one.name, one.size, cpu=str(one.cpu), annotations={DISRUPTION_MODE: "all"})
            selector = {"kubernetes.io/hostname": node_names[one.node]}
            job["spec"]["template"]["spec"] |= {"priorityClassName": classes[one.priority], "nodeSelector": selector}
            made.append(job)
    return made


def gang(case: Case, classes: dict[int, str]) -> Object:
    """The Job that is asked about, and then submitted."""
    if case.priority:
        case.job["spec"]["template"]["spec"]["priorityClassName"] = classes[case.priority]
    return case.job
