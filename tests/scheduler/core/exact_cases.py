"""Small mixed gangs by chance, and the slow and obvious answer to whether they have a place.

What a rule about other pods means is said here once more, on plain values and pod by pod, as kube-scheduler checks it: one pod
after the other, each on what is there already.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, Literal

from tests.placement.case import HOSTNAME, ZONE, apart, even, near, selector, spread, term
from tests.scheduler.core.world import World

MANY_LOOKS = 4_000
"""Cases that would take the oracle longer are left out, unless it is given more."""


@dataclass(frozen=True)
class Rule:
    """About pods with the label `app`, inside one value of a node label."""

    kind: Literal["apart", "near", "even"]
    app: str
    key: str
    skew: int = 1
    domains: int = 0


@dataclass(frozen=True)
class Template:
    """Pods that are alike."""

    cpu: int
    memory: int = 0
    app: str = ""
    pool: str = ""
    port: int = 0
    rules: tuple[Rule, ...] = ()

    def of(self, kind: str) -> list[Rule]:
        return [rule for rule in self.rules if rule.kind == kind]


@dataclass(frozen=True)
class Machine:
    """A node; without a zone it has no such label."""

    name: str
    cpu: int
    memory: int
    zone: str = ""
    pool: str = ""

    def value(self, key: str) -> str:
        return self.name if key == HOSTNAME else self.zone


@dataclass(frozen=True)
class Gang:
    """A cluster and the members that wait."""

    machines: tuple[Machine, ...]
    running: tuple[tuple[int, Template], ...]
    """(index of the node, the pod)."""
    members: tuple[Template, ...]
    need: int


def drawn(seed: int, *, most_pods: int = 12, most_nodes: int = 8) -> Gang:
    """A gang by chance; odd seeds have rules about other pods, and of four two have just the room for one way to place it."""
    chance = Random(seed)
    nodes, pods = chance.randint(1, most_nodes), chance.randint(2, most_pods)
    has_memory, has_rules = chance.random() < 0.5, seed % 2 == 1
    largest = chance.choice((3, 5, 9))
    templates = [
        _template(chance, has_memory=has_memory, has_rules=has_rules, largest=largest)
        for _ in range(chance.choice((1, 2, 3, 4, 12)))
    ]
    members = tuple(chance.choice(templates) for _ in range(pods))
    # About as much room as is needed: that is where it is hard.
    share = sum(one.cpu for one in members) / nodes * chance.choice((1.0, 1.05, 1.2, 1.5))
    memory = sum(one.memory for one in members) / nodes * chance.choice((1.05, 1.2, 1.5, 3))
    alike, exactly = chance.random() < 0.3, seed % 4 >= 2
    mine: list[list[Template]] = [[] for _ in range(nodes)]
    for one in members:
        chance.choice(mine).append(one)
    machines = tuple(
        Machine(
            f"n{index}",
            sum(one.cpu for one in mine[index]) + chance.choice((0, 0, 1))
            if exactly
            else max(1, round(share if alike else share * chance.uniform(0.5, 1.5))),
            (
                sum(one.memory for one in mine[index])
                if exactly
                else max(1, round(memory if alike else memory * chance.uniform(0.6, 1.4)))
            )
            if has_memory
            else 64,
            chance.choice(("x", "y", "z", "")) if has_rules else "",
            chance.choice(("", "", "p")),
        )
        for index in range(nodes)
    )
    running = tuple(
        (chance.randrange(nodes), _template(chance, has_memory=False, has_rules=True, largest=1))
        for _ in range(chance.choice((0, 0, 1, 3)) if has_rules else 0)
    )
    need = pods if chance.random() < 0.8 else chance.randint(1, pods)
    return Gang(machines, running, members, need)


def _template(chance: Random, *, has_memory: bool, has_rules: bool, largest: int) -> Template:
    return Template(
        cpu=chance.randint(1, largest),
        memory=chance.randint(1, largest) if has_memory else 0,
        app=chance.choice("ab") if has_rules else "",
        pool="p" if chance.random() < 0.1 else "",
        port=8080 if chance.random() < 0.05 else 0,
        rules=tuple(_rules(chance)) if has_rules else (),
    )


def _rules(chance: Random) -> Iterator[Rule]:
    key = chance.choice((HOSTNAME, ZONE))
    kind = chance.choice(("", "apart", "near", "even", "even", "apart"))
    app = chance.choice("ab")
    if kind == "even":
        yield Rule("even", app, key, chance.choice((1, 1, 2)), chance.choice((0, 0, 2)))
        if chance.random() < 0.2:
            yield Rule("even", app, ZONE if key == HOSTNAME else HOSTNAME)
    elif kind == "apart":
        yield Rule("apart", app, key)
        if chance.random() < 0.2:
            yield Rule("near", chance.choice("ab"), ZONE)
    elif kind == "near":
        yield Rule("near", app, key)
        if chance.random() < 0.2:
            yield Rule("apart", chance.choice("ab"), ZONE)


def world_of(gang: Gang) -> World:
    """A cluster in which the gang waits."""
    world = World()
    for machine in gang.machines:
        labels = {HOSTNAME: machine.name}
        if machine.zone:
            labels[ZONE] = machine.zone
        if machine.pool:
            labels["pool"] = machine.pool
        taken = [one for at, one in gang.running if gang.machines[at] is machine]
        world.node(
            machine.name,
            cpu=machine.cpu + sum(one.cpu for one in taken),
            memory=f"{machine.memory}Gi",
            labels=labels,
        )
    for index, (at, template) in enumerate(gang.running):
        world.pod(f"r-{index}", on=gang.machines[at].name, scheduler="other", **_manifest(template))
    world.group("g", gang.need)
    for index, template in enumerate(gang.members):
        world.pod(f"g-{index:02}", group="g", **_manifest(template))
    return world


def _manifest(template: Template) -> dict[str, Any]:
    spec: dict[str, Any] = {"affinity": {}}
    spec |= spread(*(_constraint(rule) for rule in template.of("even")))
    if template.of("apart"):
        spec["affinity"] |= apart(*(_term(rule) for rule in template.of("apart")))["affinity"]
    if template.of("near"):
        spec["affinity"] |= near(*(_term(rule) for rule in template.of("near")))["affinity"]
    if template.pool:
        spec["nodeSelector"] = {"pool": template.pool}
    requests = {"cpu": str(template.cpu)} | ({"memory": f"{template.memory}Gi"} if template.memory else {})
    port = template.port
    more: dict[str, Any] = {"ports": [{"hostPort": port, "containerPort": port}]} if port else {}
    return {"requests": requests, "labels": {"app": template.app} if template.app else {}, "spec": spec, **more}


def _term(rule: Rule) -> dict[str, Any]:
    return term(selector(app=rule.app), rule.key)


def _constraint(rule: Rule) -> dict[str, Any]:
    more: dict[str, Any] = {"minDomains": rule.domains} if rule.domains else {}
    return even(selector(app=rule.app), rule.key, skew=rule.skew, **more)


@dataclass
class Scene:
    """Pods on nodes, one after the other."""

    gang: Gang
    pods: list[tuple[int, Template]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pods.extend(self.gang.running)
        self._cpu = [machine.cpu for machine in self.gang.machines]
        self._memory = [machine.memory for machine in self.gang.machines]

    @property
    def free_cpu(self) -> int:
        """In sum."""
        return sum(self._cpu)

    def put(self, pod: Template, node: int) -> None:
        self.pods.append((node, pod))
        self._cpu[node] -= pod.cpu
        self._memory[node] -= pod.memory

    def take_back(self) -> None:
        node, pod = self.pods.pop()
        self._cpu[node] += pod.cpu
        self._memory[node] += pod.memory

    def allows(self, pod: Template, node: int) -> bool:
        """Whether the node takes one more pod now."""
        if pod.cpu > self._cpu[node] or pod.memory > self._memory[node]:
            return False
        if pod.pool and self.gang.machines[node].pool != pod.pool:
            return False
        if pod.port and any(at == node and other.port == pod.port for at, other in self.pods):
            return False
        return not pod.app or (self._is_apart(pod, node) and self._is_near(pod, node) and self._is_even(pod, node))

    def _together(self, node: int, other: int, key: str) -> bool:
        value = self.gang.machines[node].value(key)
        return bool(value) and value == self.gang.machines[other].value(key)

    def _is_apart(self, pod: Template, node: int) -> bool:
        for at, other in self.pods:
            if any(rule.app == other.app and self._together(node, at, rule.key) for rule in pod.of("apart")):
                return False
            if any(rule.app == pod.app and self._together(node, at, rule.key) for rule in other.of("apart")):
                return False
        return True

    def _is_near(self, pod: Template, node: int) -> bool:
        rules = pod.of("near")
        if not all(self.gang.machines[node].value(rule.key) for rule in rules):
            return False
        chosen = [at for at, other in self.pods if all(rule.app == other.app for rule in rules)]
        if all(any(self._together(node, at, rule.key) for at in chosen) for rule in rules):
            return True
        is_somewhere = any(self.gang.machines[at].value(rule.key) for at in chosen for rule in rules)
        return not is_somewhere and all(rule.app == pod.app for rule in rules)

    def _is_even(self, pod: Template, node: int) -> bool:
        rules, machines = pod.of("even"), self.gang.machines
        counting = [
            at
            for at, machine in enumerate(machines)
            if all(machine.value(rule.key) for rule in rules) and (not pod.pool or machine.pool == pod.pool)
        ]
        for rule in rules:
            if not machines[node].value(rule.key):
                return False
            counts = {machines[at].value(rule.key): 0 for at in counting}
            for at, other in self.pods:
                if at in counting and other.app == rule.app:
                    counts[machines[at].value(rule.key)] += 1
            least = min(counts.values(), default=0) if len(counts) >= max(rule.domains, 1) else 0
            here = counts.get(machines[node].value(rule.key), 0)
            if here + (rule.app == pod.app) - least > rule.skew:
                return False
        return True


class TooLongError(Exception):
    """The oracle would take too long."""


class Oracle:
    """Every pod on every node in every order, as far as that is not the same once more."""

    def __init__(self, gang: Gang, most_looks: int = MANY_LOOKS) -> None:
        self._gang = gang
        self._most_looks = most_looks
        self._scene = Scene(gang)
        self._kinds = sorted(set(gang.members), key=lambda one: (-one.cpu, -one.memory, repr(one)))
        self._left = [gang.members.count(kind) for kind in self._kinds]
        self._looks = 0
        self._failed: set[tuple[Any, ...]] = set()
        self._on: list[list[int]] = [[] for _ in gang.machines]

    @cached_property
    def has_place(self) -> bool:
        """Whether enough members can be placed."""
        if any(rule.kind != "apart" for kind in self._kinds for rule in kind.rules):
            return self._in_any_order(0)
        return self._in_one_order(0, 0)

    def _in_any_order(self, placed: int) -> bool:
        if placed == self._gang.need:
            return True
        if self._is_hopeless(placed, placed):
            return False
        return any(
            self._with(kind, node, lambda: self._in_any_order(placed + 1))
            for kind in range(len(self._kinds))
            for node in range(len(self._gang.machines))
        )

    def _in_one_order(self, kind: int, placed: int) -> bool:
        """Without affinity and spreads the order is all the same."""
        if placed == self._gang.need:
            return True
        if (
            kind == len(self._kinds)
            or placed + sum(self._left[kind:]) < self._gang.need
            or self._is_hopeless(kind, placed)
        ):
            return False
        if self._left[kind] and any(
            self._with(kind, node, lambda: self._in_one_order(kind, placed + 1))
            for node in range(len(self._gang.machines))
        ):
            return True
        return self._in_one_order(kind + 1, placed)

    def _is_hopeless(self, at: int, placed: int) -> bool:
        """Whether this was seen before, or there are fewer cores than even the smallest would need."""
        self._looks += 1
        if self._looks > self._most_looks:
            raise TooLongError
        left = sorted(kind.cpu for kind, count in zip(self._kinds, self._left, strict=True) for _ in range(count))
        if sum(left[: self._gang.need - placed]) > self._scene.free_cpu:
            return True
        key = (at, *self._left, *(tuple(sorted(on)) for on in self._on))
        if key in self._failed:
            return True
        self._failed.add(key)
        return False

    def _with(self, kind: int, node: int, then: Any) -> bool:
        if not self._left[kind] or not self._scene.allows(self._kinds[kind], node):
            return False
        self._left[kind] -= 1
        self._scene.put(self._kinds[kind], node)
        self._on[node].append(kind)
        found: bool = then()
        self._on[node].remove(kind)
        self._scene.take_back()
        self._left[kind] += 1
        return found


def can_have_come(gang: Gang, nodes: dict[int, int]) -> bool:
    """Whether members (by index, with the index of their node) can have come in some order."""
    scene, failed = Scene(gang), set[frozenset[int]]()

    def rest(left: frozenset[int]) -> bool:
        if not left:
            return True
        if left in failed:
            return False
        for index in left:
            if scene.allows(gang.members[index], nodes[index]):
                scene.put(gang.members[index], nodes[index])
                found = rest(left - {index})
                scene.take_back()
                if found:
                    return True
        failed.add(left)
        return False

    return rest(frozenset(nodes))
