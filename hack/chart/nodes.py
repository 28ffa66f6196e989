"""What stands in an object of the chart where the object of `config/` has a plain value."""

from dataclasses import dataclass
from typing import Any, Final

MORE: Final = "(more)"
"""A key whose subtree joins the fields beside it."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A scalar that Helm computes: the text between the braces."""

    text: str


@dataclass(frozen=True, slots=True)
class Subtree:
    """A mapping or list that stands in the values: always written."""

    value: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A field that is written when the value is not empty."""

    value: str


@dataclass(frozen=True, slots=True)
class Guarded:
    """A field, or an item of a list, that is there under a condition only.

    Attributes:
        condition: in Helm's language.
        value: what is there then.
    """

    condition: str
    value: Any


def negated(condition: str) -> str:
    """The opposite condition."""
    return f"not ({condition})"
