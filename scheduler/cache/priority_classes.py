"""PriorityClasses, and which priority of a group counts when somebody is to leave (KEP-5710).

A preemption class that does not exist, or that the group may not name (`api.priorityclass`), counts as none. Admission refuses
both, but classes change, and admission can be away.
"""

from collections.abc import Iterator
from typing import Final

from api.priorityclass import PriorityClass, preemption_class_problem
from scheduler.cache.records import GroupRecord


class PriorityClasses:
    """The values of all PriorityClasses by name."""

    def __init__(self) -> None:
        self._classes: Final[dict[str, PriorityClass]] = {}
        self.version = 0
        """Raised with every change."""

    def __iter__(self) -> Iterator[PriorityClass]:
        return iter(self._classes.values())

    def put(self, found: PriorityClass) -> bool:
        """A class came; True when that changes what counts."""
        before = self._classes.get(found.metadata.name)
        self._classes[found.metadata.name] = found
        self.version += 1
        return before is None or _what_counts(before) != _what_counts(found)

    def drop(self, gone: PriorityClass) -> bool:
        """A class went; a same-named successor stays. True when it was known."""
        known = self._classes.get(gone.metadata.name)
        if known is None or known.metadata.uid != gone.metadata.uid:
            return False
        del self._classes[gone.metadata.name]
        self.version += 1
        return True

    def find(self, name: str) -> PriorityClass | None:
        """The class of that name, None when there is none."""
        return self._classes.get(name)

    def as_victim(self, group: GroupRecord | None, otherwise: int) -> int:
        """The priority that counts for pods of this group; `otherwise` is their own, used where the group states none."""
        if group is None:
            return otherwise
        priority = group.priority if group.priority is not None else otherwise
        stated = self.find(group.preemption_class) if group.preemption_class else None
        if stated is None or preemption_class_problem(stated, priority) is not None:
            return priority
        return stated.value


def _what_counts(found: PriorityClass) -> tuple[int, bool]:
    return found.value, found.is_allowed_as_preemption_priority
