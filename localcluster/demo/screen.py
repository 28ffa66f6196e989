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

from localcluster.demo.scene import DONE, FAILED, GATHERS, RUNS, WAITS, NodeRow, Row, Scene

COLOURS: Final = {WAITS: "yellow", GATHERS: "cyan", RUNS: "green", DONE: "dim", FAILED: "red"}
BAR_WIDTH: Final = 10
MOST_NODES: Final = 12


@dataclass(slots=True)
class Act:
    """One part of the demo: its title, how it went (None while it is on), a remark and its length in seconds."""

    title: str
    is_good: bool | None = None
    remark: str = ""
    seconds: float = 0.0


class Screen(Protocol):
    """Shows the demo."""

    def say(self, line: str) -> None:
        """A line that stays."""

    def show(self, scene: Scene, acts: Sequence[Act]) -> None:
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

    def show(self, scene: Scene, acts: Sequence[Act]) -> None:
        """Draws the table."""
        self._live.update(picture(scene, acts), refresh=True)

    def close(self) -> None:
        """Leaves the table as it is."""
        self._live.stop()


class Lines:
    """One line whenever an act or a row changes."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._shown: dict[str, str] = {}

    def say(self, line: str) -> None:
        """A line."""
        self._stream.write(line + "\n")
        self._stream.flush()

    def show(self, scene: Scene, acts: Sequence[Act]) -> None:
        """Lines for what is new."""
        for act in acts:
            self._once(f"act {act.title}", act_line(act))
        for row in scene.rows:
            self._once(row.name, row_line(row))

    def close(self) -> None:
        """Nothing is left to do."""

    def _once(self, key: str, line: str) -> None:
        if self._shown.get(key) != line:
            self._shown[key] = line
            self.say(f"{self._clock() - self._began:6.1f} s  {line}")


def act_line(act: Act) -> str:
    """An act in one line."""
    mark = {None: "...", True: "ok ", False: "NOT"}[act.is_good]
    return f"{mark} {act.title}" + (f": {act.remark}" if act.remark else "")


def row_line(row: Row) -> str:
    """A gang or Job in one line."""
    kind = f"gang of {row.need}" if row.is_gang else "no gang"
    members = row.members
    counts = f"{members.pending} pending, {members.bound} bound, {members.succeeded} succeeded, {members.failed} failed"
    return f"    {row.name} ({kind}): {row.state}; {counts}" + (f"; {row.reason}" if row.reason else "")


def picture(scene: Scene, acts: Sequence[Act]) -> RenderableType:
    """The whole picture."""
    return Group(_acts(acts), _gangs(scene.rows), _nodes(scene.nodes))


def _acts(acts: Sequence[Act]) -> RenderableType:
    lines = []
    for act in acts:
        mark, style = {None: ("…", "bold"), True: ("✔", "green"), False: ("✘", "red")}[act.is_good]
        remark = f"  {act.remark}" if act.remark else ""
        lines.append(Text(f" {mark} {act.title}", style=style).append(remark, style="dim"))
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
