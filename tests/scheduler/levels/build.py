"""Nodes in blocks, racks and shelves, gangs that ask for them, and what can be seen of where their members went."""

from collections.abc import Iterable, Sequence
from typing import Any

from api.constants import SLICE_SIZE, SLICE_TOPOLOGY, TOPOLOGY
from scheduler.algorithm.decision import Decision
from scheduler.algorithm.schedule_pod_group import decide
from tests.scheduler.core import build
from tests.scheduler.core.world import World

BLOCK, RACK, SHELF = "example.com/block", "example.com/rack", "example.com/shelf"
LEVELS = (BLOCK, RACK, SHELF)
RANK = "batch.kubernetes.io/job-completion-index"


def node(world: World, path: str, index: int = 0, *, cpu: int = 1, **more: Any) -> str:
    """A node at `block/rack/shelf`, or less of it; its name."""
    name = f"{path.replace('/', '-')}-{index}"
    world.node(name, cpu=cpu, labels=dict(zip(LEVELS, path.split("/"), strict=False)), **more)
    return name


def nodes(world: World, **cpus: Sequence[int]) -> None:
    """Nodes by path, with `_` for the slash: so many CPUs each."""
    for path, sizes in cpus.items():
        for index, cpu in enumerate(sizes):
            node(world, path.replace("_", "/"), index, cpu=cpu)


def gang(
    world: World,
    name: str,
    need: int,
    topology: str = "",
    *,
    slice_size: int = 0,
    slice_key: str = RACK,
    **more: Any,
) -> None:
    """A gang that asks for levels, as its annotation says them, and slices."""
    said = {TOPOLOGY: topology} if topology else {}
    if slice_size:
        said |= {SLICE_SIZE: str(slice_size), SLICE_TOPOLOGY: slice_key}
    world.group(name, need, annotations=said, **more)


def members(
    world: World, group: str, ranks: Iterable[int], *, more_labels: dict[str, str] | None = None, **more: Any
) -> None:
    """Members with these ranks."""
    for rank in ranks:
        world.pod(f"{group}-{rank}", group=group, labels={RANK: str(rank), **(more_labels or {})}, **more)


def placed(world: World, group: str) -> dict[int, str]:
    """Nodes by rank, of members that have one."""
    return {int(name.rsplit("-", 1)[1]): node for name, node in sorted(world.bound(group).items())}


def told(world: World, group: str) -> Decision:
    """The decision for a group, which nobody carries out."""
    return decide(world.state, build.group_key(group))


def ranks_of(decision: Decision) -> dict[int, str]:
    """Nodes by rank, as a decision says them."""
    return {int(uid.rsplit("-", 1)[1]): node for uid, node in decision.bindings}


def domains(world: World, names: Iterable[str], level: int) -> set[tuple[str, ...]]:
    """The domains of a level that these nodes are in; a node without the label is one of its own."""
    return {domain(world, name, level) for name in names}


def domain(world: World, name: str, level: int) -> tuple[str, ...]:
    """The domain of a level that a node is in: the values of its label and all wider ones."""
    facts = world.state.nodes.facts[world.state.nodes.slot_of[name]]
    assert facts is not None
    return tuple(facts.label(key) or f"without, {name}" for key in LEVELS[: level + 1])


def cut_edges(world: World, by_rank: dict[int, str], level: int) -> int:
    """Pairs of neighbouring ranks in different domains of a level."""
    return sum(
        domain(world, by_rank[rank], level) != domain(world, by_rank[rank + 1], level)
        for rank in by_rank
        if rank + 1 in by_rank
    )
