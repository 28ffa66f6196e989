"""The pods of gangs, as far as the controllers look at them."""

import msgspec

from api.constants import MANAGED, POD_GROUP
from api.meta import NO_METADATA, Metadata
from api.pod import TERMINAL_PHASES


class GangPodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """`spec` of a pod of a gang, as far as it matters here."""

    node_name: str = ""


class GangPodStatus(msgspec.Struct, frozen=True):
    """`status` of a pod of a gang, as far as it matters here."""

    phase: str = "Pending"


class GangPod(msgspec.Struct, frozen=True):
    """A pod of a Job or of a replica: which group it names and whether it has a node."""

    metadata: Metadata = NO_METADATA
    spec: GangPodSpec = GangPodSpec()
    status: GangPodStatus = GangPodStatus()

    @property
    def is_bound(self) -> bool:
        """True once a scheduler has placed it, even if it has ended since."""
        return bool(self.spec.node_name)

    @property
    def names_group(self) -> bool:
        """True when its annotation says which group it belongs to."""
        return bool(self.metadata.annotation(POD_GROUP))

    @property
    def is_managed(self) -> bool:
        """True while the scheduler holds it back until it names a group."""
        return self.metadata.label(MANAGED) is not None

    @property
    def is_over(self) -> bool:
        """True when it has ended or is being deleted: nothing that is written to it matters any more."""
        return self.status.phase in TERMINAL_PHASES or self.metadata.is_terminating
