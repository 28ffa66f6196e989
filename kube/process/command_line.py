"""What the modules of the command line share. Light: it is loaded before anybody knows which component is asked for."""

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from typing import Final, NoReturn

KUBECONFIG_HELP: Final = (
    "how to reach the cluster (default: the pod's own account, then $KUBECONFIG, then ~/.kube/config)"
)


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Imports make objects by the hundred thousand, all of which stay: no search for garbage among them, now or ever.

    The search is a fifth of the time that a process needs to start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def leave(code: int) -> NoReturn:
    """End the process at once: what it holds is not freed piece by piece, which can take as long as what it was for."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def say(line: str) -> None:
    """A line for whoever called, on standard output, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
