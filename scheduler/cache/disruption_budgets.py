"""PodDisruptionBudgets: which victims break one.

A budget's count is the controller's answer to what it has seen; pods that were asked to leave and are not seen leaving yet are
subtracted here, so a budget is not spent twice. Budgets are kept if possible and broken if there is no other way.
"""

from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from api.meta import NO_METADATA, Metadata
from scheduler.cache.records import PodRecord
from scheduler.cache.selectors import NOTHING, RawSelector, Selector, parse_selector


class BudgetSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spec`; without a selector nothing is protected."""

    selector: RawSelector | None = None


class BudgetStatus(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`status`, as the disruption controller keeps it."""

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str] | None = None


class Budget(msgspec.Struct, frozen=True, omit_defaults=True):
    """A PodDisruptionBudget."""

    metadata: Metadata = NO_METADATA
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()


class _Guard:
    """A budget with its selector, ready to be asked."""

    __slots__ = ("budget", "selector")

    def __init__(self, budget: Budget) -> None:
        self.budget: Final = budget
        self.selector: Final = _selector(budget)

    def protects(self, pod: PodRecord) -> bool:
        """Whether it counts this pod; those it has let go already, and pods without labels, it does not (as upstream)."""
        return (
            bool(pod.labels)
            and self.selector.matches(pod.labels)
            and pod.name not in (self.budget.status.disrupted_pods or {})
        )


def _selector(budget: Budget) -> Selector:
    try:
        return parse_selector(budget.spec.selector)
    except ValueError:
        # An operator we do not know: the API server lets none pass.
        return NOTHING


class Budgets:
    """All budgets by namespace."""

    def __init__(self) -> None:
        self._guards: Final[dict[str, dict[str, _Guard]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._guards.values()))

    def __iter__(self) -> Iterator[Budget]:
        for guards in self._guards.values():
            for guard in guards.values():
                yield guard.budget

    def upsert(self, budget: Budget) -> None:
        """A budget came or changed."""
        namespace, name = budget.metadata.key
        self._guards.setdefault(namespace, {})[name] = _Guard(budget)

    def remove(self, budget: Budget) -> None:
        """A budget went; a same-named successor stays."""
        namespace, name = budget.metadata.key
        guards = self._guards.get(namespace, {})
        known = guards.get(name)
        if known is not None and known.budget.metadata.uid == budget.metadata.uid:
            del guards[name]
            if not guards:
                del self._guards[namespace]

    def violators(self, units: list[tuple[PodRecord, ...]], asked: Collection[PodRecord]) -> list[bool]:
        """Which units exceed a budget when they leave in this order; `asked` were told to leave and do not show it yet."""
        left = {
            guard: guard.budget.status.disruptions_allowed
            for guards in self._guards.values()
            for guard in guards.values()
        }
        for pod in asked:
            self._let_go(pod, left)
        return [max(self._let_go(pod, left) for pod in unit) if unit else False for unit in units]

    def _let_go(self, pod: PodRecord, left: dict[_Guard, int]) -> bool:
        """Whether some budget does not allow this pod to leave any more."""
        is_violating = False
        for guard in self._guards.get(pod.namespace, {}).values():
            if guard.protects(pod):
                left[guard] -= 1
                is_violating |= left[guard] < 0
        return is_violating
