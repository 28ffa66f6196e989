"""Where the demo is seen: a table that changes in place on a terminal, plain lines everywhere else.

Without a terminal nothing is ever drawn over and no control sequence is written, so a log or a pipe stays readable.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from localcluster.demo.overview import DONE, FAILED, GATHERS, LEAVES, RUNS, WAITS, NodeRow, Overview, Row

COLOURS: Final = {WAITS: "yellow", GATHERS: "cyan", RUNS: "green", LEAVES: "magenta", DONE: "dim", FAILED: "red"}
BAR_WIDTH: Final = 10
MOST_NODES: Final = 12


@dataclass(slots=True)
class Step:
    """One part of the demo: its title, how it went (None while it is on), a remark and its length in seconds."""

    title: str
    is_good: bool | None = None
    remark: str = ""
    seconds: float = 0.0


class Screen(Protocol):
    """Shows the demo."""

    def say(self, line: str) -> None:
        """A line that stays."""

    def show(self, overview: Overview, steps: Sequence[Step]) -> None:
        """How things are now."""

    def close(self) -> None:
        """The last picture stays."""


def open_screen(stream: TextIO, *, plain: bool, clock: Callable[[], float] = time.monotonic) -> Screen:
    """A table on a terminal, else lines."""
    if plain or not stream.isatty():
        return Lines(stream, clock)
    return Picture(Console(file=stream))


class Picture:
    """A table that is drawn anew in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def say(self, line: str) -> None:
        """A line above the table."""
        self._live.console.print(escape(line), soft_wrap=True)

    def show(self, overview: Overview, steps: Sequence[Step]) -> None:
        """Draws the table."""
        self._live.update(picture(overview, steps), refresh=True)

    def close(self) -> None:
        """Leaves the table as it is."""
        self._live.stop()


class Lines:
    """One line whenever a step or a row changes."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._shown: dict[str, str] = {}

    def say(self, line: str) -> None:
        """A line."""
        self._stream.write(line + "\n")
        self._stream.flush()

    def show(self, overview: Overview, steps: Sequence[Step]) -> None:
        """Lines for what is new."""
        for step in steps:
            self._once(f"step {step.title}", step_line(step))
        for row in overview.rows:
            self._once(row.name, row_line(row))

    def close(self) -> None:
        """Nothing is left to do."""

    def _once(self, key: str, line: str) -> None:
        if self._shown.get(key) != line:
            self._shown[key] = line
            self.say(f"{self._clock() - self._began:6.1f} s  {line}")


def step_line(step: Step) -> str:
    """A step in one line."""
    mark = {None: "...", True: "ok ", False: "NOT"}[step.is_good]
    return f"{mark} {step.title}" + (f": {step.remark}" if step.remark else "")


def row_line(row: Row) -> str:
    """A gang or Job in one line."""
    kind = f"gang of {row.need}" if row.is_gang else "no gang"
    members = row.members
    counts = f"{members.pending} pending, {members.bound} bound, {members.succeeded} succeeded, {members.failed} failed"
    return f"    {row.name} ({kind}): {row.state}; {counts}" + (f"; {row.reason}" if row.reason else "")


def picture(overview: Overview, steps: Sequence[Step]) -> RenderableType:
    """The whole picture."""
    return Group(_steps(steps), _gangs(overview.rows), _nodes(overview.nodes))


def _steps(steps: Sequence[Step]) -> RenderableType:
    lines = []
    for step in steps:
        mark, style = {None: ("…", "bold"), True: ("✔", "green"), False: ("✘", "red")}[step.is_good]
        remark = f"  {step.remark}" if step.remark else ""
        lines.append(Text(f" {mark} {step.title}", style=style).append(remark, style="dim"))
    return Group(*lines)


def _gangs(rows: Sequence[Row]) -> Table:
    table = Table(expand=True)
    for title, right in (("JOB", False), ("GANG", True), ("PENDING", True), ("BOUND", True), ("DONE", True)):
        table.add_column(title, justify="right" if right else "left", no_wrap=True)
    table.add_column("STATE", no_wrap=True)
    table.add_column("REASON", ratio=1)
    for row in rows:
        members = row.members
        table.add_row(
            escape(row.name),
            str(row.need) if row.is_gang else "-",
            str(members.pending),
            str(members.bound),
            str(members.succeeded) + (f" (+{members.failed} failed)" if members.failed else ""),
            Text(row.state, style=COLOURS.get(row.state, "")),
            escape(row.reason),
        )
    return table


def _nodes(nodes: Sequence[NodeRow]) -> RenderableType:
    lines = [Text(_node_line(node)) for node in nodes[:MOST_NODES]]
    if len(nodes) > MOST_NODES:
        lines.append(Text(f" and {len(nodes) - MOST_NODES} more nodes", style="dim"))
    return Group(*lines)


def _node_line(node: NodeRow) -> str:
    share = node.used_milli / node.total_milli if node.total_milli else 0.0
    filled = min(BAR_WIDTH, round(share * BAR_WIDTH))
    bar = "█" * filled + "·" * (BAR_WIDTH - filled)
    return f" {node.name:<10} {bar} {node.used_milli / 1000:4.1f} of {node.total_milli / 1000:g} cpu, {node.pods} pods"
