"""Profiles: what one scheduler name stands for. One process serves all of them with one queue.

    profiles:
      - scheduler_name: tutti-packed
        resources_fit:
          strategy: MostAllocated
          resources: {cpu: 1, memory: 1, nvidia.com/gpu: 5}

Whatever a profile does not say is as in kube-scheduler's default profile. Scores have the names of kube-scheduler's plugins.
"""

from itertools import pairwise
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from kube.process.settings import StrictSettings
from scheduler.cache.scoring import CPU_AND_MEMORY, Scoring, Weights

LARGEST_WEIGHT = 100
MAX_POINT_SCORE = 10
_FIELDS = {
    "ImageLocality": "image_locality",
    "InterPodAffinity": "inter_pod_affinity",
    "NodeAffinity": "node_affinity",
    "NodeResourcesBalancedAllocation": "balanced_allocation",
    "NodeResourcesFit": "node_resources_fit",
    "PodTopologySpread": "pod_topology_spread",
    "TaintToleration": "taint_toleration",
    "VolumeBinding": "volume_binding",
}
_SCORE_OF_POINT = 100 // MAX_POINT_SCORE

Score = Literal[
    "ImageLocality",
    "InterPodAffinity",
    "NodeAffinity",
    "NodeResourcesBalancedAllocation",
    "NodeResourcesFit",
    "PodTopologySpread",
    "TaintToleration",
    "VolumeBinding",
]


class ShapePoint(StrictSettings):
    """One point of the line of RequestedToCapacityRatio."""

    utilization: int = Field(ge=0, le=100)
    """Percent of the resource in use."""

    score: int = Field(ge=0, le=MAX_POINT_SCORE)
    """How good that is."""


class ResourcesFit(StrictSettings):
    """How full nodes should be."""

    strategy: Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] = "LeastAllocated"
    """LeastAllocated spreads pods, MostAllocated packs them, RequestedToCapacityRatio follows `shape`."""

    resources: dict[str, int] = Field(dict(CPU_AND_MEMORY), min_length=1)
    """The resources that count, with their weights (1 to 100)."""

    shape: tuple[ShapePoint, ...] = ()
    """From the emptiest to the fullest; only for RequestedToCapacityRatio."""

    @field_validator("resources")
    @classmethod
    def _weights(cls, resources: dict[str, int]) -> dict[str, int]:
        for name, weight in resources.items():
            if not 1 <= weight <= LARGEST_WEIGHT:
                raise ValueError(f"the weight of {name} must be 1 to {LARGEST_WEIGHT}")
        return resources

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.strategy == "RequestedToCapacityRatio") != bool(self.shape):
            raise ValueError("`shape` is needed for RequestedToCapacityRatio, and for nothing else")
        if any(left.utilization >= right.utilization for left, right in pairwise(self.shape)):
            raise ValueError("the utilization of each point of `shape` must be above that of the point before")
        return self


class ProfileLimits(StrictSettings):
    """What groups of a profile may do."""

    members: int | None = Field(None, ge=1)
    """Groups with more members are refused. None: as many as there are."""


class ProfileSettings(StrictSettings):
    """One profile."""

    scheduler_name: str = Field(min_length=1, max_length=63)
    """The `spec.schedulerName` it answers to."""

    scores: dict[Score, int] = Field(default_factory=dict)
    """Weights of scores (0 to 100) that differ from the default profile's; 0 switches a score off."""

    resources_fit: ResourcesFit = ResourcesFit()
    """How full nodes should be."""

    balanced_resources: tuple[str, ...] = Field(tuple(CPU_AND_MEMORY), min_length=1)
    """The resources of which nodes should have alike shares in use."""

    limits: ProfileLimits = ProfileLimits()
    """What its groups may do."""

    @field_validator("scores")
    @classmethod
    def _weights(cls, scores: dict[Score, int]) -> dict[Score, int]:
        for name, weight in scores.items():
            if not 0 <= weight <= LARGEST_WEIGHT:
                raise ValueError(f"the weight of {name} must be 0 to {LARGEST_WEIGHT}")
        return scores

    def scoring(self) -> Scoring:
        """What the core needs of it."""
        fit = self.resources_fit
        return Scoring(
            weights=Weights(**{_FIELDS[name]: weight for name, weight in self.scores.items()}),
            strategy=fit.strategy,
            resources=dict(fit.resources),
            ratio=tuple((point.utilization, point.score * _SCORE_OF_POINT) for point in fit.shape),
            balanced=tuple(dict.fromkeys(self.balanced_resources)),
        )
