"""What a group's priority is when somebody wants its room: that of its preemption class, never below that of scheduling (KEP-5710).

A class that does not exist, or is too low, counts as none: two groups could evict each other for ever. Admission refuses both, but
a class can be deleted, and admission can be away.
"""

from typing import Final

from api.priorityclass import PriorityClass
from scheduler.state.records import GroupRecord


class PriorityClasses:
    """The values of all PriorityClasses by name."""

    def __init__(self) -> None:
        self._classes: Final[dict[str, PriorityClass]] = {}

    def put(self, found: PriorityClass) -> bool:
        """A class came; True when that changes a value."""
        before = self._classes.get(found.metadata.name)
        self._classes[found.metadata.name] = found
        return before is None or before.value != found.value

    def drop(self, gone: PriorityClass) -> bool:
        """A class went; a same-named successor stays. True when it was known."""
        known = self._classes.get(gone.metadata.name)
        if known is None or known.metadata.uid != gone.metadata.uid:
            return False
        del self._classes[gone.metadata.name]
        return True

    def value(self, name: str) -> int | None:
        """The value of a class, None when there is none of that name."""
        found = self._classes.get(name)
        return found.value if found is not None else None

    def as_victim(self, group: GroupRecord | None, otherwise: int) -> int:
        """The priority that counts for pods of this group; `otherwise` is their own, used where the group states none."""
        if group is None:
            return otherwise
        priority = group.priority if group.priority is not None else otherwise
        stated = self.value(group.preemption_class) if group.preemption_class else None
        return priority if stated is None else max(stated, priority)
