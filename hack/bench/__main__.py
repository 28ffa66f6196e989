"""`python -m hack.bench [TABLE...]`: prints the tables named (see `TABLES`), or all.

Those in `WITH_CONTROL_PLANE` start a real control plane from the folder in KUBEBUILDER_ASSETS
(`make controlplane` prints it).
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from hack.bench import (
    admission,
    churn,
    decision,
    devices_end_to_end,
    end_to_end,
    exact,
    explain,
    explain_commands,
    held_devices,
    local_cluster,
    many_jobs,
    many_waiting,
    memory,
    preemption,
    preemption_end_to_end,
    recording,
    state,
    wake_up,
)

WITHOUT_CONTROL_PLANE = {
    "state": state.measure,
    "decision": decision.measure,
    "exact": exact.measure,
    "preemption": preemption.measure,
    "devices-held": held_devices.measure,
    "local-cluster": local_cluster.measure,
    "many-jobs": many_jobs.measure,
    "many-waiting": many_waiting.measure,
    "churn": churn.measure,
    "explain": explain.measure,
    "why": explain_commands.measure,
    "recording": recording.measure,
}
WITH_CONTROL_PLANE = {
    "admission": admission.measure,
    "wake-up": wake_up.measure,
    "end-to-end": end_to_end.measure,
    "devices-end-to-end": devices_end_to_end.measure,
    "preemption-end-to-end": preemption_end_to_end.measure,
    "memory": memory.measure,
}
TABLES = (*WITHOUT_CONTROL_PLANE, *WITH_CONTROL_PLANE)


def main() -> int:
    """Prints the tables; 2 when a control plane is needed and there is none."""
    parser = argparse.ArgumentParser(prog="python -m hack.bench", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"which: {', '.join(TABLES)} (default: all)")
    wanted = parser.parse_args().tables or list(TABLES)
    unknown = sorted(set(wanted) - set(TABLES))
    if unknown:
        parser.error(f"no table is called {', '.join(unknown)}; there are {', '.join(TABLES)}")
    for name, measure in WITHOUT_CONTROL_PLANE.items():
        if name in wanted:
            measure()
    if set(wanted) & set(WITH_CONTROL_PLANE):
        assets = _assets()
        if assets is None:
            print("the other tables need a control plane: set KUBEBUILDER_ASSETS or install Go 1.26", file=sys.stderr)
            return 2
        for name, measure_on in WITH_CONTROL_PLANE.items():
            if name in wanted:
                measure_on(assets)
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
