"""One try to place the members of an item: what came of it, and how many more there may be."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from scheduler.algorithm.overlay import Placed
from scheduler.algorithm.snapshot import SnapshotOverlay
from scheduler.cache.pod_signature import PodsBySignature, PodSignature
from scheduler.plugins.status import Certainty


class Part(NamedTuple):
    """Places for certain members: UIDs by signature, in the order of their ranks, and where they go."""

    uids: Mapping[PodSignature, Sequence[str]]
    placed: Sequence[Placed]


class Attempt:
    """The outcome of one try.

    Attributes:
        snapshot: the snapshot with the placed pods on it.
        placed: pods by signature and node slot.
        total: how many pods were placed.
        certainty: whether another try might place enough, where this one has not.
        incomplete_reason: why it might, a clause of the message that people read; empty when none can.
        domain: the value of the topology label inside which the pods are, empty without one.
        parts: which members the places are for, where they are not for any of their signature; None where they are.
    """

    __slots__ = ("_counts", "certainty", "domain", "incomplete_reason", "parts", "placed", "snapshot", "total")

    def __init__(self, snapshot: SnapshotOverlay, placed: list[Placed]) -> None:
        self.snapshot: Final = snapshot
        self.placed: Final = placed
        self.total: Final = sum([part.total for part in placed])
        self._counts: Counter[PodSignature] | None = None
        self.certainty = Certainty.COUNTED
        self.incomplete_reason = ""
        self.domain = ""
        self.parts: Sequence[Part] | None = None

    def count(self, signature: PodSignature) -> int:
        """How many members of a signature got a node."""
        if self._counts is None:
            self._counts = Counter()
            for part in self.placed:
                self._counts[part.signature] += part.total
        return self._counts[signature]


class AttemptBudget:
    """How many pods may still be placed tentatively before giving up on further ways, shared by the attempts of one decision."""

    __slots__ = ("pods",)

    def __init__(self, pending: PodsBySignature) -> None:
        """Enough for a few orders of a large group and for very many of a small one."""
        self.pods = 1000 + 3 * sum(pending.values())
