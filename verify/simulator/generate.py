"""Draws runs from seeds: clusters of a few nodes under more load than they bear, so that gangs wait, start and give way."""

import random
from collections.abc import Callable
from typing import Final

from verify.simulator.actions import (
    AddNode,
    AnyAction,
    Cordon,
    CreateJob,
    CreateSet,
    DeleteJob,
    DeletePod,
    DeleteSet,
    FailPod,
    ForeignPod,
    Kill,
    Pause,
    RemoveNode,
    Resize,
    ScaleSet,
    Scenario,
    Suspend,
)

MOST_ACTIONS: Final = 40
LONG_PAUSE_SECONDS: Final = 90.0
_PROCESSES: Final = ("scheduler", "scheduler", "controllers", "webhooks", "stand-ins")


SEEDS_PER_HASH_SEED: Final = 25


def scenario(seed: int, *, actions: int = MOST_ACTIONS) -> Scenario:
    """The run of a seed: half of them with a bad network."""
    source = random.Random(seed)
    drawer = _Drawer(source, random.Random(f"{seed} owners and restarts"))
    nodes = source.randint(2, 6)
    begin: list[AnyAction] = [drawer.add_node() for _ in range(nodes)]
    middle = [drawer.draw() for _ in range(source.randint(3, actions))]
    return Scenario(seed, (*begin, *middle), source.random() < 0.5, hash_seed_of(seed))


def hash_seed_of(seed: int) -> int:
    """The order of sets of texts with which a seed is run."""
    return seed // SEEDS_PER_HASH_SEED % 2**32


class _Drawer:
    def __init__(self, source: random.Random, source_of_more: random.Random) -> None:
        self._source = source
        # What was thought of later is drawn apart: seeds in which something was found keep the rest of their runs.
        self._source_of_more = source_of_more
        self._nodes = 0
        self._jobs = 0
        self._sets = 0
        self._pods = 0
        self._choices: list[tuple[int, Callable[[], AnyAction]]] = [
            (30, self._create_job),
            (6, self._create_set),
            (6, self._delete_job),
            (4, self._suspend),
            (4, self._resume),
            (4, self._resize),
            (5, self._delete_pod),
            (4, self._fail_pod),
            (4, self.add_node),
            (4, self._remove_node),
            (3, self._cordon),
            (3, self._uncordon),
            (4, self._foreign_pod),
            (2, self._scale_set),
            (2, self._delete_set),
            (5, self._kill),
            (3, self._pause),
        ]

    def draw(self) -> AnyAction:
        """Anything."""
        weights = [weight for weight, _ in self._choices]
        return self._source.choices(self._choices, weights)[0][1]()

    def add_node(self) -> AnyAction:
        """One more node, or one that was there before."""
        source = self._source
        again = self._nodes > 0 and source.random() < 0.3
        number = source.randrange(self._nodes) if again else self._nodes
        self._nodes = max(self._nodes, number + 1)
        return AddNode(self._after(), number, source.choice((2, 4, 8)), source.choice((0, 0, 2, 4)))

    def _after(self) -> float:
        """Mostly a moment, so that things meet; sometimes long, so that everything calms down first."""
        source = self._source
        kind = source.random()
        if kind < 0.3:
            return 0.0
        if kind < 0.85:
            return round(source.expovariate(2.0), 3)
        return round(source.uniform(5.0, LONG_PAUSE_SECONDS), 1)

    def _job(self) -> int:
        return self._source.randrange(max(self._jobs, 1))

    def _create_job(self) -> AnyAction:
        source = self._source
        self._jobs += 1
        pods = source.choice((1, 2, 3, 4, 6, 8))
        elastic = source.random() < 0.25
        return CreateJob(
            self._after(),
            self._jobs - 1,
            pods=pods,
            cpu_milli=source.choice((250, 500, 1000, 2000, 4000)),
            gpus=source.choice((0, 0, 0, 1, 2)),
            minimum=source.randint(1, pods) if pods > 1 and not elastic and source.random() < 0.3 else 0,
            priority=source.choice((0, 0, 1, 1, 2)),
            zone=source.random() < 0.15,
            elastic=elastic,
            seconds=source.choice((0, 5, 20, 60, 200)),
            exit_code=1 if source.random() < 0.1 else 0,
            single=source.random() < 0.2,
            claims=source.random() < 0.1,
            restart_seconds=self._restart_seconds(),
        )

    def _restart_seconds(self) -> int:
        source = self._source_of_more
        return source.choice((15, 30)) if source.random() < 0.3 else 0

    def _create_set(self) -> AnyAction:
        source = self._source
        self._sets += 1
        return CreateSet(
            self._after(),
            self._sets - 1,
            replicas=source.randint(1, 3),
            size=source.randint(1, 3),
            cpu_milli=source.choice((500, 1000, 2000)),
            priority=source.choice((0, 1, 2)),
            leader_ready=source.random() < 0.3,
        )

    def _delete_job(self) -> AnyAction:
        return DeleteJob(self._after(), self._job(), orphan=self._source_of_more.random() < 0.25)

    def _suspend(self) -> AnyAction:
        return Suspend(self._after(), self._job(), on=True)

    def _resume(self) -> AnyAction:
        return Suspend(self._after(), self._job(), on=False)

    def _resize(self) -> AnyAction:
        return Resize(self._after(), self._job(), self._source.randint(1, 8))

    def _delete_pod(self) -> AnyAction:
        return DeletePod(self._after(), self._job(), self._source.randrange(8))

    def _fail_pod(self) -> AnyAction:
        return FailPod(self._after(), self._job(), self._source.randrange(8))

    def _remove_node(self) -> AnyAction:
        return RemoveNode(self._after(), self._source.randrange(self._nodes))

    def _cordon(self) -> AnyAction:
        return Cordon(self._after(), self._source.randrange(self._nodes), on=True)

    def _uncordon(self) -> AnyAction:
        return Cordon(self._after(), self._source.randrange(self._nodes), on=False)

    def _foreign_pod(self) -> AnyAction:
        source = self._source
        gone = self._pods > 0 and source.random() < 0.4
        number = source.randrange(self._pods) if gone else self._pods
        self._pods = max(self._pods, number + 1)
        return ForeignPod(
            self._after(), number, source.randrange(self._nodes), source.choice((250, 1000, 2000)), gone=gone
        )

    def _scale_set(self) -> AnyAction:
        return ScaleSet(self._after(), self._source.randrange(max(self._sets, 1)), self._source.randint(0, 4))

    def _delete_set(self) -> AnyAction:
        return DeleteSet(self._after(), self._source.randrange(max(self._sets, 1)))

    def _kill(self) -> AnyAction:
        return Kill(self._after(), self._source.choice(_PROCESSES), round(self._source.uniform(1.0, 20.0), 1))

    def _pause(self) -> AnyAction:
        return Pause(self._after(), self._source.choice(_PROCESSES), round(self._source.uniform(0.5, 10.0), 1))
