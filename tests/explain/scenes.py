"""Clusters in which one gang, `wanting`, waits: described as values, so that a hint can be applied to the description."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from api.constants import JOB_COMPLETION_INDEX, SLICE_SIZE, SLICE_TOPOLOGY
from api.meta import Metadata
from api.priorityclass import PriorityClass
from explain.device_changes import release_claims_of
from explain.hint import Hint, HintKind
from scheduler.algorithm.schedule_pod_group import decide
from scheduler.cache.records import EntityKey
from scheduler.preemption.evaluator import Evaluator, PreemptionLimits
from tests.explain.scene_devices import CLASS, asking, holding, offered
from tests.scheduler.core import build
from tests.scheduler.core.world import World

NOW_SECONDS = 1_767_225_700.0
"""A hundred seconds after everything was created."""
CLASSES = {"low": 10, "mid": 50, "high": 100}
GANG = "wanting"


@dataclass
class Scene:
    """A cluster and the gang; nodes, residents (pods that run) and stored objects are keyword arguments of their builders.

    Besides them (`scene_devices`): `devices` of a node, how many it has; of a resident, which ones; of the gang's pods, for how
    many each asks.
    """

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    residents: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    stored: list[dict[str, Any]] = field(default_factory=list)
    nominated: dict[str, str] = field(default_factory=dict)
    """Name of a lone pod that waits -> node that is kept for it."""
    size: int = 2
    need: int | None = 2
    exists: int | None = None
    """How many of its pods exist, all without it."""
    priority: int = 0
    group: dict[str, Any] = field(default_factory=dict)
    has_group: bool = True
    has_given_up: bool = False
    pod: dict[str, Any] = field(default_factory=dict)
    """What each of its pods asks for."""
    has_ranks: bool = False
    """Its pods have the labels of an Indexed Job's."""

    @property
    def key(self) -> EntityKey:
        return build.group_key(GANG) if self.has_group else build.group_key(GANG, "")

    def world(self) -> World:
        """The cluster, made anew."""
        world = World()
        for name, value in CLASSES.items():
            world.state.set_priority_class(PriorityClass(Metadata(name=name, uid=name), value))
        for name, more in self.nodes.items():
            world.node(name, **offered(world.state, name, more))
        for manifest in self.stored:
            world.stored(manifest)
        for name, more in self.groups.items():
            world.group(name, **more)
        for name, more in self.residents.items():
            world.pod(name, **holding(world.state, name, more))
        for name, node in self.nominated.items():
            record = world.state.pod(f"uid-of-{name}")
            assert record is not None
            key = build.pod_key(name)
            places = {record.uid: (node, record.demand)}
            world.state.nominator.nominate(key, record.profile.priority, places, frozenset(), world.now + 1e6)
        if self.has_group:
            made = world.group(GANG, self.need, priority=self.priority, **self.group)
            if self.has_given_up:
                late = msgspec.structs.replace(world.state.slim_group(made), has_timed_out=True)
                world.apply(world.state.remove_group(build.NAMESPACE, GANG, late.uid))
                world.apply(world.state.upsert_group(late))
        for number in range(self.size if self.exists is None else self.exists):
            name = f"{GANG}-{number}"
            ranks = {"labels": {JOB_COMPLETION_INDEX: str(number)}} if self.has_ranks else {}
            world.pod(name, group=GANG, priority=self.priority, **ranks, **asking(world.state, name, self.pod))
        return world


def starts(scene: Scene) -> bool:
    """Whether the scheduler places the gang now, in the place of others if it may."""
    if scene.has_given_up:
        return False
    world = scene.world()
    decision = decide(world.state, scene.key)
    if decision.result != "unschedulable":
        return decision.result == "scheduled"
    found = Evaluator(world.state, PreemptionLimits()).preempt(scene.key, world.now)
    if found.candidate is None:
        return False
    release_claims_of(world.state.devices, found.candidate.pods)
    for pod in found.candidate.pods:
        world.apply(world.state.remove_pod(pod.namespace, pod.name, pod.uid))
    return decide(world.state, scene.key).result == "scheduled"


def applied(scene: Scene, hint: Hint) -> Scene:
    """The scene in which somebody has done what the hint says."""
    made = copy.deepcopy(scene)
    _APPLY[hint.kind](made, hint)
    return made


def _add_nodes(scene: Scene, hint: Hint) -> None:
    model = _well(scene.nodes[hint.like])
    scene.nodes |= {f"new-{number}": copy.deepcopy(model) for number in range(hint.count)}


def _restore_nodes(scene: Scene, hint: Hint) -> None:
    scene.nodes |= {name: _well(scene.nodes[name]) for name in hint.nodes}


