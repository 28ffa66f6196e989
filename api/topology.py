"""How close the members of a gang are to be: levels of the cluster's topology, slices of consecutive ranks.

A level is a node label; the nodes that share a value of it are a domain. Levels are named widest first. All members run inside one
domain of a required level; of a preferred one as few domains are used as possible. A slice is so many members with consecutive
ranks, and each slice runs inside one domain of its own level, whichever that is.
"""

from typing import Final

import msgspec

MOST_LEVELS: Final = 8


class TopologyLevel(msgspec.Struct, frozen=True):
    """A node label key, and whether all members must share one value of it."""

    key: str
    is_required: bool = True


class TopologyRequest(msgspec.Struct, frozen=True):
    """What a gang asks for.

    Attributes:
        levels: widest first, each key once.
        slice_size: members of a slice; slice number = rank // slice_size. 0 for no slices.
        slice_key: the label inside one value of which each slice runs, "" without slices.
    """

    levels: tuple[TopologyLevel, ...] = ()
    slice_size: int = 0
    slice_key: str = ""

    @property
    def required_key(self) -> str | None:
        """The narrowest level inside one domain of which all members must be, None for anywhere."""
        return next((level.key for level in reversed(self.levels) if level.is_required), None)


ANYWHERE: Final = TopologyRequest()
