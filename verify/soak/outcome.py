"""What a soak has shown: the table that is printed, and whether it is passed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from verify.soak.memory import MOST_PERCENT_PER_HOUR, Trend
from verify.soak.tally import Tally

SHOWN_VIOLATIONS = 20


@dataclass
class Outcome:
    """Figures of one run.

    Attributes:
        seed: repeats what users do and what goes wrong.
        seconds: how long users and faults went on.
        changes: requests of users; `refused` of them were.
        faults: what was done to processes and scripts, by kind; `injected` is how many requests and watches it happened to.
        violations: promises that were broken, in the auditor's words.
        problems: what else went wrong: Tutti was not ready once faults had ended, or users could not clean up.
        trends: of memory, by process; None where there is too little to say.
        orphans: what is left after everything was deleted.
        rest_seconds: how long nobody changed anything, and `rest_writes` what Tutti wrote in that time.
    """

    seed: int
    seconds: float = 0.0
    changes: int = 0
    refused: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    injected: int = 0
    tally: Tally = field(default_factory=Tally)
    violations: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    trends: Mapping[str, Trend | None] = field(default_factory=dict)
    orphans: list[str] = field(default_factory=list)
    rest_seconds: float = 0.0
    rest_writes: Mapping[str, int] = field(default_factory=dict)

    @property
    def failures(self) -> list[str]:
        """Why it is not passed, empty when it is."""
        told = [f"{len(self.violations)} violations"] if self.violations else []
        told += self.problems
        told += [f"{len(self.orphans)} orphans: {', '.join(self.orphans)}"] if self.orphans else []
        told += [f"writes at rest: {dict(self.rest_writes)}"] if self.rest_writes else []
        told += ["it never came to rest"] if not self.rest_seconds else []
        growing = [name for name, trend in self.trends.items() if trend is not None and trend.grows]
        told += [f"memory of {name} grows by more than {MOST_PERCENT_PER_HOUR:g} %/h" for name in growing]
        return told + ([] if self.tally.started else ["no gang has started"])

    def lines(self) -> Iterator[str]:
        """The table."""
        rate = self.changes / self.seconds if self.seconds else 0.0
        shown = ", ".join(f"{kind} {count}" for kind, count in sorted(self.faults.items())) or "none"
        rows = [
            ("seed", f"{self.seed}"),
            ("duration", f"{self.seconds / 60:.1f} min"),
            ("changes by users", f"{self.changes} ({rate:.1f}/s), {self.refused} refused"),
            ("gangs", f"{self.tally.gangs} made, {self.tally.started} started"),
            ("binds", f"{self.tally.binds} by Tutti, {self.tally.other_binds} by others"),
            ("evictions", f"{self.tally.evictions}"),
            ("faults", f"{sum(self.faults.values())} ({shown}), {self.injected} to requests and watches"),
            ("violations", f"{len(self.violations)}"),
            *((f"memory of {name}", f"{trend or 'too little to say'}") for name, trend in self.trends.items()),
            ("orphans", f"{len(self.orphans)}"),
            ("writes at rest", f"{sum(self.rest_writes.values())} in {self.rest_seconds:.0f} s"),
        ]
        width = max(len(name) for name, _ in rows)
        yield from (f"{name:<{width}}  {value}" for name, value in rows)
        yield from (f"  {violation}" for violation in self.violations[:SHOWN_VIOLATIONS])
