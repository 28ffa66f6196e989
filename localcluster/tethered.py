"""Runs a module as a program that ends with whoever started it: `python -m localcluster.tethered FILE MODULE ARGUMENT ...`.

Its output goes to FILE, so that the starter's terminal stays readable; the last lines say why it ended.
"""

import os
import runpy
import sys
from pathlib import Path

from kube.process.tether import follow_standard_input


def main() -> None:
    """Entry point."""
    log, module, *arguments = sys.argv[1:]
    descriptor = os.open(Path(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, sys.stdout.fileno())
    os.dup2(descriptor, sys.stderr.fileno())
    os.close(descriptor)
    follow_standard_input()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
