"""Nodes that are in the same state are judged once: most clusters have far fewer states than nodes."""

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_ODD: Final = 0x9E3779B97F4A7C15


class Kinds(NamedTuple):
    """Columns that are equal, put together; kinds are numbered by their first member."""

    first: NDArray[np.intp]
    """A column of each kind."""
    members: list[list[int]]
    """All columns of each kind, ascending."""


def kinds(columns: NDArray[np.int64]) -> Kinds:
    """The distinct columns of a table."""
    if not columns.shape[1]:
        return Kinds(np.empty(0, dtype=np.intp), [])
    inverse = _numbers(columns)
    order = np.argsort(inverse, kind="stable")
    ends = np.flatnonzero(np.diff(inverse[order], append=-1)) + 1
    columns_of = order.tolist()
    members = [columns_of[start:end] for start, end in pairwise([0, *ends.tolist()])]
    return Kinds(np.array([part[0] for part in members], dtype=np.intp), members)


def _numbers(columns: NDArray[np.int64]) -> NDArray[np.intp]:
    """The number of each column's kind, by a sum that is almost surely different for different columns; checked."""
    weights = np.array([(_ODD * (2 * row + 1) ** 3) % 2**64 for row in range(len(columns))], dtype=np.uint64)
    sums = (columns.astype(np.uint64) * weights[:, None]).sum(axis=0, dtype=np.uint64)
    _, first, inverse = np.unique(sums, return_index=True, return_inverse=True)
    if (columns[:, first[inverse]] == columns).all():
        return np.asarray(inverse, dtype=np.intp)
    return np.asarray(np.unique(columns, axis=1, return_inverse=True)[1].ravel(), dtype=np.intp)
