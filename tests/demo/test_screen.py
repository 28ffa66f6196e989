"""Where the demo is seen: on a terminal and elsewhere."""

import io

from rich.console import Console

from localcluster.demo.overview import RUNS, WAITS, Members, NodeRow, Overview, Row
from localcluster.demo.screen import Lines, Step, open_screen, picture

ROW = Row("orchestra", True, 5, Members(pending=5), WAITS, "0/4 nodes are available: 4 Insufficient cpu.")
OVERVIEW = Overview((ROW,), (NodeRow("node-0", 2, 2500, 8000),))
STEP = Step("a gang waits")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_there_are_only_plain_lines() -> None:
    stream = io.StringIO()
    screen = open_screen(stream, plain=False, clock=lambda: 0.0)
    screen.say("hello")
    screen.show(OVERVIEW, [STEP])
    screen.close()
    assert stream.getvalue().splitlines() == [
        "hello",
        "   0.0 s  ... a gang waits",
        f"   0.0 s      orchestra (gang of 5): waits; 5 pending, 0 bound, 0 succeeded, 0 failed; {ROW.reason}",
    ]
    assert "\x1b" not in stream.getvalue()


def test_lines_can_be_had_on_a_terminal_too() -> None:
    assert isinstance(open_screen(Terminal(), plain=True), Lines)


def test_nothing_is_said_twice() -> None:
    stream = io.StringIO()
    screen = Lines(stream, lambda: 0.0)
    screen.show(OVERVIEW, [STEP])
    before = stream.getvalue()
    screen.show(OVERVIEW, [STEP])
    assert stream.getvalue() == before
    screen.show(Overview((Row("orchestra", True, 5, Members(bound=5), RUNS),)), [Step("a gang waits", True, "it did")])
    assert stream.getvalue()[len(before) :].splitlines() == [
        "   0.0 s  ok  a gang waits: it did",
        "   0.0 s      orchestra (gang of 5): runs; 0 pending, 5 bound, 0 succeeded, 0 failed",
    ]


def test_on_a_terminal_there_is_a_table_with_nodes() -> None:
    stream = Terminal()
    screen = open_screen(stream, plain=False)
    screen.show(OVERVIEW, [STEP])
    screen.close()
    assert "orchestra" in stream.getvalue()


def test_the_picture_shows_acts_gangs_and_nodes() -> None:
    console = Console(file=io.StringIO(), width=140)
    with console.capture() as captured:
        console.print(picture(OVERVIEW, [Step("it fits", True, "4 of 4"), Step("it fails", False), STEP]))
    text = captured.get()
    for part in (
        "✔ it fits  4 of 4",
        "✘ it fails",
        "… a gang waits",
        "orchestra",
        "waits",
        "Insufficient cpu",
        "2.5 of 8",
    ):
        assert part in text


def test_names_and_reasons_of_users_are_no_markup() -> None:
    console = Console(file=io.StringIO(), width=140)
    row = Row("[red]job", True, 2, Members(), WAITS, "[bold]why[/bold]")
    with console.capture() as captured:
        console.print(picture(Overview((row,)), []))
    assert "[red]job" in captured.get()
    assert "[bold]why[/bold]" in captured.get()
