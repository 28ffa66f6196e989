"""What is in another process's memory is told as that process would tell it."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hack.process_memory import EXIT_USAGE, Census, look_into, main, told

PROCESS = """
import enum, ssl, sys

import numpy

class Slotted:
    __slots__ = ("number",)

class WithDict:
    def __init__(self, number):
        self.number = number

class Made(enum.Enum):
    ONE = 1

kept = [Slotted() for _ in range(9_000)], [WithDict(number) for number in range(2_000)]
gone = [Slotted() for _ in range(9_000)]
stays = gone[::9]
del gone
print("ready", flush=True)
sys.stdin.read()
"""
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
NEEDED = pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info >= (3, 14) or (YAMA.exists() and int(YAMA.read_text()) > 1),
    reason="wants Linux, a CPython that it knows, and a kernel that lets a process look into its children",
)


@contextmanager
def _process() -> Iterator[int]:
    with subprocess.Popen(
        [sys.executable, "-c", PROCESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process.pid
        process.stdin.close()


@NEEDED
def test_objects_in_use_are_counted_by_type_and_those_that_went_are_not() -> None:
    with _process() as pid:
        found = look_into(pid)
    assert (found.objects["Slotted"], found.objects["WithDict"], found.objects["Made"]) == (10_000, 2_000, 1)
    assert found.objects["str"] > 1_000
    assert found.object_bytes["Slotted"] == 10_000 * 48
    assert found.object_bytes.total() <= found.pool_bytes < 2 * found.object_bytes.total()
    assert found.resident_kib.total() * 1024 > found.pool_bytes


@NEEDED
def test_a_process_has_no_more_of_files_in_memory_for_being_looked_at() -> None:
    with _process() as pid:
        before = _of_files(pid)
        look_into(pid)
        assert _of_files(pid) == before


def _of_files(pid: int) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line for line in lines if line.startswith("RssFile"))


@NEEDED
def test_what_is_more_since_then_is_told_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with _process() as pid:
        assert main([str(pid), "--save", str(tmp_path / "then.json")]) == 0
        assert main([str(pid), "--since", str(tmp_path / "then.json")]) == 0
    first, second = capsys.readouterr().out.split("in use then: ")
    assert "Slotted" in first
    assert second.endswith("MB; since, by type:\n"), "it did nothing meanwhile"

    before = Census(Counter(), 0, Counter({"A": 5, "B": 9}), Counter({"A": 500, "B": 900}))
    after = Census(Counter(), 0, Counter({"A": 50, "B": 8}), Counter({"A": 5_000, "B": 800}))
    assert [line.split() for line in list(told(after, before))[-2:]] == [
        ["4.5", "kB", "45", "A"],
        ["-0.1", "kB", "-1", "B"],
    ]


@NEEDED
def test_who_is_not_there_or_no_python_is_refused_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        assert main([str(process.pid)]) == EXIT_USAGE
        assert process.stdin is not None
        process.stdin.close()
    assert main(["4194305"]) == EXIT_USAGE
    refused = capsys.readouterr().err.splitlines()
    assert refused[0] == "process_memory: there is no CPython in its memory"
    assert "4194305" in refused[1]
    assert len(refused) == 2


@NEEDED
def test_files_that_are_none_of_its_own_or_cannot_be_written_are_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    for content in ("", "[1, 2]", "[1, 2, 3, 4]"):
        other.write_text(content)
        assert main(["1", "--since", str(other)]) == EXIT_USAGE
        assert capsys.readouterr().err == f"process_memory: {other} is not what --save has written\n"
    with _process() as pid:
        assert main([str(pid), "--save", str(tmp_path / "nowhere" / "now.json")]) == EXIT_USAGE
    refused = capsys.readouterr()
    assert len(refused.err.splitlines()) == 1
    assert refused.out == ""
