"""How much time has passed for everybody, for promises that other machines rely upon.

On Linux `time.monotonic` stands still while the machine is suspended, and the others go on meanwhile. `CLOCK_BOOTTIME`
counts that time too. Where a platform lacks it, a suspended holder of a lease finds out only with its next renewal. A
virtual machine that its host pauses may have all of its clocks stopped, which nothing inside it can notice.
"""

import time


def elapsed_seconds() -> float:
    """Seconds since some moment in the past, never going back; suspended time included where the platform can tell."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)
