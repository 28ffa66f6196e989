"""What goes wrong in a soak, drawn from a seed. Pure; `disturber` carries it out.

Scripts are lines of `verify.faults`, so what a run prints repeats each of them by itself.
"""

import random
from dataclasses import dataclass

from verify.faults.chance import random_script

RULES = 5
PROCESSES = ("scheduler", "controllers", "webhooks")
TO_REQUESTS = ("script", "script", "script", "break-watches", "pause-webhooks")
TO_PROCESSES = ("kill", "kill-at-write", "pause-leaders")
"""These end a process: its memory begins anew."""
PROCESS_FAULTS_SHARE = 1 / 4
MOST_PROCESS_FAULTS_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One disturbance.

    Attributes:
        kind: of TO_REQUESTS or TO_PROCESSES.
        about: the line of a script, or the process.
    """

    kind: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.about}".strip()


def draw(chance: random.Random, *, ends_processes: bool) -> Fault:
    """The next fault.

    Args:
        chance: from the seed.
        ends_processes: whether it may be one after which a process is another one.
    """
    kind = chance.choice(TO_REQUESTS + TO_PROCESSES if ends_processes else TO_REQUESTS)
    if kind == "script":
        return Fault(kind, str(random_script(chance.randrange(10**9), RULES)))
    if kind == "kill":
        return Fault(kind, chance.choice(PROCESSES))
    if kind == "kill-at-write":
        return Fault(kind, chance.choice(("drop", "lose-answer")))
    return Fault(kind)


def process_faults_seconds(soak_seconds: float) -> float:
    """How long, from its beginning on, faults end processes in a soak; then they live on, so that their memory can be watched."""
    return min(soak_seconds * PROCESS_FAULTS_SHARE, MOST_PROCESS_FAULTS_SECONDS)
