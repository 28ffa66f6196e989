"""Room that is spoken for: what a preemption frees is held for the one it was freed for (its nominations).

Room is held against everybody of lower or equal priority, never against higher ones, who make the claim void by taking it. A
claim ends when its pods have their places, when it turns out not to be possible any more, or when its item is gone.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from scheduler.state.demand import Demand
from scheduler.state.records import ItemKey


class Claim:
    """The places of one item, and the pods that leave so that these become free."""

    __slots__ = ("deadline_seconds", "evicted", "has_started", "key", "places", "priority", "serial", "victims")

    def __init__(
        self,
        serial: int,
        key: ItemKey,
        priority: int,
        places: dict[str, tuple[str, Demand]],
        victims: frozenset[str],
        deadline_seconds: float,
    ) -> None:
        self.serial: Final = serial
        """Tells this claim from any other of the same item."""
        self.key: Final = key
        self.priority: Final = priority
        self.places: Final = places
        """Pod UID -> (node name, demand); a pod that is bound or assumed leaves this table."""
        self.victims: Final = victims
        """UIDs of the pods that leave for it."""
        self.deadline_seconds = deadline_seconds
        self.has_started = False
        """A pod of it got a place, so what left for it did not leave in vain."""
        self.evicted = 0
        """Deletes that were carried out for it."""


class Claims:
    """All claims, at most one per item."""

    def __init__(self) -> None:
        self._claims: dict[ItemKey, Claim] = {}
        self._serial = 0

    def __len__(self) -> int:
        return len(self._claims)

    def __iter__(self) -> Iterator[Claim]:
        return iter(list(self._claims.values()))

    def put(
        self,
        key: ItemKey,
        priority: int,
        places: dict[str, tuple[str, Demand]],
        victims: frozenset[str],
        deadline_seconds: float,
    ) -> Claim:
        """Claims these places in the place of whatever the item claimed before."""
        self._serial += 1
        claim = self._claims[key] = Claim(self._serial, key, priority, places, victims, deadline_seconds)
        return claim

    def of(self, key: ItemKey) -> Claim | None:
        """The claim of an item."""
        return self._claims.get(key)

    def restore(self, claim: Claim) -> None:
        """Takes a claim up again that was dropped."""
        self._claims[claim.key] = claim

    def drop(self, key: ItemKey) -> Claim | None:
        """Gives the places of an item up; returns what was given up."""
        return self._claims.pop(key, None)

    def settled(self, pod_uid: str, *, has_place: bool = False) -> None:
        """A pod has its place, or is gone: it claims none."""
        for claim in self._claims.values():
            if claim.places.pop(pod_uid, None) is not None:
                claim.has_started |= has_place

    def against(self, key: ItemKey, priority: int) -> dict[str, Counter[Demand]]:
        """What is held on which node against an item of that priority."""
        held: dict[str, Counter[Demand]] = {}
        for claim in self._claims.values():
            if claim.key == key or claim.priority < priority:
                continue
            for node, demand in claim.places.values():
                held.setdefault(node, Counter())[demand] += 1
        return held

    def victims(self) -> frozenset[str]:
        """Everybody who leaves for somebody."""
        return frozenset().union(*(claim.victims for claim in self._claims.values()))
