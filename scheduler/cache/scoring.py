"""How a profile scores nodes: what each score weighs, which resources count, and whether pods spread or pack.

Names and meaning are those of kube-scheduler's plugins. `DEFAULT` is its default profile; a value, shared by all pods of one
profile and compared by identity.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

Strategy = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]

CPU_AND_MEMORY: Final[Mapping[str, int]] = {"cpu": 1, "memory": 1}


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """What each score weighs; 0 switches it off."""

    node_resources_fit: int = 1
    balanced_allocation: int = 1
    image_locality: int = 1
    inter_pod_affinity: int = 2
    node_affinity: int = 2
    pod_topology_spread: int = 2
    taint_toleration: int = 3
    volume_binding: int = 1


class Scoring(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The scores of one profile.

    Attributes:
        weights: of all scores.
        strategy: of NodeResourcesFit.
        resources: that NodeResourcesFit looks at, with their weights.
        ratio: (percent of the resource in use, score of 0..100), ascending; for RequestedToCapacityRatio.
        balanced: the resources that should be used alike.
    """

    weights: Weights = Weights()
    strategy: Strategy = "LeastAllocated"
    resources: Mapping[str, int] = msgspec.field(default_factory=lambda: CPU_AND_MEMORY)
    ratio: tuple[tuple[int, int], ...] = ()
    balanced: tuple[str, ...] = tuple(CPU_AND_MEMORY)

    @property
    def names(self) -> tuple[str, ...]:
        """Every resource that is looked at."""
        return tuple(dict.fromkeys((*self.resources, *self.balanced)))

    @property
    def is_usual(self) -> bool:
        """Whether amounts are scored as in the default profile, weights included."""
        return (
            self.strategy == "LeastAllocated"
            and self.resources == CPU_AND_MEMORY
            and self.balanced == tuple(CPU_AND_MEMORY)
            and self.weights.node_resources_fit == self.weights.balanced_allocation == 1
        )


DEFAULT: Final = Scoring()
