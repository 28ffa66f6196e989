"""Three hundred waiting gangs, of all classes of reasons: every hint is enough, and every set of reasons is as small as said."""

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from explain.answer import Verdict
from explain.blocking import smallest_blocking
from explain.relaxations import relaxations
from explain.trials import Trials
from explain.why import why
from scheduler.plugins.gang_scheduling import pre_enqueue
from tests.explain.scenes import NOW_SECONDS, Scene, applied, starts

GANGS = 300
GPU = "example.com/gpu"
ZONES = ("a", "b")
TAINTS: tuple[list[dict[str, str]], ...] = (
    [],
    [],
    [{"key": "team", "value": "b", "effect": "NoSchedule"}],
    [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}],
)
SETTINGS = settings(
    max_examples=GANGS,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """A gang that may wait for anything."""
    nodes = {f"n{number}": draw(_node()) for number in range(draw(st.sampled_from([0, 1, 2, 2, 3, 3, 4, 5])))}
    residents, groups = draw(_residents(sorted(nodes))) if nodes else ({}, {})
    size = draw(st.integers(1, 5))
    scene = Scene(nodes=nodes, residents=residents, groups=groups, size=size, need=draw(st.integers(1, size)))
    scene.priority = draw(st.sampled_from([0, 0, 10, 50]))
    scene.pod = draw(_pod())
    if draw(st.booleans()):
        scene.group["topology"] = "zone"
    if draw(st.integers(0, 9)) == 7:
        scene.pod["gates"] = ["wait"]
    if draw(st.integers(0, 9)) == 7:
        scene.exists = draw(st.integers(0, size))
    if draw(st.integers(0, 2)) == 0:
        _with_devices(draw, scene)
    if nodes and draw(st.integers(0, 5)) == 4:
        scene.residents["kept"] = {"cpu": draw(st.integers(1, 4)), "priority": 200}
        scene.nominated["kept"] = draw(st.sampled_from(sorted(nodes)))
    return scene


def _with_devices(draw: st.DrawFn, scene: Scene) -> None:
    """Nodes have devices, some residents have taken some, and the gang asks for some."""
    for name, node in scene.nodes.items():
        node["devices"] = draw(st.integers(0, 4))
        free = [f"g{number}" for number in range(node["devices"])]
        for resident in scene.residents.values():
            if resident.get("on") == name and free:
                resident["devices"] = [free.pop() for _ in range(draw(st.integers(0, len(free))))]
    scene.pod["devices"] = draw(st.integers(1, 4))
    if draw(st.integers(0, 9)) == 0:
        scene.pod["claim"] = False


@st.composite
def _node(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "cpu": draw(st.integers(1, 6)),
        "pods": draw(st.sampled_from([2, 4, 110])),
        "resources": {GPU: str(draw(st.integers(0, 4)))},
        "labels": {"zone": draw(st.sampled_from(ZONES))},
        "taints": draw(st.sampled_from(TAINTS)),
        "unschedulable": draw(st.integers(0, 7)) == 6,
    }


@st.composite
def _residents(draw: st.DrawFn, names: list[str]) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    residents: dict[str, dict[str, Any]] = {}
    for number in range(draw(st.integers(0, 6))):
        more: dict[str, Any] = {
            "on": draw(st.sampled_from(names)),
            "requests": {"cpu": str(draw(st.integers(0, 4))), GPU: str(draw(st.integers(0, 2)))},
            "priority": draw(st.sampled_from([0, 0, 20, 200])),
            "labels": {"app": draw(st.sampled_from(["w", "x"]))},
            "deleted": draw(st.integers(0, 9)) == 7,
        }
        group = draw(st.sampled_from(["", "", "one", "two"]))
        if group:
            more["group"] = group
            more["priority"] = 20
        elif draw(st.integers(0, 5)) == 4:
            more["spec"] = _affinity("podAntiAffinity", "kubernetes.io/hostname")
        if draw(st.integers(0, 6)) == 0:
            more["ports"] = [{"hostPort": 80, "containerPort": 80}]
        residents[f"r{number}"] = more
    return residents, {name: {"need": 1, "priority": 20} for name in ("one", "two")}


def _affinity(kind: str, key: str) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "w"}}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


@st.composite
def _pod(draw: st.DrawFn) -> dict[str, Any]:
    requests = {"cpu": draw(st.sampled_from(["500m", "1", "2", "3500m", "4", "5"]))}
    if draw(st.booleans()):
        requests[GPU] = str(draw(st.integers(1, 3)))
    more: dict[str, Any] = {"requests": requests, "labels": {"app": "w"}}
    rule = draw(st.integers(0, 9))
    if rule == 0:
        more["spec"] = {"nodeSelector": {"zone": draw(st.sampled_from(["a", "b", "c"]))}}
    elif rule == 1:
        terms = [{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        more["spec"] = {"affinity": {"nodeAffinity": required}, "nodeSelector": {"disk": "ssd"}}
    elif rule == 2:
        more["spec"] = _affinity(
            draw(st.sampled_from(["podAffinity", "podAntiAffinity"])),
            draw(st.sampled_from(["kubernetes.io/hostname", "zone"])),
        )
    elif rule == 3:
        selector = {"matchLabels": {"app": "w"}}
        constraint = {"topologyKey": "zone", "maxSkew": 1, "labelSelector": selector}
        more["spec"] = {"topologySpreadConstraints": [{**constraint, "whenUnsatisfiable": "DoNotSchedule"}]}
    elif rule == 4:
        more["ports"] = [{"hostPort": 80, "containerPort": 80}]
    elif rule == 5:
        more["spec"] = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}]}
    return more


seen: Counter[str] = Counter()


@given(scenes())
@SETTINGS
def test_every_hint_is_enough(scene: Scene) -> None:
    answer = why(scene.world().state, scene.key, NOW_SECONDS)
    assume(answer.verdict in {Verdict.WAITS, Verdict.NEVER})
    seen[str(answer.reason)] += 1
    seen["hint" if answer.hint is not None else "no hint"] += 1
    assert not starts(scene)
    if answer.hint is not None:
        seen[f"hint {answer.hint.kind}"] += 1
        assert starts(applied(scene, answer.hint)), answer.hint


@given(scenes())
@SETTINGS
def test_without_any_one_reason_of_the_set_it_would_start(scene: Scene) -> None:
    state = scene.world().state
    trials = Trials(state, scene.key)
    members = trials.members
    assert members is not None
    assume(members.pending_count and pre_enqueue(members) is None)
    assume(not trials.starts())

    def starts_without(some: Any) -> bool:
        return trials.starts(*(one.change for one in some))

    found = smallest_blocking(relaxations(state, members), starts_without)
    if not found.reasons:
        assert not len(state.nodes)
    elif found.together:
        assert starts_without(found.reasons)
        for one in found.reasons:
            assert not starts_without([other for other in found.reasons if other is not one])
    else:
        assert all(starts_without([one]) for one in found.reasons)
