"""`python -m hack.bench [decision] [preemption] [admission] [end-to-end]`: prints the tables named, or all.

The last two start a real control plane from the folder in KUBEBUILDER_ASSETS (`make controlplane` prints it).
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from hack.bench import admission, decision, end_to_end, preemption

TABLES = ("decision", "preemption", "admission", "end-to-end")


def main() -> int:
    """Prints the tables; 2 when a control plane is needed and there is none."""
    parser = argparse.ArgumentParser(prog="python -m hack.bench", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"which: {', '.join(TABLES)} (default: all)")
    wanted = parser.parse_args().tables or list(TABLES)
    unknown = sorted(set(wanted) - set(TABLES))
    if unknown:
        parser.error(f"no table is called {', '.join(unknown)}; there are {', '.join(TABLES)}")
    if "decision" in wanted:
        decision.measure()
    if "preemption" in wanted:
        preemption.measure()
    if set(wanted) - {"decision", "preemption"}:
        assets = _assets()
        if assets is None:
            print("the other tables need a control plane: set KUBEBUILDER_ASSETS or install Go 1.26", file=sys.stderr)
            return 2
        if "admission" in wanted:
            admission.measure(assets)
        if "end-to-end" in wanted:
            end_to_end.measure(assets)
    return 0


def _assets() -> Path | None:
    stated = os.environ.get("KUBEBUILDER_ASSETS")
    if stated:
        return Path(stated)
    ensure = Path(__file__).parent.parent / "controlplane" / "ensure"
    try:
        return Path(subprocess.run([ensure], check=True, capture_output=True, text=True).stdout.strip())
    except (OSError, subprocess.CalledProcessError):
        return None


if __name__ == "__main__":
    sys.exit(main())
