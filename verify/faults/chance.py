"""Scripts by chance: the same seed gives the same script, and the script is the line that repeats a run."""

import random

from verify.faults.kinds import FAULTS
from verify.faults.script import Rule, Script

REQUESTS = (
    ("create", "pods/binding"),
    ("create", "workloads"),
    ("create", "podgroups"),
    ("patch", "jobs"),
    ("patch", "podgroups/status"),
    ("patch", "pods/status"),
    ("delete", "pods"),
    ("list", "pods"),
    ("list", "podgroups"),
    ("watch", "pods"),
    ("watch", "podgroups"),
    ("watch", "jobs"),
    ("watch", "nodes"),
    ("update", "leases"),
)
"""What our processes ask for, one of them to each of which a fault is put."""

OF_WRITES = ("drop", "lose-answer", "delay", "answer")
"""Without duplicates: the auditor would take the second bind for one that we have tried again."""
OF_READS = ("drop", "stale", "slow", "answer")
OF_WATCHES = tuple(name for name, kind in FAULTS.items() if kind.is_of_watch)
PASSING_CODES = ("409", "410", "429", "500", "503")
"""A refusal that a repetition mends; 401 and 403 end a process, on purpose."""
MOST_REQUESTS = 5


def random_script(seed: int, rules: int) -> Script:
    """So many rules, each for one of the first few requests of its kind.

    Args:
        seed: the same one gives the same script.
        rules: how many.
    """
    chance = random.Random(seed)  # noqa: S311 (repeats a run, guards nothing)
    return Script(tuple(_rule(chance) for _ in range(rules)))


def _rule(chance: random.Random) -> Rule:
    verb, resource = chance.choice(REQUESTS)
    fault = chance.choice({"watch": OF_WATCHES, "list": OF_READS}.get(verb, OF_WRITES))
    number = chance.randint(1, MOST_REQUESTS)
    return Rule(fault, _values(fault, chance), verb, resource, number, number)


def _values(fault: str, chance: random.Random) -> tuple[str, ...]:
    match fault:
        case "answer":
            return (chance.choice(PASSING_CODES), f"{chance.randint(0, 2)}")
        case "delay" | "hold":
            return (f"{chance.uniform(0.1, 2.0):.1f}",)
        case "slow":
            return (f"{chance.randint(1, 64) * 1024}",)
        case "behind":
            return (chance.choice(("pods", "podgroups", "nodes")), "1")
        case "lose-event" | "repeat-event":
            return (f"{chance.randint(1, MOST_REQUESTS)}",)
    return (f"{chance.randint(0, MOST_REQUESTS)}",) if FAULTS[fault].values else ()
