"""Sets of completion indexes in the compressed form in which a Job's status keeps them: `1,3-5,7`.

Pure. The written form is byte for byte the stock controller's: ascending, runs of three and more as `first-last`.
"""

from collections.abc import Iterable


def parse_indexes(text: str | None, completions: int) -> frozenset[int]:
    """The indexes below `completions`; parts that are no numbers are left out."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, dash, last = part.partition("-")
        if first.isdigit() and (last.isdigit() or not dash):
            found.update(range(int(first), min(int(last if dash else first), completions - 1) + 1))
    return frozenset(found)


def render_indexes(indexes: Iterable[int]) -> str:
    """The compressed form."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(_run(first, last) for first, last in runs)


def first_free(taken: frozenset[int], count: int, completions: int) -> list[int]:
    """The lowest `count` indexes below `completions` that are not taken."""
    free: list[int] = []
    for index in range(completions):
        if len(free) >= count:
            break
        if index not in taken:
            free.append(index)
    return free


def _run(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first}{',' if last == first + 1 else '-'}{last}"
