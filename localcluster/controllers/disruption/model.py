"""PodDisruptionBudgets (policy/v1) and their status."""

from typing import Any, Final

import msgspec

from api.meta import NO_METADATA, Condition, Metadata

ALLOWED: Final = "DisruptionAllowed"
"""The condition that says whether an eviction would be let through."""


class BudgetMetadata(Metadata, frozen=True, rename="camel", omit_defaults=True):
    """`ObjectMeta` of a budget."""

    generation: int = 0


class BudgetSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec`: one of the two bounds, a number or a share in percent; no selector selects nothing, an empty one all pods."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: dict[str, Any] | None = None


class BudgetStatus(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`status`. `disrupted_pods` are evicted and not gone yet, each with the time of its eviction."""

    conditions: tuple[Condition, ...] = ()
    current_healthy: int = 0
    desired_healthy: int = 0
    disrupted_pods: dict[str, str] | None = None
    disruptions_allowed: int = 0
    expected_pods: int = 0
    observed_generation: int = 0


class Budget(msgspec.Struct, frozen=True):
    """A PodDisruptionBudget."""

    metadata: BudgetMetadata = BudgetMetadata()
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()


class MemberStatus(msgspec.Struct, frozen=True):
    """`status` of a pod."""

    conditions: tuple[Condition, ...] = ()


class Member(msgspec.Struct, frozen=True):
    """A pod as a budget counts it."""

    metadata: Metadata = NO_METADATA
    status: MemberStatus = MemberStatus()

    @property
    def is_ready(self) -> bool:
        """Whether its condition Ready is True."""
        return any(each.type == "Ready" and each.status == "True" for each in self.status.conditions)
