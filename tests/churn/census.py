"""How much is in every container that an object of ours holds, and how much memory that is."""

import gc
import os
import resource
import sys
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Set
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import pytest

from kube.client import event_series
from scheduler.algorithm import node_fits
from scheduler.cache import nodes, record_factory, topology_index

OURS: Final = ("api.", "controllers.", "kube.", "scheduler.", "webhooks.")
_DEPTH: Final = 3

LIMITS: Final = (
    (event_series, "_MAX_REMEMBERED"),
    (node_fits, "LEAST_FITS"),
    (node_fits, "MOST_FITS"),
    (node_fits, "MOST_ALIKE"),
    (topology_index, "MOST_MATCH_COUNTS"),
    (nodes, "MOST_LABEL_COLUMNS"),
    (nodes, "MOST_RESOLVED"),
    (record_factory, "_MOST_SHARED"),
    (record_factory, "_MOST_SHARED_BY_PODS"),
)
"""How much of what may be needed again is remembered at most, as the modules say."""

FEW: Final = 20
"""The limit of them all here."""

CHURNED: Final = int(os.environ.get("CHURN", "800"))
"""Objects of each kind; `make bench ARGS=churn` says 100,000."""


def lower_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches are full at once, so nothing may grow with what is churned."""
    for module, name in LIMITS:
        monkeypatch.setattr(module, name, FEW)


def census() -> Counter[str]:
    """Entries by class and attribute of whatever is alive."""
    gc.collect()
    found: Counter[str] = Counter()
    for thing in gc.get_objects():
        kind = type(thing)
        if str(kind.__module__).startswith(OURS):
            for name, value in _attributes(thing):
                found[f"{kind.__name__}.{name}"] += _weight(value, _DEPTH)
    return found


def grown(counts: list[Counter[str]], churned: int) -> dict[str, int]:
    """What grew from each count to the next one by more than one entry for every four objects that came and went between them."""
    return {
        name: counts[-1][name] - counts[0][name]
        for name in counts[-1]
        if all(after[name] - before[name] > churned / 4 for before, after in pairwise(counts))
    }


class Curve:
    """Memory after each ten thousand objects, as lines for people."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._steps: list[tuple[int, int]] = []

    def note(self, churned: int) -> None:
        """So many objects of each kind have come and gone."""
        if churned % 10_000:
            return
        gc.collect()
        blocks, rss_mib = sys.getallocatedblocks(), _resident_mib()
        self._steps.append((churned, blocks))
        memory = f"{blocks:>9,} blocks allocated, {rss_mib:6.1f} MiB resident"
        sys.stdout.write(f"{self._what}: {churned:>7,} of each kind came and went, {memory}\n")
        sys.stdout.flush()

    def blocks_per_object(self) -> float:
        """What every object that came and went left behind, in allocated blocks; 0 when too few did to tell."""
        if len(self._steps) < 2:
            return 0.0
        (first, least), (last, most) = self._steps[0], self._steps[-1]
        return (most - least) / (last - first)


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    yield from vars(thing).items() if hasattr(thing, "__dict__") else ()
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(thing, name):
                yield name, getattr(thing, name)


def _weight(value: Any, depth: int) -> int:
    if isinstance(value, WeakValueDictionary):
        return len(value)
    if isinstance(value, Mapping):
        inner = list(value.values())
    elif isinstance(value, (list, deque, Set)):
        inner = list(value)
    else:
        return 0
    return len(inner) + (sum(_weight(each, depth - 1) for each in inner) if depth > 1 else 0)


def _resident_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
