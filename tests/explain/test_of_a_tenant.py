"""What somebody is told who may see one namespace: the same as everybody, and no name of anybody else."""

import copy
import dataclasses
from collections import Counter

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from explain.answer import Answer
from explain.targets import Target
from explain.tenant import answers
from explain.why import why
from scheduler.cache.records import EntityKey
from scheduler.core import build_core
from scheduler.recording.capture import Moment, take
from scheduler.recording.inputs import DecisionInputs
from scheduler.settings import SchedulerSettings
from tests.explain.reason_table import SCENES
from tests.explain.scenes import GANG, NOW_SECONDS, Scene
from tests.explain.test_generated_gangs import scenes
from tests.scheduler.core import build
from tests.scheduler.core.world import World

GANGS = 25
RIVAL, RIVALS = "rival", "rivals"


def beside_rivals(scene: Scene) -> Scene:
    """The same, but all that runs or is held belongs to somebody else."""
    made = copy.deepcopy(scene)
    made.residents = {
        f"{RIVAL}-{name}": {
            **more,
            "namespace": RIVALS,
            **({"group": f"{RIVAL}-{more['group']}"} if more.get("group") else {}),
        }
        for name, more in scene.residents.items()
    }
    made.groups = {f"{RIVAL}-{name}": {**more, "namespace": RIVALS} for name, more in scene.groups.items()}
    made.nominated = {}
    return made


def world_of(scene: Scene) -> World:
    world = beside_rivals(scene).world()
    for name, node in scene.nominated.items():
        record = world.state.pod(f"uid-of-{RIVAL}-{name}")
        assert record is not None
        key = EntityKey("pod", RIVALS, record.name, record.uid)
        places = {record.uid: (node, record.demand)}
        world.state.nominator.nominate(key, record.profile.priority, places, frozenset(), world.now + 1e6)
    return world


def inputs_of(world: World) -> DecisionInputs:
    core = build_core(
        SchedulerSettings(identity="test"),
        clock=lambda: world.now,
        epoch=lambda: NOW_SECONDS,
        apply=lambda _: None,
    )
    core = dataclasses.replace(core, state=world.state, queue=world.queue)
    return take(core, Moment(NOW_SECONDS, world.now, {})).inputs()


def without_names(answer: Answer) -> object:
    """What an answer says, as far as no name of another has a part in it."""
    hint = answer.hint
    return (
        answer.item,
        answer.verdict,
        answer.reason,
        answer.members,
        answer.turn,
        [one.reason for one in answer.blocking],
        hint and (hint.kind, hint.count, hint.like, hint.nodes, hint.resource, hint.amount, hint.key, len(hint.pods)),
    )


named: Counter[str] = Counter()


@pytest.mark.parametrize("name", SCENES)
def test_each_reason_is_told_and_nobody_else_is_named(name: str) -> None:
    check(SCENES[name][2])


@given(scenes())
@settings(max_examples=GANGS, deadline=None, suppress_health_check=list(HealthCheck))
def test_of_generated_gangs_nobody_else_is_named(scene: Scene) -> None:
    check(scene)


def check(scene: Scene) -> None:
    if not scene.size:
        return
    world = world_of(scene)
    inputs = inputs_of(world)
    told = why(world.state, scene.key, NOW_SECONDS)
    found = answers(inputs, Target("podgroup" if scene.has_group else "pod", build.NAMESPACE, asked(scene)))
    assert [without_names(answer) for answer in found] == [without_names(told)]
    named[RIVAL] += RIVAL in msgspec.json.encode(told).decode()
    assert RIVAL not in msgspec.json.encode(found).decode()


def asked(scene: Scene) -> str:
    return GANG if scene.has_group else f"{GANG}-0"


def test_without_the_filter_somebody_would_be_named() -> None:
    """So the tests above can fail."""
    scene = Scene(nodes={"n": {"cpu": 4}}, residents={"r": {"cpu": 4, "on": "n"}}, size=1, need=1, pod={"cpu": 4})
    named.clear()
    check(scene)
    assert named[RIVAL] == 1


def test_nobody_learns_whether_something_exists_elsewhere() -> None:
    scene = Scene(nodes={"n": {"cpu": 4}}, residents={"r": {"cpu": 4, "on": "n"}})
    inputs = inputs_of(world_of(scene))
    assert answers(inputs, Target("pod", build.NAMESPACE, f"{RIVAL}-r")) == []
    assert answers(inputs, Target("pod", build.NAMESPACE, "never-was")) == []


@pytest.mark.parametrize("target", [("compositepodgroup", "all"), ("podgroup", "a"), ("pod", "b-0")])
def test_of_a_tree_the_same_is_told_and_nobody_else_is_named(target: tuple[str, str]) -> None:
    world = World()
    for node in ("n0", "n1"):
        world.node(node, cpu=4)
        world.pod(f"{RIVAL}-{node}", namespace=RIVALS, cpu=2, on=node)
    world.composite("all", 2)
    for name in "ab":
        world.group(name, 2, parent="all")
        world.pods(name, 2, cpu=2)
    (answer,) = answers(inputs_of(world), Target(target[0], build.NAMESPACE, target[1]))
    assert without_names(answer) == without_names(why(world.state, build.composite_key("all"), NOW_SECONDS))
    assert {one.name for one in answer.groups} == {"a", "b"}
    assert RIVAL not in msgspec.json.encode(answer).decode()
