"""What is to be searched, as plain numbers: kinds of pods, nodes, and the numbers that rules about other pods look at.

Sets of nodes are whole numbers with a bit for each node, in the order of `Problem.free`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple


class Spread(NamedTuple):
    """A topology spread constraint that members can change."""

    group: int
    values: tuple[int, ...]
    """The values among which the one with the fewest pods is looked for."""
    max_skew: int
    min_domains: int
    counts_itself: bool


class Role(NamedTuple):
    """What a kind is to other pods; kinds with the same role can stand in for each other where amounts allow it."""

    excludes: tuple[int, ...] = ()
    """Groups that must have nobody where the pod goes."""
    needs: tuple[int, ...] = ()
    """Groups that must have somebody where the pod goes; all of them."""
    may_be_first: bool = False
    """It goes anywhere with the labels while its `needs` have nobody at all."""
    spreads: tuple[Spread, ...] = ()
    effects: tuple[tuple[int, int], ...] = ()
    """(group, what one pod adds to its value)."""
    ports: tuple[int, ...] = ()
    """Numbers of kinds that cannot be on the same node."""

    @property
    def depends_on_order(self) -> bool:
        """Whether it can be allowed only after others, or only before them."""
        return bool(self.needs or self.spreads)


class Kind(NamedTuple):
    """Pods that nothing tells apart."""

    pods: int
    amounts: tuple[int, ...]
    """By resource of the problem, 0 where it asks for nothing."""
    nodes: int
    """The nodes that can take one as long as no member is placed, or will never refuse it for what runs already."""
    role: Role = Role()


class Group(NamedTuple):
    """A number for each value of a node label; value 0 stands for nodes without the label and counts nobody."""

    values: tuple[int, ...]
    """By node: its value."""
    counted: tuple[int, ...]
    """By node: the value where pods on it are counted, 0 if they are not."""
    sums: tuple[int, ...]
    """By value, before any member is placed."""


class Problem(NamedTuple):
    """At least `wanted` pods of these kinds, one or more, are to be placed, one after the other in some order."""

    wanted: int
    kinds: tuple[Kind, ...]
    free: tuple[tuple[int, ...], ...]
    """By node and resource; negative where too much is taken already."""
    classes: tuple[int, ...]
    """By node: equal for nodes that rules about other pods do not tell apart while no member is on them."""
    groups: tuple[Group, ...] = ()

    @property
    def pods(self) -> int:
        """How many there are."""
        return sum(kind.pods for kind in self.kinds)


def bits(nodes: int) -> Iterable[int]:
    """The members of a set of nodes, ascending."""
    return _FEW[nodes] if nodes < len(_FEW) else _bits(nodes)


def _bits(nodes: int) -> Iterator[int]:
    while nodes:
        lowest = nodes & -nodes
        yield lowest.bit_length() - 1
        nodes ^= lowest


_FEW: Final = tuple(tuple(_bits(nodes)) for nodes in range(256))
"""The members of each set of the first eight nodes: small problems are asked for the same ones all the time."""


def set_of(nodes: Sequence[bool]) -> int:
    """The set of those that are true."""
    return int("".join("1" if one else "0" for one in reversed(nodes)) or "0", 2)
