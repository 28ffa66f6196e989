"""The workflows of the matrix: what users have before, what they do while something goes wrong, and when it is over."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.world import HIGH, LOW, SETTLE_SECONDS, World
from verify.clusters.eventually import eventually
from verify.clusters.jobs import CONDITION, Object, condition_entry, indexed_job, plain_pod
from verify.clusters.lws import leader_worker_set

SIZE = 4
LARGER, SMALLER = 6, 2
ELASTIC = {"tutti.scheduler/elastic": "true"}
NAME, OTHER = "train", "urgent"
SET, REPLICAS, SET_SIZE = "serve", 2, 3
GUARDED, UNGUARDED = "guarded", "unguarded"


@dataclass(frozen=True)
class Workflow:
    """One of the twelve.

    Attributes:
        before: brings the cluster into the state in which it begins, undisturbed.
        act: what users do.
        over: whether it has come to its end; AssertionError or false until then.
    """

    before: Callable[[World], None]
    act: Callable[[World], object]
    over: Callable[[World], bool]


def gang(name: str = NAME, count: int = SIZE, *, priority: str = LOW, **settings: object) -> Object:
    job = indexed_job(name, count, **settings)  # type: ignore[arg-type]
    job["spec"]["template"]["spec"]["priorityClassName"] = priority
    return job


def room(world: World, pods: int) -> None:
    world.nodes.add(2, cpu=str(pods // 2))


def await_true(check: Callable[[], bool]) -> None:
    eventually(check, within_seconds=SETTLE_SECONDS)


def runs(world: World, name: str = NAME, count: int = SIZE) -> bool:
    """All of its pods run, and its group says that it has started."""
    pods = world.jobs.pods(name)
    running = sum(pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"] for pod in pods)
    assert running == len(pods) == count, f"{running} of {len(pods)} pods of {name} run, not {count}"
    return is_told(world, name, "True")


def is_told(world: World, name: str, status: str) -> bool:
    said = condition_entry(world.jobs.group(name), CONDITION)
    assert said is not None, f"the group of {name} says nothing"
    assert said["status"] == status, said
    return True


def waits(world: World) -> bool:
    """All of its pods are there, none has a node, and its group says why."""
    assert world.jobs.waits(NAME)
    return is_told(world, NAME, "False")


def is_minimum(world: World, count: int) -> bool:
    minimum = world.jobs.group(NAME)["spec"]["schedulingPolicy"]["gang"]["minCount"]
    assert minimum == count, f"minCount is {minimum}, not {count}"
    return True


def is_running_with_room(pods: int, **settings: object) -> Callable[[World], None]:
    def before(world: World) -> None:
        room(world, pods)
        world.jobs.create(gang(**settings))  # type: ignore[arg-type]
        await_true(lambda: runs(world))

    return before


def is_waiting(world: World) -> None:
    room(world, SIZE - 2)
    world.jobs.create(gang(annotations=ELASTIC))
    await_true(lambda: waits(world))


def suspend_and_resume(world: World) -> None:
    world.change(NAME, suspend=True)
    await_true(lambda: not world.jobs.pods(NAME))
    world.change(NAME, suspend=False)


def create_set(world: World) -> None:
    world.sets.create(leader_worker_set(SET, replicas=REPLICAS, size=SET_SIZE))


def is_available(world: World) -> bool:
    """Every replica is whole, with a group of its own, and the set says that it is available."""
    return world.sets.available(SET) and world.sets.whole(SET) and world.sets.sound(SET)


def groups_of_set(world: World) -> set[str]:
    return {group["metadata"]["uid"] for group in world.sets.groups(SET)}


def is_serving(world: World) -> None:
    room(world, REPLICAS * SET_SIZE)
    create_set(world)
    await_true(lambda: is_available(world))
    world.noted.update(groups_of_set(world))


def is_available_with_new_groups(world: World, replicas: int) -> bool:
    """As before, and so many replicas have another group than they had."""
    kept = world.noted & groups_of_set(world)
    assert len(kept) == REPLICAS - replicas, f"{len(kept)} groups are those of the beginning"
    return is_available(world)


def lone_pod(name: str, *, node: str = "", priority: str = LOW) -> Object:
    pod = plain_pod(name, node=node)
    pod["metadata"]["labels"] = {"app": name.partition("-")[0]}
    pod["spec"] |= {"schedulerName": "tutti", "priorityClassName": priority}
    return pod


def is_full_of_pods(world: World) -> None:
    """On one node are pods under a budget that is used up, on the other are pods without one."""
    api, namespace = world.jobs.api, world.jobs.namespace
    for app, node in zip((GUARDED, UNGUARDED), world.nodes.add(2, cpu="2"), strict=True):
        for number in range(2):
            api.create("pods", lone_pod(f"{app}-{number}", node=node), namespace)
    budget = {"minAvailable": 2, "selector": {"matchLabels": {"app": GUARDED}}}
    api.create("poddisruptionbudgets", {"metadata": {"name": "guard"}, "spec": budget}, namespace)
    await_true(lambda: api.get("poddisruptionbudgets", "guard", namespace).get("status", {}).get("currentHealthy") == 2)


def has_displaced_one(world: World) -> bool:
    """The urgent pod runs; it has displaced one of those without a budget."""
    pods = {pod["metadata"]["name"]: pod for pod in world.jobs.api.list("pods", world.jobs.namespace)}
    assert len(pods) == 4, sorted(pods)
    assert {f"{GUARDED}-0", f"{GUARDED}-1", OTHER} < set(pods), sorted(pods)
    assert all(pod["status"]["phase"] == "Running" for pod in pods.values())
    return True


WORKFLOWS = {
    "create-run-complete": Workflow(
        lambda world: room(world, SIZE),
        lambda world: world.jobs.create(gang(run_seconds=0.5)),
        lambda world: world.jobs.succeeded(NAME) and is_told(world, NAME, "True"),
    ),
    "delete-while-pending": Workflow(is_waiting, lambda world: world.delete(NAME), World.gone),
    "delete-while-running": Workflow(is_running_with_room(SIZE), lambda world: world.delete(NAME), World.gone),
    "suspend-and-resume": Workflow(is_running_with_room(SIZE), suspend_and_resume, runs),
    "elastic-up": Workflow(
        is_running_with_room(LARGER, annotations=ELASTIC),
        lambda world: world.change(NAME, parallelism=LARGER, completions=LARGER),
        lambda world: runs(world, count=LARGER) and is_minimum(world, LARGER),
    ),
    "elastic-down": Workflow(
        is_running_with_room(SIZE, annotations=ELASTIC),
        lambda world: world.change(NAME, parallelism=SMALLER, completions=SMALLER),
        lambda world: runs(world, count=SMALLER) and is_minimum(world, SMALLER),
    ),
    "minimum-changes-while-pending": Workflow(
        is_waiting,
        lambda world: world.change(NAME, parallelism=SMALLER, completions=SMALLER),
        lambda world: runs(world, count=SMALLER) and is_minimum(world, SMALLER),
    ),
    "gang-preempts-gang": Workflow(
        is_running_with_room(SIZE),
        lambda world: world.jobs.create(gang(OTHER, priority=HIGH)),
        lambda world: runs(world, OTHER) and world.jobs.waits(NAME),
    ),
    "pod-preempts-pod-beside-a-budget": Workflow(
        is_full_of_pods,
        lambda world: world.jobs.api.create("pods", lone_pod(OTHER, priority=HIGH), world.jobs.namespace),
        has_displaced_one,
    ),
    "set-starts": Workflow(lambda world: room(world, REPLICAS * SET_SIZE), create_set, is_available),
    "set-rolls-out": Workflow(
        is_serving,
        lambda world: world.sets.new_revision(SET),
        lambda world: is_available_with_new_groups(world, REPLICAS),
    ),
    "replica-restarts": Workflow(
        is_serving,
        lambda world: world.jobs.api.delete("pods", f"{SET}-0-1", world.jobs.namespace),
        lambda world: is_available_with_new_groups(world, 1),
    ),
}
"""By name."""
