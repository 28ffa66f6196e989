"""What a record means: the changes that promises look at, each with the moment from which it surely counts."""

from dataclasses import dataclass

from verify.auditor.audit_log import Record
from verify.auditor.model import Claim, Composite, Group, Key, Pod


@dataclass(frozen=True, slots=True)
class Answered:
    """A request was answered, whatever the answer; comes before the changes that it means."""

    record: Record


@dataclass(frozen=True, slots=True)
class NodesChanged:
    """A node came, changed or went."""

    when: float


@dataclass(frozen=True, slots=True)
class OwnedMade:
    """A Workload or PodGroup with our mark was made.

    Attributes:
        kind: its plural.
        owner: UID of its controller, empty without one.
    """

    kind: str
    key: Key
    uid: str
    owner: str


@dataclass(frozen=True, slots=True)
class PodCreated:
    """A pod is there."""

    pod: Pod
    record: Record


@dataclass(frozen=True, slots=True)
class PodBound:
    """A pod has got a node; `before` is the one that it had already."""

    pod: Pod
    record: Record
    before: str = ""


@dataclass(frozen=True, slots=True)
class PodNominated:
    """A pod is nominated to another node than before, or to none."""

    pod: Pod
    when: float


@dataclass(frozen=True, slots=True)
class PodLeaves:
    """Somebody asked for the deletion of a pod."""

    pod: Pod
    record: Record


@dataclass(frozen=True, slots=True)
class PodEnded:
    """A pod takes no room any more."""

    pod: Pod
    when: float


@dataclass(frozen=True, slots=True)
class GroupWritten:
    """A PodGroup was made or its spec may have changed."""

    group: Group
    record: Record


@dataclass(frozen=True, slots=True)
class CompositeWritten:
    """A CompositePodGroup was created or changed."""

    composite: Composite
    record: Record


@dataclass(frozen=True, slots=True)
class GroupTold:
    """The status of a PodGroup was written; `written` are the types of the conditions that this record is about."""

    group: Group
    record: Record
    written: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupGone:
    """The deletion of a PodGroup was asked for."""

    group: Group
    when: float


@dataclass(frozen=True, slots=True)
class ClaimWritten:
    """A ResourceClaim holds what it holds now; `before` is what was known of it until then."""

    claim: Claim
    record: Record
    before: Claim | None = None


@dataclass(frozen=True, slots=True)
class ClaimGone:
    """A ResourceClaim is not there any more."""

    claim: Claim
    record: Record


Change = (
    Answered
    | NodesChanged
    | OwnedMade
    | PodCreated
    | PodBound
    | PodNominated
    | PodLeaves
    | PodEnded
    | GroupWritten
    | GroupTold
    | GroupGone
    | CompositeWritten
    | ClaimWritten
    | ClaimGone
)
