"""What users do in a soak, drawn from a seed: the same seed gives the same changes in the same order.

Pure. What is known is what was drawn so far, not what the server made of it: a change may meet an object that has ended meanwhile,
and is refused then.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.constants import DEFAULT_SCHEDULER_NAME, ELASTIC
from verify.clusters.jobs import indexed_job, plain_job, plain_pod
from verify.clusters.lws import leader_worker_set

Object = dict[str, Any]

PRIORITIES = {"soak-low": 10, "soak-mid": 100, "soak-high": 1000}
SCHEDULERS = (DEFAULT_SCHEDULER_NAME, "default-scheduler")
RUN_SECONDS = (2.0, 10.0, 30.0, None)
"""How long pods run; None: until they are deleted."""
MOST = {"gang": 20, "plain": 6, "lone": 20, "set": 3}
"""So many of a kind are there at most; who wants one more deletes one."""
MOST_CORDONED = 2
WEIGHTS = {
    "gang": 8,
    "plain": 2,
    "lone": 6,
    "set": 1,
    "scale": 1,
    "suspend": 4,
    "resume": 6,
    "resize": 4,
    "cordon": 1,
    "uncordon": 2,
    "delete": 10,
    "touch": 55,
}
"""How often what is done, of a hundred changes."""
PLURALS = {"gang": "jobs", "plain": "jobs", "lone": "pods", "set": "leaderworkersets"}


@dataclass(frozen=True, slots=True)
class Change:
    """One request of a user: `create`, `patch` or `delete` of an object."""

    verb: str
    resource: str
    name: str
    body: Object = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}/{self.name}"


class Changes:
    """Draws changes.

    Args:
        chance: from the seed.
        nodes: their names.
    """

    def __init__(self, chance: random.Random, nodes: Sequence[str]) -> None:
        self._chance = chance
        self._nodes = list(nodes)
        self._cordoned: list[str] = []
        self._suspended: list[str] = []
        self._elastic: list[str] = []
        self._there: dict[str, list[str]] = {kind: [] for kind in MOST}
        self._count = 0
        self._draw: dict[str, Callable[[], Change | None]] = {
            "scale": self._scale,
            "suspend": self._suspend,
            "resume": self._resume,
            "resize": self._resize,
            "cordon": self._cordon,
            "uncordon": self._uncordon,
            "delete": self._delete_any,
            "touch": self._touch,
            **{kind: lambda kind=kind: self._create(kind) for kind in MOST},  # type: ignore[misc]
        }

    def next(self) -> Change:
        """The next change."""
        self._count += 1
        (what,) = self._chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
        return self._draw[what]() or self._touch()

    def reopened(self) -> Iterator[Change]:
        """What users do in the end: every node takes pods again."""
        for node in self._nodes:
            yield Change("patch", "nodes", node, {"spec": {"unschedulable": None}})

    # --- what is there -----------------------------------------------------------------------------------------------

    def _create(self, kind: str) -> Change:
        there = self._there[kind]
        if len(there) >= MOST[kind]:
            return self._delete(kind)
        name = f"{kind}-{self._count}"
        there.append(name)
        return Change("create", PLURALS[kind], name, self._body(kind, name))

    def _body(self, kind: str, name: str) -> Object:
        chance = self._chance
        priority, runs = chance.choice(list(PRIORITIES)), chance.choice(RUN_SECONDS)
        match kind:
            case "gang":
                is_elastic = chance.random() < 0.3
                if is_elastic:
                    self._elastic.append(name)
                annotations = {ELASTIC: "true"} if is_elastic else {}
                body = indexed_job(name, chance.randint(2, 6), run_seconds=runs, annotations=annotations)
            case "plain":
                body = plain_job(name, chance.randint(1, 3), run_seconds=runs)
            case "lone":
                body = plain_pod(name, run_seconds=runs)
                body["spec"] |= {"schedulerName": chance.choice(SCHEDULERS), "priorityClassName": priority}
                return body
            case _:
                body = leader_worker_set(name, replicas=chance.randint(1, 2), size=chance.randint(2, 3))
                body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["priorityClassName"] = priority
                return body
        body["spec"]["template"]["spec"]["priorityClassName"] = priority
        return body

    def _delete_any(self) -> Change | None:
        kinds = [kind for kind, names in self._there.items() if len(names) > MOST[kind] // 2]
        return self._delete(self._chance.choice(kinds)) if kinds else None

    def _delete(self, kind: str) -> Change:
        name = self._chance.choice(self._there[kind])
        for names in (self._there[kind], self._suspended, self._elastic):
            if name in names:
                names.remove(name)
        return Change("delete", PLURALS[kind], name)

    # --- what changes ------------------------------------------------------------------------------------------------

    def _scale(self) -> Change | None:
        sets = self._there["set"]
        replicas = {"spec": {"replicas": self._chance.randint(0, 2)}}
        return Change("patch", "leaderworkersets", self._chance.choice(sets), replicas) if sets else None

    def _suspend(self) -> Change | None:
        running = [name for name in self._there["gang"] if name not in self._suspended]
        if not running:
            return None
        self._suspended.append(self._chance.choice(running))
        return Change("patch", "jobs", self._suspended[-1], {"spec": {"suspend": True}})

    def _resume(self) -> Change | None:
        if not self._suspended:
            return None
        name = self._suspended.pop(self._chance.randrange(len(self._suspended)))
        return Change("patch", "jobs", name, {"spec": {"suspend": False}})

    def _resize(self) -> Change | None:
        if not self._elastic:
            return None
        size = self._chance.randint(2, 6)
        spec = {"spec": {"parallelism": size, "completions": size}}
        return Change("patch", "jobs", self._chance.choice(self._elastic), spec)

    def _cordon(self) -> Change | None:
        free = [node for node in self._nodes if node not in self._cordoned]
        if len(self._cordoned) >= MOST_CORDONED or not free:
            return None
        self._cordoned.append(self._chance.choice(free))
        return Change("patch", "nodes", self._cordoned[-1], {"spec": {"unschedulable": True}})

    def _uncordon(self) -> Change | None:
        if not self._cordoned:
            return None
        node = self._cordoned.pop(self._chance.randrange(len(self._cordoned)))
        return Change("patch", "nodes", node, {"spec": {"unschedulable": None}})

    def _touch(self) -> Change:
        """A label changes that means nothing to anybody."""
        known = [("nodes", node) for node in self._nodes]
        known += [(PLURALS[kind], name) for kind, names in self._there.items() for name in names]
        resource, name = self._chance.choice(known)
        return Change("patch", resource, name, {"metadata": {"labels": {"round": str(self._count)}}})
