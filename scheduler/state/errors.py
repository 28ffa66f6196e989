"""Errors of callers, never of users' objects: those become items whose decision is an error."""

from api.errors import TuttiError


class UnknownPod(TuttiError):
    """A pod was to be assumed that is not known, or is bound already."""
