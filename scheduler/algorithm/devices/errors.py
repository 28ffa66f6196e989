"""Why devices cannot be allocated, where that is not just that none is left."""

from api.errors import TuttiError


class AllocationError(TuttiError):
    """The claims cannot be allocated on any node as things are: something is wrong with them, a class or a pool."""


class InvalidPools(TuttiError):
    """There was no room, and a pool that the node sees is invalid; other nodes may do."""


class SearchLimit(TuttiError):
    """The search was given up: an allocation may exist."""