def _lower_request(scene: Scene, hint: Hint) -> None:
    requests = scene.pod.setdefault("requests", {"cpu": str(scene.pod.pop("cpu", 1))})
    assert hint.resource in requests
    requests[hint.resource] = hint.amount


def _lower_devices(scene: Scene, hint: Hint) -> None:
    assert hint.key == CLASS
    scene.pod["devices"] = hint.count


def _lower_min_count(scene: Scene, hint: Hint) -> None:
    scene.need = hint.count


def _tolerate(scene: Scene, hint: Hint) -> None:
    toleration = {"key": hint.key, "operator": "Equal", "value": hint.value, "effect": hint.effect}
    _spec(scene)["tolerations"] = [*_spec(scene).get("tolerations", []), toleration]


def _remove_node_selector(scene: Scene, hint: Hint) -> None:
    _spec(scene).get("nodeSelector", {}).pop(hint.key, None)
    affinity = _spec(scene).get("affinity", {})
    required = affinity.get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    terms = required.get("nodeSelectorTerms", [])
    for term in terms:
        term["matchExpressions"] = [one for one in term["matchExpressions"] if one["key"] != hint.key]
    if any(not term["matchExpressions"] for term in terms):
        del affinity["nodeAffinity"]


def _remove_node_affinity(scene: Scene, _hint: Hint) -> None:
    _spec(scene).pop("nodeSelector", None)
    _spec(scene).get("affinity", {}).pop("nodeAffinity", None)


def _remove_topology(scene: Scene, hint: Hint) -> None:
    said = scene.group.get("annotations", {})
    assert hint.key in (scene.group.pop("topology", ""), said.pop(SLICE_TOPOLOGY, ""))
    said.pop(SLICE_SIZE, None)


def _prefer_spread(scene: Scene, _hint: Hint) -> None:
    for one in _spec(scene)["topologySpreadConstraints"]:
        one["whenUnsatisfiable"] = "ScheduleAnyway"


def _remove_pod_affinity(scene: Scene, _hint: Hint) -> None:
    for kind in ("podAffinity", "podAntiAffinity"):
        _spec(scene)["affinity"].pop(kind, None)


def _remove_ports(scene: Scene, _hint: Hint) -> None:
    del scene.pod["ports"]


def _raise_priority(scene: Scene, hint: Hint) -> None:
    scene.priority = CLASSES[hint.key]


def _wait_for(scene: Scene, hint: Hint) -> None:
    gone = {uid.removeprefix("uid-of-") for uid in hint.pods}
    assert gone <= scene.residents.keys()
    scene.residents = {name: more for name, more in scene.residents.items() if name not in gone}


def _holder_gone(scene: Scene, hint: Hint) -> None:
    name = hint.what.removeprefix("pod/")
    del scene.residents[name], scene.nominated[name]


def _remove_gates(scene: Scene, _hint: Hint) -> None:
    del scene.pod["gates"]


def _remove_timeout(scene: Scene, _hint: Hint) -> None:
    del scene.group["annotations"]
    scene.has_given_up = False


_APPLY: Final[dict[HintKind, Callable[[Scene, Hint], None]]] = {
    HintKind.ADD_NODES: _add_nodes,
    HintKind.RESTORE_NODES: _restore_nodes,
    HintKind.LOWER_REQUEST: _lower_request,
    HintKind.LOWER_DEVICES: _lower_devices,
    HintKind.LOWER_MIN_COUNT: _lower_min_count,
    HintKind.TOLERATE: _tolerate,
    HintKind.REMOVE_NODE_SELECTOR: _remove_node_selector,
    HintKind.REMOVE_NODE_AFFINITY: _remove_node_affinity,
    HintKind.REMOVE_TOPOLOGY: _remove_topology,
    HintKind.PREFER_SPREAD: _prefer_spread,
    HintKind.REMOVE_POD_AFFINITY: _remove_pod_affinity,
    HintKind.REMOVE_PORTS: _remove_ports,
    HintKind.RAISE_PRIORITY: _raise_priority,
    HintKind.WAIT_FOR: _wait_for,
    HintKind.HOLDER_GONE: _holder_gone,
    HintKind.REMOVE_GATES: _remove_gates,
    HintKind.REMOVE_TIMEOUT: _remove_timeout,
}


def _well(node: dict[str, Any]) -> dict[str, Any]:
    taints = [one for one in node.get("taints", []) if not one["key"].startswith("node.kubernetes.io/")]
    return {**node, "taints": taints, "unschedulable": False}


def _spec(scene: Scene) -> dict[str, Any]:
    found: dict[str, Any] = scene.pod.setdefault("spec", {})
    return found
