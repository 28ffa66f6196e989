"""Small clusters and gangs by chance, and what looking at everything says of them.

Members are equal, so what a node set with room for all of them costs is all that has to be looked at: 256 sets of eight nodes.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from tests.scheduler.core.world import World
from tests.scheduler.levels.build import LEVELS, gang, members, node

MOST_NODES = 8
_names = st.sampled_from("xyz")


class Case(NamedTuple):
    """A cluster and a gang.

    Attributes:
        paths: (block, rack, shelf) by node.
        rooms: members that each node has room for, those that run included.
        running: index of the node by rank, of members that run.
        waiting: ranks that wait.
        need: the minimum.
        required: how many of the levels are required; the others are preferred.
        slice_size: 0 for no slices.
        slice_level: of slices.
    """

    paths: Sequence[tuple[str, ...]]
    rooms: Sequence[int]
    running: dict[int, int]
    waiting: Sequence[int]
    need: int
    required: int
    slice_size: int = 0
    slice_level: int = 1

    @property
    def left(self) -> list[int]:
        """Members that each node has room for beside those that run."""
        used = list(self.running.values())
        return [room - used.count(index) for index, room in enumerate(self.rooms)]

    def domain(self, index: int, level: int) -> tuple[str, ...]:
        """The domain of a level that a node is in."""
        return self.paths[index][: level + 1]

    def required_domains(self) -> Iterator[list[int]]:
        """The nodes of each domain of the narrowest required level that may be used."""
        if not self.required:
            yield list(range(len(self.paths)))
            return
        level = self.required - 1
        pins = {self.domain(index, level) for index in self.running.values()}
        for one in sorted({self.domain(index, level) for index in range(len(self.paths))}):
            if pins <= {one}:
                yield [index for index in range(len(self.paths)) if self.domain(index, level) == one]


@st.composite
def cases(draw: st.DrawFn, *, slices: bool = False, runs: bool = True) -> Case:
    """Any case; gangs that run do so inside one domain of each required level, and their slices are not torn."""
    paths = draw(st.lists(st.tuples(_names, _names, _names), min_size=1, max_size=MOST_NODES))
    rooms = draw(st.lists(st.integers(0, 4), min_size=len(paths), max_size=len(paths)))
    size = draw(st.integers(1, 10))
    required = draw(st.integers(0, 3))
    slice_size, slice_level = (draw(st.integers(1, 4)), draw(st.integers(0, 2))) if slices else (0, 1)
    case = Case(paths, rooms, {}, (), 1, required, slice_size, slice_level)
    running: dict[int, int] = {}
    for rank in sorted(draw(st.sets(st.integers(0, size - 1), max_size=3))) if runs else ():
        index = draw(st.sampled_from(range(len(paths))))
        if _may_run(case, running, rank, index):
            running[rank] = index
    waiting = [rank for rank in range(size) if rank not in running]
    need = draw(st.integers(1, size))
    return case._replace(running=running, waiting=waiting, need=need)


def _may_run(case: Case, running: dict[int, int], rank: int, index: int) -> bool:
    if list(running.values()).count(index) >= case.rooms[index]:
        return False
    near = running.values() if case.required else ()
    mates = [
        other for one, other in running.items() if case.slice_size and one // case.slice_size == rank // case.slice_size
    ]
    level = case.required - 1
    return all(case.domain(other, level) == case.domain(index, level) for other in near) and all(
        case.domain(other, case.slice_level) == case.domain(index, case.slice_level) for other in mates
    )


APART = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "g"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
}


def world_of(case: Case, sizes: Sequence[int] = (), *, are_apart: bool = False, has_preferred: bool = True) -> World:
    """The same for the scheduler: the name of a node ends with its index.

    Args:
        case: what is there.
        sizes: CPUs by rank of members that wait, 1 each by default.
        are_apart: no two of these share a node.
        has_preferred: the other levels are preferred; else nothing is said of them.
    """
    world = World()
    names = [node(world, "/".join(path), index, cpu=max(case.rooms[index], 1)) for index, path in enumerate(case.paths)]
    for index, name in enumerate(names):
        if not case.rooms[index]:
            world.pod(f"full-{index}", on=name, scheduler="other")
    levels = [key if at < case.required else f"preferred:{key}" for at, key in enumerate(LEVELS)]
    levels = levels if has_preferred else levels[: case.required]
    gang(world, "g", case.need, ", ".join(levels), slice_size=case.slice_size, slice_key=LEVELS[case.slice_level])
    for rank, index in case.running.items():
        members(world, "g", [rank], on=names[index])
    for rank in case.waiting:
        labels, spec = ({"app": "g"}, APART) if are_apart else ({}, {})
        members(world, "g", [rank], cpu=sizes[rank] if sizes else 1, more_labels=labels, spec=spec)
    return world


def index_of(name: str) -> int:
    """The index of a node by its name."""
    return int(name.rsplit("-", 1)[1])


def missing(case: Case) -> int:
    """Members that must get a place together."""
    return max(case.need - len(case.running), 1)


def most_placed(case: Case) -> int:
    """No placement without slices has more of the waiting members."""
    rooms = (sum(case.left[index] for index in inside) for inside in case.required_domains())
    return min(len(case.waiting), max(rooms, default=0))


def fewest_domains(case: Case) -> tuple[int, ...]:
    """By preferred level, widest first: the domains in use in the best placement of all members, those that run included."""
    left, count = case.left, len(case.waiting)
    found = []
    for inside in case.required_domains():
        for chosen in _subsets(inside):
            if sum(left[index] for index in chosen) >= count:
                used = {*chosen, *case.running.values()}
                found.append(tuple(len({case.domain(one, level) for one in used}) for level in range(case.required, 3)))
    return min(found)


def _subsets(indices: Sequence[int]) -> Iterator[list[int]]:
    for bits in range(1 << len(indices)):
        yield [index for at, index in enumerate(indices) if bits >> at & 1]


def most_in_slices(case: Case) -> int:
    """No placement has more of the waiting members, each slice inside one domain of its level."""
    best = 0
    for inside in case.required_domains():
        rooms: dict[tuple[str, ...], int] = {}
        for index in inside:
            where = case.domain(index, case.slice_level)
            rooms[where] = rooms.get(where, 0) + case.left[index]
        best = max(best, _most_in(case, rooms))
    return best


def _most_in(case: Case, rooms: dict[tuple[str, ...], int]) -> int:
    """Slices take their room one after the other, in every possible home; what is left of the rooms is all that matters then."""
    order, total = list(rooms), sum(rooms.values())
    left = {tuple(rooms.values())}
    for number in sorted({rank // case.slice_size for rank in case.waiting}):
        size = sum(rank // case.slice_size == number for rank in case.waiting)
        homes = [order.index(home) if home in rooms else None for home in _homes(case, number, rooms)]
        left = {_with_less(before, home, size) for before in left for home in homes}
    return max((total - sum(rest) for rest in left), default=0)


def _with_less(rooms: tuple[int, ...], home: int | None, size: int) -> tuple[int, ...]:
    return tuple(room - min(size, room) if at == home else room for at, room in enumerate(rooms))


def _homes(case: Case, number: int, rooms: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    pins = {
        case.domain(index, case.slice_level)
        for rank, index in case.running.items()
        if rank // case.slice_size == number
    }
    yield from pins or rooms
