"""What a write must know of the object it is for: where it is, and which one of that name it is."""

from typing import Protocol


class Identified(Protocol):
    """Metadata, records and references all have these."""

    @property
    def namespace(self) -> str:
        """The namespace."""

    @property
    def name(self) -> str:
        """The name, which may belong to another object tomorrow."""

    @property
    def uid(self) -> str:
        """The identity."""
