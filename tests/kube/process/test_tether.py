"""A supervised process does not outlive its supervisor, however that ends."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 30

TETHERED = """
import signal, sys, threading, time
from kube.process.tether import follow_standard_input
signal.signal(signal.SIGTERM, {on_term})
follow_standard_input(grace_seconds={grace})
print("up", flush=True)
while True:
    time.sleep(0.1)  # a pause without end would miss a signal that comes just before it
"""
SUPERVISOR = """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE)
print(child.pid, flush=True)
signal.pause()
"""


def tethered(on_term: str, grace: float) -> str:
    return TETHERED.format(on_term=on_term, grace=grace)


def start(code: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


def end_of(code: str) -> int:
    """Starts the process, closes its standard input once it is up; its exit code."""
    with start(code) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "up\n"
        process.stdin.close()
        return process.wait(PATIENCE_SECONDS)


def test_it_ends_politely_when_its_input_ends() -> None:
    assert end_of(tethered("lambda *_: sys.exit(7)", grace=20)) == 7


def test_it_ends_for_certain_when_it_does_not_end_politely() -> None:
    assert end_of(tethered("signal.SIG_IGN", grace=0)) == 1


def test_it_ends_when_its_supervisor_is_killed() -> None:
    code = tethered("lambda *_: sys.exit(0)", grace=20)
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, code], stdout=subprocess.PIPE, text=True, cwd=ROOT, bufsize=1
    )
    with supervisor:
        assert supervisor.stdout is not None
        first, second = supervisor.stdout.readline(), supervisor.stdout.readline()
        child = int(first if first.strip().isdigit() else second)
        assert child != supervisor.pid
        supervisor.kill()
        # The child holds the other end of this pipe: reading comes to an end when it does.
        assert supervisor.communicate(timeout=PATIENCE_SECONDS)[0] == ""
