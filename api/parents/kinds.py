"""The kinds of parents: who may hold their pods back, and by what their children are known. A new kind begins with a row here.

A parent is what its user wrote and what owns the groups: a Job, a LeaderWorkerSet, a JobSet. Between it and the pods there may be
children (the Jobs of a JobSet); these are described by labels that the parent's own controller puts on them and on their pods.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from api.constants import JOBSET_ATTEMPT, JOBSET_JOB_INDEX, JOBSET_PART, JOBSET_UID
from api.jobset import JOBSET_GROUP, JOBSET_KIND
from api.lws import LWS_GROUP, LWS_KIND
from api.meta import OwnerReference

JOB_KIND: Final = "Job"


class Hold(Enum):
    """How the pods of a parent are kept from starting before their group exists."""

    SUSPENSION = "suspension"
    """We suspend the parent, and resume it; nobody else minds."""

    WAITING_PODS = "waiting-pods"
    """Its pods exist and wait for their group."""


@dataclass(frozen=True, slots=True)
class ChildLabels:
    """Labels of children and of their pods, put there by the parent's controller.

    Attributes:
        parent_uid: UID of the parent.
        part: which of the equal children these are.
        index: which child of that part.
        attempt: how often the parent had been restarted when the child was made: a restart makes all children anew, under the
            same names, while those of the former attempt are still leaving.
    """

    parent_uid: str
    part: str
    index: str
    attempt: str


@dataclass(frozen=True, slots=True)
class ParentKind:
    """What is known of a kind.

    Attributes:
        group: API group.
        kind: name of the kind.
        hold: who may hold its pods back.
        has_jobs: its pods are those of Jobs. A gang of it leaves whole by their suspension: deleted pods would count as failures.
        children: labels of the Jobs between it and its pods; None where it makes its pods itself.
    """

    group: str
    kind: str
    hold: Hold
    has_jobs: bool
    children: ChildLabels | None = None


JOB: Final = ParentKind("batch", JOB_KIND, Hold.SUSPENSION, has_jobs=True)
LEADER_WORKER_SET: Final = ParentKind(LWS_GROUP, LWS_KIND, Hold.WAITING_PODS, has_jobs=False)
JOB_SET: Final = ParentKind(
    JOBSET_GROUP,
    JOBSET_KIND,
    # It reverts whoever else writes `spec.suspend` of its Jobs, at once.
    Hold.WAITING_PODS,
    has_jobs=True,
    children=ChildLabels(JOBSET_UID, JOBSET_PART, JOBSET_JOB_INDEX, JOBSET_ATTEMPT),
)

KINDS: Final = (JOB, LEADER_WORKER_SET, JOB_SET)
_BY_NAME: Final = {(each.group, each.kind): each for each in KINDS}
_PARENT_UIDS: Final = tuple(each.children.parent_uid for each in KINDS if each.children is not None)


def kind_of(reference: OwnerReference) -> ParentKind | None:
    """The kind that a reference names, None when it is none of these."""
    group, slash, _ = reference.api_version.partition("/")
    return _BY_NAME.get((group if slash else "", reference.kind))


def leaves_by_suspension(owner_kind: str) -> bool:
    """Whether a gang that belongs to an owner of this kind leaves because its Job, or the Jobs of the owner, are suspended."""
    return any(each.kind == owner_kind and each.has_jobs for each in KINDS)


def is_child_pod_of(labels: dict[str, str], owner_kind: str, parent_uid: str) -> bool:
    """Whether a pod that a child controls belongs to the parent with this UID.

    The label is as good as an owner reference: whoever may create pods in a namespace may write either.
    """
    return owner_kind == JOB_KIND and any(labels.get(key) == parent_uid for key in _PARENT_UIDS)
