"""PodDisruptionBudgets: how many pods of which labels may leave at the moment.

The controller's count is an answer to what it has seen; pods that were asked to leave and are not seen leaving yet are
subtracted here, so a budget is not spent twice. Budgets are kept if possible and broken if there is no other way (KEP-5710).
"""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from api.meta import NO_METADATA, Metadata
from scheduler.state.records import PodRecord


class Expression(msgspec.Struct, frozen=True):
    """One entry of `matchExpressions`."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet it; an unknown operator is met by none."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in (self.values or ())
            case "NotIn":
                return value not in (self.values or ())
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
        return False


class Selector(msgspec.Struct, frozen=True, rename="camel"):
    """A label selector; an empty one matches everything."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[Expression, ...] | None = None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet all of it."""
        return all(labels.get(key) == value for key, value in (self.match_labels or {}).items()) and all(
            expression.matches(labels) for expression in self.match_expressions or ()
        )


class BudgetSpec(msgspec.Struct, frozen=True):
    """`spec`; without a selector nothing is protected."""

    selector: Selector | None = None


class BudgetStatus(msgspec.Struct, frozen=True, rename="camel"):
    """`status`, as the disruption controller keeps it."""

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str] | None = None


class Budget(msgspec.Struct, frozen=True):
    """A PodDisruptionBudget."""

    metadata: Metadata = NO_METADATA
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()

    def protects(self, pod: PodRecord) -> bool:
        """Whether it counts this pod; those it has let go already it does not (as upstream)."""
        return (
            pod.namespace == self.metadata.namespace
            and self.spec.selector is not None
            and bool(pod.labels)
            and self.spec.selector.matches(pod.labels)
            and pod.name not in (self.status.disrupted_pods or {})
        )


class Budgets:
    """All budgets by namespace."""

    def __init__(self) -> None:
        self._budgets: Final[dict[tuple[str, str], Budget]] = {}

    def __len__(self) -> int:
        return len(self._budgets)

    def upsert(self, budget: Budget) -> None:
        """A budget came or changed."""
        self._budgets[budget.metadata.key] = budget

    def remove(self, budget: Budget) -> None:
        """A budget went; a same-named successor stays."""
        known = self._budgets.get(budget.metadata.key)
        if known is not None and known.metadata.uid == budget.metadata.uid:
            del self._budgets[budget.metadata.key]

    def violators(self, units: list[tuple[PodRecord, ...]], asked: Collection[PodRecord]) -> list[bool]:
        """Which units exceed a budget when they leave in this order; `asked` were told to leave and do not show it yet."""
        by_namespace: dict[str, list[Budget]] = {}
        for budget in self._budgets.values():
            by_namespace.setdefault(budget.metadata.namespace, []).append(budget)
        left = {
            key: budget.status.disruptions_allowed - sum(budget.protects(pod) for pod in asked)
            for key, budget in self._budgets.items()
        }
        verdicts: list[bool] = []
        for unit in units:
            is_violating = False
            for pod in unit:
                for budget in by_namespace.get(pod.namespace, ()):
                    if budget.protects(pod):
                        left[budget.metadata.key] -= 1
                        is_violating |= left[budget.metadata.key] < 0
            verdicts.append(is_violating)
        return verdicts
