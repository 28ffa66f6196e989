"""One way to print a table, and the few statistics it needs."""

import statistics
from collections.abc import Callable, Sequence
from time import process_time

from rich.console import Console
from rich.table import Table


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, notes: Sequence[str] = ()) -> None:
    """Prints a table, first column left, the others right, and its notes below."""
    table = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console = Console(width=132)
    console.print(table)
    for note in notes:
        console.print(f"  {note}", highlight=False)
    console.print()


def median_ms(
    call: Callable[[], object], *, runs: int, before: Callable[[], object] | None = None
) -> tuple[float, float, float]:
    """Minimum, median and maximum of some runs in milliseconds of this process's CPU, after one that is not counted.

    `before` is called before each run and costs nothing. What else the machine does meanwhile does not count.
    """
    times = []
    for _ in range(runs + 1):
        if before is not None:
            before()
        begin = process_time()
        call()
        times.append((process_time() - begin) * 1000)
    del times[0]
    return min(times), statistics.median(times), max(times)


def ratio(ours: float, theirs: float) -> str:
    """How many times theirs ours is; a dash when there is nothing to compare with."""
    return f"{ours / theirs:.1f}×" if theirs else "–"
