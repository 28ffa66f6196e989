"""A made-up cluster for the page: as many nodes and gangs as asked for, in all states, and what may happen to them next."""

import random as randomness
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from api.constants import CONDITION_SCHEDULED
from api.meta import Condition, Metadata, OwnerReference
from api.podgroup import GangPolicy, PodGroup, PodGroupSpec, PodGroupStatus, SchedulingPolicy
from views.model.eviction import EvictionEvent, Reference
from views.model.objects import BY_GROUP, Objects
from views.model.records import Machine, Member
from views.page.state import PageState

GIB: Final = 2**30
_NODE: Final = {"cpu": 64_000, "memory": 512 * GIB, "nvidia.com/gpu": 8, "pods": 110}
_WHY: Final = (
    "0/{nodes} nodes are available: {some} Insufficient nvidia.com/gpu, {rest} node(s) had untolerated taint(s)."
)
_WORDS: Final = ("train", "tune", "eval", "render", "fold", "sweep", "serve", "index")


@dataclass(slots=True)
class MadeUp:
    """A cluster that nobody runs; `state` is told of all that happens in it."""

    objects: Objects
    state: PageState
    random: randomness.Random
    nodes: int
    version: int = 0
    last: int = 0
    free: list[int] = field(default_factory=list)

    def fill(self, gangs: int) -> None:
        """Nodes, and gangs until two thirds run."""
        for number in range(self.nodes):
            self.free.append(_NODE["nvidia.com/gpu"])
            closed = self.random.random() < 0.01
            metadata = Metadata(name=f"node-{number:04d}", uid=f"node-{number}")
            self.objects.nodes.put(Machine(metadata, _NODE, closed))
        for number in range(gangs):
            self._gang(number, is_running=number < gangs * 2 // 3)
        self.state.everything_changed()

    def step(self) -> None:
        """Something happens: a gang starts, or ends, or has to leave."""
        group = self.random.choice(self.objects.groups.all())
        members = self.objects.members.by_index(BY_GROUP, group.metadata.key)
        if not members[0].node:
            self._place(group, members)
        elif self.random.random() < 0.3:
            self._evict(group, members)
        else:
            for member in (each for each in members if each.node):
                self.free[_number(member.node)] += member.requests["nvidia.com/gpu"]
                self._put(member, node="", phase="Pending", is_preempted=False)

    def remove_gang(self, number: int) -> None:
        """Somebody deletes a gang; its pods stay a little longer."""
        group = self.objects.groups.by_uid(f"group-{number}")
        if group is not None:
            self.objects.groups.remove(*group.metadata.key)
            self.state.changed("group", group, None)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _gang(self, number: int, *, is_running: bool) -> None:
        random = self.random
        size = random.choice([2, 4, 8, 8, 16, 16, 32, 64])
        team = f"team-{random.randrange(12)}"
        job = f"{random.choice(_WORDS)}-{number}"
        created = _time(timedelta(seconds=random.randrange(20, 280)))
        condition = Condition(
            CONDITION_SCHEDULED, "True", "Scheduled", "", _time(timedelta(seconds=random.randrange(20)))
        )
        if not is_running:
            some = random.randrange(self.nodes)
            said = _WHY.format(nodes=self.nodes, some=some, rest=self.nodes - some)
            condition = Condition(CONDITION_SCHEDULED, "False", "Unschedulable", said, created)
        group = PodGroup(
            Metadata(
                name=f"{job}-workers",
                namespace=team,
                uid=f"group-{number}",
                resource_version="1",
                creation_timestamp=created,
                owner_references=(OwnerReference("batch/v1", "Job", job, f"job-{number}", controller=True),),
            ),
            PodGroupSpec(
                scheduling_policy=SchedulingPolicy(gang=GangPolicy(size)), priority=random.choice([0, 0, 10, 100])
            ),
            PodGroupStatus((condition,)),
        )
        self.objects.groups.put(group)
        gpus = random.choice([1, 1, 2, 4])
        needs = {"cpu": 6_000 * gpus, "memory": 48 * GIB * gpus, "nvidia.com/gpu": gpus, "pods": 1}
        for index in range(size):
            node = self._node_for(gpus) if is_running else ""
            metadata = Metadata(
                name=f"{job}-{index}", namespace=team, uid=f"pod-{number}-{index}", creation_timestamp=created
            )
            phase = "Running" if node else "Pending"
            self.objects.members.put(
                Member(metadata, f"{job}-workers", "Job", job, node=node, phase=phase, requests=needs)
            )

    def _node_for(self, gpus: int) -> str:
        """The next node with room from the last one or a random one on; none when the cluster is full."""
        at = self.last if self.random.random() < 0.9 else self.random.randrange(self.nodes)
        if max(self.free) < gpus:
            return ""
        while self.free[at] < gpus:
            at = (at + 1) % self.nodes
        self.free[at] -= gpus
        self.last = at
        return f"node-{at:04d}"

    def _place(self, group: PodGroup, members: list[Member]) -> None:
        for member in members:
            node = self._node_for(member.requests["nvidia.com/gpu"])
            self._put(member, node=node, phase="Running" if node else "Pending")
        scheduled = Condition(CONDITION_SCHEDULED, "True", "Scheduled", "", _time(timedelta()))
        new = msgspec.structs.replace(group, status=PodGroupStatus((scheduled,)))
        self.objects.groups.put(new)
        self.state.changed("group", group, new)

    def _evict(self, group: PodGroup, members: list[Member]) -> None:
        other = self.random.choice(self.objects.groups.all()).metadata
        for member in members:
            self._put(member, is_preempted=True)
        self.version += 1
        event = EvictionEvent(
            Metadata(name=f"e-{self.version}", uid=f"e-{self.version}"),
            event_time=_time(timedelta()),
            regarding=Reference("Pod", group.metadata.namespace, members[0].metadata.name, members[0].metadata.uid),
            related=Reference("PodGroup", other.namespace, other.name, other.uid),
        )
        self.state.changed("eviction", None, event)

    def _put(self, member: Member, **changes: Any) -> None:
        new = msgspec.structs.replace(member, **changes)
        self.objects.members.put(new)
        self.state.changed("pod", member, new)


def _time(before: timedelta) -> str:
    return (datetime.now(UTC) - before).isoformat()


def _number(node: str) -> int:
    return int(node.rpartition("-")[2])
