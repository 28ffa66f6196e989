"""Namespaces as the scheduler reads them: their labels decide which pods a rule about other pods speaks of."""

import msgspec

from api.meta import NO_METADATA, Metadata


class Namespace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A namespace."""

    metadata: Metadata = NO_METADATA
