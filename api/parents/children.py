"""A Job that is a child of another parent: whose, and which group its pods belong to. Needs nothing but the Job itself."""

from typing import Final

import msgspec

from api.constants import MANAGED, SCOPE
from api.job import Job
from api.meta import OwnerReference, controller_of
from api.names import child_group_name
from api.parents.kinds import ChildLabels, kind_of

SET: Final = "set"
PART: Final = "replicated-job"
CHILD: Final = "job"
SCOPES: Final = (SET, PART, CHILD)
"""How much of a parent starts together: all its children, all of one part, each child by itself."""

MAX_DIGITS: Final = 10


class Child(msgspec.Struct, frozen=True):
    """A Job as a child.

    Attributes:
        parent: its controller.
        scope: one of `SCOPES`.
        part: which of the equal children.
        index: which child of that part.
        attempt: how often the parent had been restarted when the Job was made.
    """

    parent: OwnerReference
    scope: str
    part: str
    index: int
    attempt: int

    @property
    def group_name(self) -> str:
        """Name of the PodGroup of its pods."""
        return group_name(self.parent.name, self.parent.uid, unit_name(self.scope, self.part, self.index), self.attempt)


def child_of(job: Job) -> Child | None:
    """The Job as a child whose pods wait for a group of its parent; None when it is none, or nobody took its parent in."""
    owner, scope = controller_of(job.metadata), job.metadata.annotation(SCOPE)
    kind = kind_of(owner) if owner is not None else None
    if owner is None or kind is None or kind.children is None or scope not in SCOPES:
        return None
    if job.spec.template.metadata.label(MANAGED) is None:
        return None
    return _read(job, owner, scope, kind.children)


def _read(job: Job, owner: OwnerReference, scope: str, labels: ChildLabels) -> Child | None:
    part = job.metadata.label(labels.part)
    index, attempt = (_number(job.metadata.label(key)) for key in (labels.index, labels.attempt))
    if not part or index is None or attempt is None:
        return None
    return Child(owner, scope, part, index, attempt)


def unit_name(scope: str, part: str, index: int) -> str:
    """Which children start together, as a part of a name."""
    return {SET: SET, PART: part}.get(scope, f"{part}-{index}")


def group_name(parent: str, parent_uid: str, unit: str, attempt: int) -> str:
    """Name of the PodGroup of those children of a parent, in that attempt."""
    return child_group_name(parent, parent_uid, unit, attempt)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else None
