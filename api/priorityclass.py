"""PriorityClass (scheduling.k8s.io/v1): names for priorities, the same in the whole cluster."""

import msgspec

from api.meta import NO_METADATA, Metadata


class PriorityClass(msgspec.Struct, frozen=True, rename="camel"):
    """A PriorityClass; its value cannot be changed."""

    metadata: Metadata = NO_METADATA
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None
